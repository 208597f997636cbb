"""The settings and results of rubric improvement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from assay.errors import SpecError
from assay.grading.config import JudgeSpec, LLMConfig
from assay.grading.dataset import RubricDataset
from assay.judging.reports import EnsembleEvaluationReport, TokenUsage
from assay.judging.rubric import Rubric
from assay.spec.arguments import keywords_named

Mode = Literal["standalone", "in_context"]
Strategy = Literal["meta_rubric", "held_out"]


@dataclass(frozen=True, slots=True)
class IssueDetail:
    """One thing that is wrong with a rubric, by a criterion of the meta-rubric or in its verdicts on labelled items."""

    criterion_name: str
    requirement: str
    weight: float
    is_antipattern: bool
    feedback: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionErrorReport:
    """The share of verdicts on one criterion that match human labels; None without labelled items."""

    criterion_index: int
    criterion_name: str
    n_samples: int
    accuracy: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutValidationResult:
    """The agreement of verdicts with the labels of held-out items, which the reviser never sees."""

    mean_accuracy: float | None
    per_criterion: list[CriterionErrorReport] = field(default_factory=list)
    n_items: int = 0
    n_shown: int = 0
    total_cost: float | None = None


@dataclass(frozen=True, slots=True)
class IterationResult:
    """One version of the rubric: how good it is, what is wrong with it, and whether it was accepted.

    Iteration 0 is the original. `quality_score` is the score by the meta-rubric, or in `held_out` the agreement with
    people. An invalid revision has the rubric and the numbers of the version before it.
    """

    iteration: int
    rubric: Rubric
    quality_score: float
    agreement: float | None = None
    per_criterion_agreement: dict[str, float] | None = None
    issues: list[IssueDetail] = field(default_factory=list)
    issues_fixed: list[str] = field(default_factory=list)
    issues_introduced: list[str] = field(default_factory=list)
    accepted: bool = True
    rejection_reason: str | None = None
    quality_report: EnsembleEvaluationReport | None = None
    token_usage: TokenUsage | None = None
    completion_cost: float | None = None
    held_out_diagnostics: HeldOutValidationResult | None = None


@dataclass(frozen=True, slots=True)
class ImprovementResult:
    """All versions of a rubric; `final_rubric` is the last accepted one, `best_rubric` the best of the accepted ones.

    `convergence_reason` is `no_issues`, `thresholds_met`, `score_plateau`, `pareto_stuck` (three rejections in a row),
    `cost_limit`, `max_iterations`, or what `convergence_fn` said.
    """

    original_rubric: Rubric
    final_rubric: Rubric
    iterations: list[IterationResult]
    best_rubric: Rubric
    best_iteration: int
    convergence_reason: str
    total_completion_cost: float | None


ConvergenceFn = Callable[[IterationResult, list[IterationResult]], str | None]
"""Decides after an iteration why to stop, or None to continue; replaces all other reasons."""


@keywords_named
@dataclass(frozen=True, slots=True)
class ImprovementConfig:
    """The settings of an improvement: judges, reviser and stopping rules.

    `max_iterations` counts versions, the original included. With `validation_data` a revision is rejected if the
    agreement on it falls, unless `reject_agreement_regression` is False: agreement with people where the items have a
    ground truth, otherwise between the judges of `eval_llm`.
    """

    eval_llm: LLMConfig | list[JudgeSpec]
    revision_llm: LLMConfig
    mode: Mode = "in_context"
    strategy: Strategy = "meta_rubric"
    validation_data: RubricDataset | None = None
    max_iterations: int = 10
    min_quality_score: float = 0.95
    min_agreement: float = 0.85
    score_plateau_threshold: float = 0.02
    plateau_patience: int = 2
    max_exemplars_per_criterion: int = 3
    held_out_min_accuracy: float = 0.9
    cannot_assess: Literal["exclude", "as_unmet", "as_category"] = "exclude"
    history_window: int = 3
    reject_agreement_regression: bool = True
    save_artifacts: bool = True
    artifacts_dir: Path | str | None = None
    display: Literal["stdout", "html"] | None = None
    show_progress: bool = True
    max_total_cost: float | None = None
    convergence_fn: ConvergenceFn | None = None
    revision_system_prompt: str | None = None
    revision_user_prompt_template: str | None = None

    def __post_init__(self) -> None:
        choices = {
            "mode": ("standalone", "in_context"),
            "strategy": ("meta_rubric", "held_out"),
            "cannot_assess": ("exclude", "as_unmet", "as_category"),
            "display": (None, "stdout", "html"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                listed = ", ".join(str(choice) for choice in allowed)
                raise SpecError(f"{name} is one of {listed}, not {getattr(self, name)!r}")
        for name in ("max_iterations", "plateau_patience"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("min_quality_score", "min_agreement", "held_out_min_accuracy", "score_plateau_threshold"):
            if not 0 <= getattr(self, name) <= 1:
                raise SpecError(f"{name} must be between 0 and 1, not {getattr(self, name)}")
        if self.max_total_cost is not None and not self.max_total_cost > 0:
            raise SpecError(f"max_total_cost must be positive, not {self.max_total_cost}")
        template = self.revision_user_prompt_template
        if template is not None and "{original_criteria}" not in template:
            raise SpecError("revision_user_prompt_template must hold {original_criteria}, where the rubric goes")

    @property
    def panel(self) -> list[JudgeSpec]:
        """The judges that grade rubrics and items."""
        return [JudgeSpec(self.eval_llm, "judge")] if isinstance(self.eval_llm, LLMConfig) else list(self.eval_llm)

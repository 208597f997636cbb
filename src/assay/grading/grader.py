"""The panel that grades by a rubric: judges, how their votes are counted, how the score is made."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from assay.errors import SpecError
from assay.grading.config import CannotAssessConfig, FewShotConfig, JudgeSpec, LLMConfig
from assay.grading.dataset import RubricDataset
from assay.grading.escalation_config import EscalationConfig
from assay.grading.judge_models import Clients
from assay.grading.scorer import SUBMISSION, SubmissionScorer, escalation_settings, judge_settings
from assay.judging.aggregation import RubricWarning
from assay.judging.escalation import check_names
from assay.judging.examples import Example, FewShot
from assay.judging.length import LengthPenalty
from assay.judging.panel import Tally, grade
from assay.judging.panel_config import Calls, check_panel, example_notes, lenient_notes, weight_notes
from assay.judging.question import Submission
from assay.judging.reports import EnsembleEvaluationReport
from assay.judging.rubric import Rubric, ToGrade
from assay.judging.shuffle import Shuffle
from assay.judging.total import ScoreValueRule
from assay.scorers.rubric import JudgeSettings
from assay.spec.arguments import keywords_named

ONE_JUDGE = "judge"
"""The name of a judge who sits alone."""


@keywords_named
class CriterionGrader:
    """A panel of judges; everything that can be wrong with it is found when it is made.

    `settings` are those of the rubric scorer, `clients` the models that its judges name. A panel that is only
    `planned` needs no keys: `EvalRunner.plan_sync` says what it would ask and cost.

    >>> def judge(messages, **parameters):
    ...     return '{"explanation": "It does.", "criterion_status": "MET"}'
    >>> grader = CriterionGrader(llm_config=LLMConfig(judge), seed=42)
    >>> Rubric.from_dict([{"requirement": "Names the capital"}]).grade_sync("It is Paris.", grader).score
    1.0
    """

    def __init__(
        self,
        llm_config: LLMConfig | None = None,
        judges: Sequence[JudgeSpec | JudgeSettings] | None = None,
        aggregation: str = "majority",
        ordinal_aggregation: str = "mean",
        nominal_aggregation: str = "mode",
        shuffle_options: bool = True,
        auto_na_option: bool = True,
        seed: int | None = None,
        cannot_assess_config: CannotAssessConfig | None = None,
        normalize: bool = True,
        length_penalty: LengthPenalty | None = None,
        few_shot_config: FewShotConfig | None = None,
        training_data: RubricDataset | None = None,
        llm_calls: Calls = "per_criterion",
        *,
        escalation: EscalationConfig | None = None,
        judge_model_config: LLMConfig | None = None,
        shuffle: Shuffle | None = None,
        min_votes: int = 0,
        min_coverage: float = 0.0,
        score_value: ScoreValueRule = "snapped",
        on_failed_criterion: str = "fail",
        repeats: int = 1,
        planned: bool = False,
    ) -> None:
        if on_failed_criterion not in ("fail", "skip"):
            raise SpecError(f'on_failed_criterion is "fail" or "skip", not "{on_failed_criterion}"')
        if shuffle is not None and not shuffle_options:
            raise SpecError(f'shuffle="{shuffle}" and shuffle_options=False exclude each other')
        first = _judges(llm_config or judge_model_config, judges)
        stronger = [] if escalation is None else escalation.panel
        every, endpoints = judge_settings([*first, *stronger])
        panel = every[: len(first)]
        unsure = cannot_assess_config or CannotAssessConfig()
        # the config that is made of the settings checks them, in words for programs instead of for files
        self._use(
            SubmissionScorer.model_construct(
                type="rubric",
                value=SUBMISSION,
                judges=panel,
                aggregation=aggregation,
                ordinal_aggregation=ordinal_aggregation,
                nominal_aggregation=nominal_aggregation,
                shuffle=(shuffle or "random") if shuffle_options else False,
                seed=seed if shuffle_options else None,
                auto_na_option=auto_na_option,
                cannot_assess=str(unsure.strategy),  # type: ignore[arg-type]  # checked by Scoring
                partial_credit=unsure.partial_credit,
                min_votes=min_votes,
                min_coverage=min_coverage,
                score_value=score_value,
                on_failed_criterion=on_failed_criterion,  # type: ignore[arg-type]  # checked above
                llm_calls=llm_calls,
                repeats=repeats,
                normalize=normalize,
                length_penalty=length_penalty,
                few_shot=_few_shot(few_shot_config, training_data),
                escalation=escalation_settings(escalation, every[len(first) :]),
            )
        )
        self.clients = Clients(endpoints, planned=planned)

    def changed(self, **settings: Any) -> CriterionGrader:
        """A grader with these judges and other settings of the rubric scorer."""
        grader = copy(self)
        grader._use(self.settings.changed(**settings))
        return grader

    def _use(self, settings: SubmissionScorer) -> None:
        self.settings = settings
        self.judges = settings.panel
        # an unset seed is drawn once: grading again with the same grader asks the same questions
        self.seed = secrets.randbits(32) if settings.wants_seed() else settings.seed
        try:
            check_panel([*self.judges, *settings.escalation_panel])
            self.config = (settings if self.seed is None else settings.with_seed(self.seed)).config
        except ValueError as error:
            raise SpecError(str(error)) from None
        self._told: set[str] = set()
        if settings.length_penalty is not None and not settings.normalize:
            self._warn(
                "a length penalty is taken from normalized scores only: normalize=False leaves it without effect"
            )
        if len(self.judges) * settings.repeats % 2 == 0:
            what = "judges" if settings.repeats == 1 else "votes"
            self._warn(f"a panel with an even number of {what} can end in ties, which go to the lower score")

    async def grade(
        self,
        to_grade: ToGrade,
        rubric: Rubric,
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        row: int = 0,
    ) -> EnsembleEvaluationReport:
        """Let the panel grade one submission; `row` is its number in a series, for shuffles that balance one."""
        self.check_rubrics([rubric])
        submission = Submission(
            text=text_of(to_grade),
            prompt=query,
            reference=reference_submission,
            guidelines=rubric.guidelines,
            row=row,
        )
        async with self.clients.asking() as ask:
            tally = Tally(ask)
            report = await grade(tally, rubric, submission, self.judges, self.config)
        for note in report.warnings:
            self._warn(note)
        cost_usd = self.clients.cost_usd(tally.by_model)
        return report.model_copy(update={"token_usage": tally.usage, "completion_cost": cost_usd})

    def check_rubrics(self, rubrics: Sequence[Rubric]) -> None:
        """Refuse thresholds of criteria that no rubric has, and warn, once, of misleading settings."""
        if self.config.escalation is not None:
            check_names(self.config.escalation.per_criterion, rubrics)
        for rubric in rubrics:
            self.check(rubric)

    def check(self, rubric: Rubric) -> None:
        """Warn, once, of settings that do not mean what they seem to for this rubric."""
        notes = (*lenient_notes(rubric, self.config), *example_notes(rubric, self.config))
        for note in (*notes, *weight_notes(self.judges, rubric, self.config)):
            self._warn(note)

    def _warn(self, note: str) -> None:
        if note not in self._told:
            self._told.add(note)
            warnings.warn(note, RubricWarning, stacklevel=3)


def _few_shot(config: FewShotConfig | None, training: RubricDataset | None) -> FewShot | None:
    """What people said of the training data, as examples to choose from."""
    if config is None and training is None:
        return None
    if training is None:
        raise SpecError("few_shot_config needs training_data: a RubricDataset with ground truth")
    if config is None:
        raise SpecError("training_data needs few_shot_config, which says how many examples a judge sees")
    examples = [
        Example(
            requirement=criterion.requirement,
            text=item.submission,
            said=str(said),
            prompt=training.get_item_prompt(index),
            reason=why if config.include_reason else None,
        )
        for index, item in enumerate(training)
        for criterion, said, why in zip(
            training.get_item_rubric(index).criteria,
            item.ground_truth or (),
            item.reasons or [None] * len(item.ground_truth or ()),
            strict=False,
        )
    ]
    if not examples:
        raise SpecError("no item of the training data has a ground truth")
    if config.include_reason and not any(example.reason for example in examples):
        raise SpecError(
            "include_reason=True needs reasons, and no item of the training data has any: give "
            'add_item(..., ground_truth=["MET"], reasons=["It says please."]), or "reasons" in the dataset\'s file, '
            "with one text or null per criterion"
        )
    return FewShot(examples, count=config.n_examples, balanced=config.balance_verdicts, seed=config.seed or 0)


def _judges(
    alone: LLMConfig | None, judges: Sequence[JudgeSpec | JudgeSettings] | None
) -> Sequence[JudgeSpec | JudgeSettings]:
    if (alone is None) == (judges is None):
        raise SpecError("give either llm_config (one judge) or judges (a panel)")
    return [JudgeSpec(alone, ONE_JUDGE)] if alone is not None else judges or ()


def text_of(to_grade: ToGrade) -> str:
    """The text that is judged; of a mapping with `output`, as models that think aloud give, only that."""
    if isinstance(to_grade, str):
        return to_grade
    if isinstance(to_grade, Mapping) and isinstance(to_grade.get("output"), str):
        return str(to_grade["output"])
    raise SpecError(f'a submission is text, or a mapping with "output", not {type(to_grade).__name__}')

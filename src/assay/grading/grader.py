"""The grader: a panel of judges, the aggregation of their votes, and the score."""

from __future__ import annotations

import secrets
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson
from pydantic import BaseModel

from assay.errors import RunError, SpecError
from assay.grading.config import CACHE_DIR, CannotAssessConfig, EvalConfig, FewShotConfig, JudgeSpec, LLMConfig
from assay.grading.dataset import RubricDataset
from assay.grading.escalation_config import EscalationConfig
from assay.grading.items import DataItem
from assay.grading.judge_models import Clients
from assay.grading.scorer import SUBMISSION, SubmissionScorer, escalation_settings, judge_settings
from assay.judging.aggregation import RubricWarning
from assay.judging.criteria import Criterion
from assay.judging.escalation import check_names
from assay.judging.examples import Example, FewShot
from assay.judging.length import LengthPenalty, ThinkingOutputDict, ToGradeInput, normalize_to_grade_input
from assay.judging.panel import Tally, grade, report_of
from assay.judging.panel_config import LLMCalls, check_panel, example_notes, lenient_notes, weight_notes
from assay.judging.question import Submission
from assay.judging.reports import EnsembleEvaluationReport, TokenUsage
from assay.judging.rubric import Rubric, ToGrade
from assay.judging.shuffle import Shuffle
from assay.judging.total import ScoreValueRule
from assay.judging.verdicts import Vote
from assay.scorers.rubric import JudgeSettings
from assay.spec.arguments import keywords_named

ONE_JUDGE = "default"
"""The name of a judge who sits alone."""


ReportT = TypeVar("ReportT")


class Grader(ABC, Generic[ReportT]):
    """The base class of user-defined graders: `judge` collects verdicts, `aggregate` turns them into a report."""

    def __init__(self, *, length_penalty: LengthPenalty | None = None, normalize: bool = True) -> None:
        self._length_penalty = length_penalty
        self._normalize = normalize

    @abstractmethod
    async def judge(
        self,
        to_grade: str,
        rubric: list[Criterion],
        query: str | None = None,
        reference_submission: str | None = None,
    ) -> Any:
        """Judge a submission by the criteria."""

    @abstractmethod
    async def aggregate(self, judge_results: Any, *, normalize: bool = True) -> ReportT:
        """Turn what was judged into a report with a `score`."""

    async def grade(
        self,
        to_grade: ToGradeInput,
        rubric: Sequence[Criterion],
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        guidelines: str | None = None,
    ) -> ReportT:
        """Judge a submission, and take from its score what its length costs."""
        further: dict[str, Any] = {}
        if guidelines is not None and "guidelines" in signature(self.judge).parameters:
            further["guidelines"] = guidelines
        text = normalize_to_grade_input(to_grade)["output"]
        results = await self.judge(text, list(rubric), query, reference_submission, **further)
        report = await self.aggregate(results, normalize=self._normalize)
        score: float | None = getattr(report, "score", None)
        penalty = self._length_penalty
        if penalty is None or not self._normalize or score is None:
            return report
        lowered = max(0.0, score - penalty.of(penalty.length(to_grade)))
        if isinstance(report, BaseModel):
            return report.model_copy(update={"score": lowered})
        return replace(report, score=lowered)  # type: ignore[type-var]  # a dataclass, or its error says so


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCriterionResults:
    """One judge's verdicts on every criterion of a submission, in order; `criteria` are as the judge saw them."""

    judge_id: str
    weight: float
    criteria: tuple[Criterion, ...]
    votes: tuple[tuple[Vote, ...], ...]


@keywords_named
class CriterionGrader(Grader[EnsembleEvaluationReport]):
    """A panel of judges; all settings are validated on construction.

    `settings` are those of the rubric scorer, `clients` the models that its judges name. A panel that is only
    `planned` needs no keys: `EvalRunner.plan_sync` says what it would ask and cost. `system_prompt` and
    `multi_choice_system_prompt` replace the instructions to the judges; the form of the reply stands with the
    criterion. A response format may ask for further fields beside the explanation and the verdict.

    >>> def judge(messages, **parameters):
    ...     return '{"explanation": "It does.", "criterion_status": "MET"}'
    >>> grader = CriterionGrader(llm_config=LLMConfig(judge), seed=42)
    >>> Rubric.from_dict([{"requirement": "Names the capital"}]).grade_sync("It is Paris.", grader).score
    1.0
    """

    def __init__(
        self,
        llm_config: LLMConfig | None = None,
        *,
        judge_model_config: LLMConfig | None = None,
        judges: Sequence[JudgeSpec | JudgeSettings] | None = None,
        aggregation: str = "majority",
        ordinal_aggregation: str = "mean",
        nominal_aggregation: str = "mode",
        training_data: RubricDataset | None = None,
        few_shot_config: FewShotConfig | None = None,
        system_prompt: str | None = None,
        multi_choice_system_prompt: str | None = None,
        length_penalty: LengthPenalty | None = None,
        normalize: bool = True,
        cannot_assess_config: CannotAssessConfig | None = None,
        shuffle_options: bool = True,
        auto_na_option: bool = True,
        seed: int | None = None,
        binary_response_format: type[BaseModel] | None = None,
        multi_choice_response_format: type[BaseModel] | None = None,
        escalation: EscalationConfig | None = None,
        llm_calls: LLMCalls = "per_criterion",
        shuffle: Shuffle | None = None,
        min_votes: int = 0,
        min_coverage: float = 0.0,
        score_value: ScoreValueRule = "snapped",
        on_failed_criterion: str = "fail",
        repeats: int = 1,
        planned: bool = False,
    ) -> None:
        super().__init__(length_penalty=length_penalty, normalize=normalize)
        if on_failed_criterion not in ("fail", "skip"):
            raise SpecError(f'on_failed_criterion is "fail" or "skip", not "{on_failed_criterion}"')
        if shuffle is not None and not shuffle_options:
            raise SpecError(f'shuffle="{shuffle}" and shuffle_options=False exclude each other')
        if llm_config is not None and judge_model_config is not None:
            raise SpecError("llm_config and judge_model_config mean the same: give one of them")
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
                system_prompt=system_prompt,
                multi_choice_system_prompt=multi_choice_system_prompt,
                binary_fields=_further_fields(binary_response_format, "criterion_status"),
                multi_choice_fields=_further_fields(multi_choice_response_format, "selected_option"),
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
        self._seed = secrets.randbits(32) if settings.wants_seed() else settings.seed
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
            counted = "judges" if settings.repeats == 1 else "votes"
            self._warn(f"a panel with an even number of {counted} can end in ties, which go to the lower score")

    @property
    def seed(self) -> int | None:
        """The seed of the order of options; None where they are not shuffled."""
        return self._seed

    @property
    def is_ensemble(self) -> bool:
        """Return whether there are several judges."""
        return len(self.judges) > 1

    @property
    def judge_ids(self) -> list[str]:
        """The names of the judges, in order."""
        return [judge.id for judge in self.judges]

    @property
    def has_few_shot(self) -> bool:
        """Return whether the judges see few-shot examples."""
        return self.settings.few_shot is not None

    async def grade(
        self,
        to_grade: ToGradeInput,
        rubric: Rubric | Sequence[Criterion],
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        guidelines: str | None = None,
        row: int = 0,
    ) -> EnsembleEvaluationReport:
        """Let the panel grade one submission by a rubric or a list of criteria."""
        whole = rubric if isinstance(rubric, Rubric) else Rubric(rubric, guidelines)
        return await self.grade_by_rubric(to_grade, whole, query, reference_submission, row=row)

    async def grade_by_rubric(
        self,
        to_grade: ToGrade,
        rubric: Rubric,
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        row: int = 0,
    ) -> EnsembleEvaluationReport:
        """Grade one submission with the panel; `row` is its position in a series, for shuffles that balance one."""
        self.check_rubrics([rubric])
        parts = submission_parts(to_grade)
        cached = [endpoint for endpoint in self.clients.endpoints.values() if endpoint.cache_enabled]
        if cached:
            return await self._from_store(cached[0], parts["output"], rubric, query, reference_submission)
        submission = Submission(
            text=parts["output"],
            prompt=query,
            reference=reference_submission,
            guidelines=rubric.guidelines,
            row=row,
            thinking=parts["thinking"],
        )
        async with self.clients.asking() as ask:
            tally = Tally(ask)
            report = await grade(tally, rubric, submission, self.judges, self.config)
        for note in report.warnings:
            self._warn(note)
        cost_usd = self.clients.cost_usd(tally.by_model)
        spent = {
            "token_usage": TokenUsage.of(tally.usage),
            "completion_cost": None if cost_usd is None else float(cost_usd),
        }
        return report.model_copy(update=spent)

    async def _from_store(
        self, config: LLMConfig, text: str, rubric: Rubric, query: str | None, reference: str | None
    ) -> EnsembleEvaluationReport:
        """Grade one submission like a dataset of one item, so that no vote is paid for twice."""
        from assay.grading.evaluate import EvalRunner

        if config.cache_ttl is not None:
            self._warn("cache_ttl changes nothing: a store keeps votes until they are deleted")
        store = None if str(config.cache_dir) == CACHE_DIR else str(Path(config.cache_dir) / "assay.db")
        dataset = RubricDataset(query, rubric, [DataItem(text)], reference_submission=reference)
        result = await EvalRunner(dataset, self, EvalConfig(show_progress=False, store=store)).run()
        report = result.item_results[0].report
        if not isinstance(report, EnsembleEvaluationReport):
            raise RunError(f"the submission was not graded: {result.item_results[0].error}")
        spent = {"token_usage": result.total_token_usage, "completion_cost": result.total_completion_cost}
        return report.model_copy(update=spent)

    async def judge(
        self,
        to_grade: str,
        rubric: Sequence[Criterion],
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        guidelines: str | None = None,
    ) -> list[JudgeCriterionResults]:
        """Collect every judge's verdict on every criterion, before aggregation."""
        report = await self.grade(to_grade, rubric, query, reference_submission, guidelines=guidelines)
        criteria = tuple(criterion_report.criterion for criterion_report in report.criteria)
        return [
            JudgeCriterionResults(
                judge_id=judge.id,
                weight=judge.weight,
                criteria=criteria,
                votes=tuple(
                    tuple(vote for vote in criterion_report.votes if vote.judge_id == judge.id)
                    for criterion_report in report.criteria
                ),
            )
            for judge in self.judges
        ]

    async def aggregate(
        self, judge_results: list[JudgeCriterionResults], *, normalize: bool = True
    ) -> EnsembleEvaluationReport:
        """Aggregate the judges' verdicts; a length penalty needs the submission and is left to `grade`."""
        if not judge_results:
            raise SpecError("there are no results of judges to aggregate")
        criteria = judge_results[0].criteria
        votes = [[vote for result in judge_results for vote in result.votes[n]] for n in range(len(criteria))]
        config = replace(self.config, scoring=replace(self.config.scoring, normalize=normalize))
        return report_of(Rubric(criteria), votes, self.judges, config)

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
    """Turn the labelled training data into few-shot examples."""
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
            label=str(verdict),
            prompt=training.get_item_prompt(index),
            reason=reason if config.include_reason else None,
        )
        for index, item in enumerate(training)
        for criterion, verdict, reason in zip(
            training.get_item_rubric(index).criteria,
            item.ground_truth or (),
            item.ground_truth_reasons or [None] * len(item.ground_truth or ()),
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


def submission_parts(to_grade: ToGrade) -> ThinkingOutputDict:
    """Split a submission into thinking and output; judges grade the output.

    A text is judged as it is: tags in it may be part of the answer.
    """
    if isinstance(to_grade, str):
        return {"thinking": "", "output": to_grade}
    if not isinstance(to_grade, Mapping) or not isinstance(to_grade.get("output"), str):
        raise SpecError(f'a submission is text, or a mapping with "output", not {type(to_grade).__name__}')
    return normalize_to_grade_input({name: to_grade[name] for name in ("thinking", "output") if name in to_grade})  # type: ignore[arg-type]


def _further_fields(format_: type[BaseModel] | None, verdict: str) -> tuple[tuple[str, str], ...] | None:
    """The fields that a response format asks for beside the explanation and the verdict."""
    if format_ is None:
        return None
    fields = format_.model_fields
    missing = [name for name in ("explanation", verdict) if name not in fields]
    if missing:
        raise SpecError(f"the response format {format_.__name__} has no field {missing[0]}")
    document = format_.model_json_schema()
    further = {
        name: schema
        for name, schema in document["properties"].items()
        if name not in ("explanation", verdict, "reasoning")
    }
    if "$ref" in str(further):
        raise SpecError(f"the fields of the response format {format_.__name__} must be plain, without other models")
    return tuple((name, orjson.dumps(schema).decode()) for name, schema in further.items()) or None

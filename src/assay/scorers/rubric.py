"""`rubric`: a panel of judges grades each reply by the criteria of a rubric."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal, Self

import orjson
from pydantic import Field, field_validator, model_validator

from assay.errors import SpecError
from assay.judging.escalation import Escalation, check_names
from assay.judging.examples import FewShot
from assay.judging.judge import Judge
from assay.judging.judge_failures import count_votes, missing_notes
from assay.judging.outcome import beside_truth, field_names, metric_key, outcome_of, value_names
from assay.judging.panel import grade
from assay.judging.panel_config import LLMCalls, PanelConfig, check_panel, weight_notes, with_replicas
from assay.judging.question import Submission
from assay.judging.reports import mean_of
from assay.judging.rubric import Rubric
from assay.judging.shuffle import Shuffle
from assay.judging.total import CannotAssess, ScoreValueRule, Scoring
from assay.judging.verdicts import Verdict, read_verdict
from assay.judging.vote_record import stored_votes
from assay.registry import JudgeScorerKind, Said
from assay.scorers.common import SHARE, STAGE, TextScorer, looked_at
from assay.spec.fields import Located, Settings, Template
from assay.spec.project import project_folder
from assay.spec.sampling import SamplingSpec
from assay.templates import as_texts, values
from assay.types import Ask, Failure, Rows, Sampling, Score


class JudgeSettings(Settings):
    """One judge of a panel."""

    model_key: Annotated[Located, Field(min_length=1)]
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    id: Annotated[str, Field(min_length=1)] | None = None
    sampling: SamplingSpec | None = None

    @property
    def judge(self) -> Judge:
        """Build the panel's judge; its id defaults to its model's name."""
        model = str(self.model_key)
        sampling = Sampling() if self.sampling is None else self.sampling.value
        return Judge(id=str(self.id or model), model=model, weight=self.weight, sampling=sampling)


class EscalationSettings(Settings):
    """The judges that decide a criterion if the first judges' confidence is below its threshold."""

    judges: list[JudgeSettings] = Field(min_length=1)
    threshold: float = Field(ge=0, le=1)
    per_criterion: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricItem:
    """One row as a panel grades it: the text, its rubric, and the human verdicts if there are any."""

    submission: Submission
    rubric: Rubric
    truth: Sequence[Verdict] | None = None


class RubricScorer(TextScorer):
    """A panel of judges grades each reply, or `value`, by the criteria of a rubric."""

    type: Literal["rubric"]
    rubric: Any
    judges: list[JudgeSettings] = Field(min_length=1)
    aggregation: str = "majority"
    ordinal_aggregation: str = "mean"
    nominal_aggregation: str = "mode"
    shuffle: bool | Shuffle = True
    seed: int | None = None
    auto_na_option: bool = True
    cannot_assess: CannotAssess = "skip"
    partial_credit: float = Field(default=0.5, ge=0, le=1)
    min_votes: int = Field(default=0, ge=0)
    min_coverage: float = Field(default=0.0, ge=0, le=1)
    score_value: ScoreValueRule = "snapped"
    on_failed_criterion: Literal["fail", "skip"] = "fail"
    llm_calls: LLMCalls = "per_criterion"
    repeats: int = Field(default=1, ge=1)
    reference: Template | None = None
    prompt: Template | None = None
    ground_truth: Template | None = None
    escalation: EscalationSettings | None = None

    keeps_abstentions: ClassVar[bool] = False
    """Return whether an abstention of the panel is stored as a score without a value, with its votes, not as a failure.
    """

    @field_validator("rubric")
    @classmethod
    def _read(cls, source: Any) -> Rubric:
        """The rubric from the file itself, from `!include`, or from the path of a file beside this one."""
        return source if isinstance(source, Rubric) else _read_rubric(source)

    @model_validator(mode="after")
    def _can_work(self) -> RubricScorer:
        check_panel([*self.panel, *self.escalation_panel])
        _ = self.config
        if self.escalation is not None:
            check_names(self.escalation.per_criterion, self.rubrics)
        return self

    @cached_property
    def panel(self) -> tuple[Judge, ...]:
        """The judges in order."""
        return with_replicas([settings.judge for settings in self.judges])

    @property
    def escalation_panel(self) -> tuple[Judge, ...]:
        """The judges to whom doubtful criteria are escalated, in order; none without an escalation."""
        stronger = [] if self.escalation is None else [settings.judge for settings in self.escalation.judges]
        # counted after the first judges: the same model asked in the same way is asked anew
        return with_replicas([*(settings.judge for settings in self.judges), *stronger])[len(self.judges) :]

    @cached_property
    def config(self) -> PanelConfig:
        """Return the settings of the panel."""
        return PanelConfig(
            aggregation=self.aggregation,
            ordinal_aggregation=self.ordinal_aggregation,
            nominal_aggregation=self.nominal_aggregation,
            shuffle="random" if isinstance(self.shuffle, bool) else self.shuffle,
            seed=(self.seed or 0) if self.shuffle else None,
            auto_na_option=self.auto_na_option,
            llm_calls=self.llm_calls,
            repeats=self.repeats,
            min_votes=self.min_votes,
            skip_failed=self.on_failed_criterion == "skip",
            few_shot=self.examples,
            scoring=self.scoring,
            escalation=self._escalation(),
        )

    def _escalation(self) -> Escalation | None:
        if self.escalation is None:
            return None
        return Escalation(
            judges=self.escalation_panel,
            threshold=self.escalation.threshold,
            per_criterion=self.escalation.per_criterion,
        )

    @property
    def examples(self) -> FewShot | None:
        """Return the few-shot examples; task files have none."""
        return None

    @property
    def scoring(self) -> Scoring:
        """Return the settings that turn verdicts into a score."""
        return Scoring(
            cannot_assess=self.cannot_assess,
            partial_credit=self.partial_credit,
            min_coverage=self.min_coverage,
            score_value=self.score_value,
        )

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        """Every rubric that a row may be graded by."""
        return (self.rubric,)

    def changed(self, **changes: Any) -> Self:
        """The scorer with other settings, which are not validated."""
        copy = self.model_copy(update=changes)
        # a copy brings along what was computed for the original
        for name in ("panel", "config"):
            copy.__dict__.pop(name, None)
        return copy

    def plan_notes(self) -> tuple[str, ...]:
        """Note in plans that the number of escalated criteria is known only after the first judges have answered."""
        if self.escalation is None:
            return ()
        names = ", ".join(judge.id for judge in self.escalation_panel)
        return (
            f"the calls of {names} are an upper bound: every criterion that the first judges have not judged yet "
            "counts as escalated",
        )

    def wants_seed(self) -> bool:
        """An unset seed is that of the store, so that a rerun asks the same questions."""
        return bool(self.shuffle) and self.seed is None

    def with_seed(self, seed: int) -> Self:
        """The scorer with the store's seed."""
        return self.changed(seed=seed)

    def content(self) -> Mapping[str, Any]:
        """Return the rubric, inline or from its own file."""
        rubric: Rubric = self.rubric
        return rubric.content()

    def content_digest(self) -> str:
        """A digest of the rubric."""
        return hashlib.sha256(orjson.dumps(self.content())).hexdigest()

    def score_fields(self) -> tuple[str, ...]:
        """Return the score fields: the totals, then a value and a label per criterion, then details."""
        per_rubric = (field_names(rubric, with_truth=self.ground_truth is not None) for rubric in self.rubrics)
        return tuple(dict.fromkeys(name for names in per_rubric for name in names))

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean score, and the mean of each criterion."""
        metrics: list[dict[str, Any]] = [{"type": "mean", "field": "score", "name": "score"}]
        taken = {"mean"}
        for name in self.score_ranges():
            # a key that is the criterion's own: runs whose rubrics have another order are compared all the same
            key = stem = metric_key(name)
            number = 1
            while key in taken:
                number += 1
                key = f"{stem}_{number}"
            taken.add(key)
            metrics.append({"type": "mean", "key": key, "field": name, "name": name})
        return metrics

    def score_ranges(self) -> dict[str, tuple[float, float]]:
        """The least and the greatest value of every criterion."""
        values: dict[str, list[float]] = {}
        for rubric in self.rubrics:
            # a run of an older store may name a file that is gone: its criteria are not known then
            if isinstance(rubric, Rubric):
                for name, criterion in zip(value_names(rubric), rubric.criteria, strict=True):
                    values.setdefault(name, []).extend(criterion.values)
        return {name: (min(numbers), max(numbers)) for name, numbers in values.items()}

    def took(self, position: int, seconds: float) -> None:
        """Hear how long the panel took for a row; a task keeps no such notes."""

    def item(self, rows: Rows) -> RubricItem | Failure:
        """Build the item for one row, or return the reason why it cannot be graded."""
        text = looked_at(self, rows)
        if text.failures:
            return text.failures[0]
        texts: dict[str, str] = {}
        for name in ("prompt", "reference"):
            template: Template | None = getattr(self, name)
            if template is None:
                continue
            column = values(template, rows, stage=STAGE)
            if column.failures:
                return column.failures[0]
            # what the sample leaves out is not shown; "None" would be graded against as text
            if column.values[0] not in (None, ""):
                texts[name] = as_texts(template, column, stage=STAGE).values[0]
        truth = self._truth(rows)
        if isinstance(truth, Failure):
            return truth
        rubric: Rubric = self.rubric
        row = rows.positions[0]
        submission = Submission(
            text=text.values[0],
            prompt=texts.get("prompt"),
            reference=texts.get("reference"),
            guidelines=rubric.guidelines,
            row=row,
        )
        return RubricItem(submission=submission, rubric=rubric, truth=truth)

    def _truth(self, rows: Rows) -> list[Verdict] | Failure | None:
        """Return the human verdicts on a row, one per criterion; None if the file names none."""
        if self.ground_truth is None:
            return None
        column = values(self.ground_truth, rows, stage=STAGE)
        if column.failures:
            return column.failures[0]
        try:
            entries = column.values[0]
            if entries in (None, ""):
                return None
            entries = orjson.loads(entries) if isinstance(entries, str) else entries
            return [
                read_verdict(criterion, entry) for criterion, entry in zip(self.rubric.criteria, entries, strict=True)
            ]
        except (ValueError, TypeError) as error:
            return Failure(stage=STAGE, kind="parse", detail=f"the ground truth does not fit the rubric: {error}")


def _read_rubric(source: Any) -> Rubric:
    if not isinstance(source, str):
        return Rubric.from_dict(source)
    place = source.place if isinstance(source, Located) else None
    if "\n" in source or source.lstrip().startswith(("[", "{")):
        return Rubric.from_text(str(source), place.file if place is not None else "rubric")
    folder = Path(place.file).parent if place is not None else Path()
    path = folder / source
    root = project_folder(folder / "task")
    if not path.resolve().is_relative_to(root.resolve()):
        raise SpecError(f'"{source}" is outside the project folder {root}; `$ref` with --allow-outside permits it')
    return Rubric.from_file(path)


async def judge_by_rubric(settings: RubricScorer, rows: Rows, ask: Ask) -> Score | Failure:
    """Grade one row with the panel; the score has a value and a label per criterion."""
    item = settings.item(rows)
    if isinstance(item, Failure):
        return item
    started = perf_counter()
    report = await grade(ask, item.rubric, item.submission, settings.panel, settings.config)
    settings.took(rows.positions[0], perf_counter() - started)
    outcome = outcome_of(report, item.rubric, settings.type, keep_abstained=settings.keeps_abstentions)
    if isinstance(outcome, Failure) or item.truth is None:
        return outcome
    words = settings.config.scoring.length(item.submission.text)
    return beside_truth(outcome, item.rubric, item.truth, settings.config.scoring, words=words)


def _panel_detail(settings: RubricScorer, rows: Iterable[Said]) -> Mapping[str, Any] | None:
    """Summarise escalations, ties, missing votes, and weights without effect."""
    scored = [metadata for _, metadata, _ in rows if metadata is not None]
    verdicts = sum(len(metadata.get("votes", {})) for metadata in scored)
    ties = sum(len(metadata.get("decided_by_tie", ())) for metadata in scored)
    detail: dict[str, Any] = {}
    counts = count_votes(stored_votes(scored))
    notes = missing_notes(counts)
    notes += dict.fromkeys(
        note for rubric in settings.rubrics for note in weight_notes(settings.panel, rubric, settings.config)
    )
    if any(count.missing for count in counts.values()):
        detail["judges"] = {
            judge: {"n_votes": count.asked, "n_missing": count.missing, "missing": dict(count.kinds)}
            for judge, count in counts.items()
        }
    if settings.escalation is not None:
        escalated = sum(len(metadata.get("escalated", ())) for metadata in scored)
        detail["escalated"] = {"n": escalated, "of": verdicts}
        if verdicts:
            notes.append(f"{escalated:,} of {verdicts:,} verdicts ({escalated / verdicts:.1%}) were escalated")
        notes += dict.fromkeys(
            note for metadata in scored for note in metadata.get("warnings") or () if "no confidence" in note
        )
    if ties:
        continuous = mean_of([metadata.get("continuous_score") for metadata in scored])
        detail["ties"] = {"n": ties, "of": verdicts, "continuous_score": continuous}
        unsnapped = "" if continuous is None else f"; the mean score without snapping to options is {continuous:.3f}"
        notes.append(f"{ties / verdicts:.1%} of the verdicts were decided by a tie{unsnapped}")
    return {**detail, **({"warnings": notes} if notes else {})} or None


KIND = JudgeScorerKind(
    settings=RubricScorer,
    score=judge_by_rubric,
    version=2,
    detail=_panel_detail,
    ranges={"score": SHARE, "coverage": SHARE, "truth_score": SHARE},
)

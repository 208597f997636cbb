"""Convert a panel's report to a stored result: a score with a value per criterion, or a failure with its cause."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.judging.escalation import deciding
from assay.judging.judge import Judge
from assay.judging.panel import report_of
from assay.judging.panel_config import PanelConfig
from assay.judging.reports import EnsembleEvaluationReport
from assay.judging.rubric import Rubric
from assay.judging.total import Scoring, total, value_of
from assay.judging.verdicts import MultiChoiceVerdict, Verdict
from assay.judging.vote_record import vote_from, vote_record
from assay.types import Failure, FailureKind, Score, ScoreValue

STAGE = "score"
TOTALS = ("score", "raw_score", "coverage")
_KINDS: Mapping[str, FailureKind] = {"infrastructure": "http", "parse": "parse", "refusal": "refusal"}


def value_names(rubric: Rubric) -> tuple[str, ...]:
    """Return the field name of each criterion's value."""
    return tuple(f"{name}_criterion" if name in TOTALS else name for name in rubric.names)


def metric_key(name: str) -> str:
    """The key of the metric that is the mean of a criterion, where a task names no metrics.

    >>> metric_key("Is it clear?")
    'mean_Is-it-clear-'
    """
    return f"mean_{re.sub('[^a-zA-Z0-9_-]+', '-', name)[:200]}"


def field_names(rubric: Rubric, *, with_truth: bool) -> tuple[str, ...]:
    """Every field that a score by this rubric may have: a metric of any other is wrong before a judge is asked."""
    names = value_names(rubric)
    truth = ("truth_score", *(f"{name}_truth" for name in names), "truth_before_length") if with_truth else ()
    labels = tuple(f"{name}_label" for name in names)
    return (*TOTALS, *names, *labels, *truth, *_BESIDE)


_BESIDE = (
    "votes",
    "judge_scores",
    "mean_agreement",
    "score_low",
    "score_high",
    "continuous_score",
    "sections",
    "warnings",
    "order_sensitive",
    "aggregated_values",
    "decided_by_tie",
    "escalated",
    "confidence",
)


def outcome_of(
    report: EnsembleEvaluationReport, rubric: Rubric, scorer: str, *, keep_abstained: bool = False
) -> Score | Failure:
    """The report as a score; without one, as a failure: an outage may be tried again, an abstention stays one.

    `keep_abstained` keeps the votes of a panel that abstained, as a score that lacks its number.
    """
    if report.error is not None:
        lost = [
            vote
            for criterion_report in report.criteria
            if criterion_report.error is not None
            for vote in deciding(criterion_report.votes)
        ]
        errors = [vote.error_category for vote in lost]
        kind = _KINDS["infrastructure" if "infrastructure" in errors else str(errors[0])]
        retryable = any(vote.retryable for vote in lost)
        return Failure(stage=STAGE, kind=kind, detail=report.error, retryable=retryable)
    unsettled = any(vote.retryable for criterion_report in report.criteria for vote in deciding(criterion_report.votes))
    if report.score is None and not keep_abstained:
        detail = report.reason or "there is no score"
        return Failure(stage=STAGE, kind="abstained", detail=detail, retryable=unsettled)
    totals = {"score": report.score, "raw_score": report.raw_score, "coverage": report.coverage}
    values: dict[str, ScoreValue] = {name: number for name, number in totals.items() if number is not None}
    metadata: dict[str, Any] = {}
    unsnapped: dict[str, float] = {}
    for name, criterion_report in zip(value_names(rubric), report.criteria, strict=True):
        number = value_of(criterion_report.criterion, criterion_report.verdict)
        if number is not None:
            values[name] = number
        metadata[f"{name}_label"] = criterion_report.label
        before_snapping = value_of(criterion_report.criterion, criterion_report.verdict, "continuous")
        if before_snapping != number and before_snapping is not None:
            unsnapped[name] = before_snapping
    metadata["votes"] = {
        name: [vote_record(vote) for vote in criterion_report.votes]
        for name, criterion_report in zip(value_names(rubric), report.criteria, strict=True)
    }
    torn = [
        name
        for name, criterion_report in zip(value_names(rubric), report.criteria, strict=True)
        if criterion_report.order_sensitive
    ]
    details = _details(report) | ({"order_sensitive": torn} if torn else {})
    if unsnapped:
        details["aggregated_values"] = unsnapped
    tied = [
        name
        for name, criterion_report in zip(value_names(rubric), report.criteria, strict=True)
        if criterion_report.by_tie
    ]
    if tied:
        details["decided_by_tie"] = tied
    details |= _escalated(report, rubric)
    return Score(scorer=scorer, values=values, metadata={**metadata, **details}, unsettled=unsettled)


def _escalated(report: EnsembleEvaluationReport, rubric: Rubric) -> dict[str, Any]:
    """The criteria that went to the stronger panel, and how sure the first judges were of every criterion."""
    named = dict(zip(value_names(rubric), report.criteria, strict=True))
    if not any(
        criterion_report.escalated or criterion_report.confidence is not None for criterion_report in named.values()
    ):
        return {}
    return {
        "escalated": [name for name, criterion_report in named.items() if criterion_report.escalated],
        "confidence": {
            name: criterion_report.confidence
            for name, criterion_report in named.items()
            if criterion_report.confidence is not None
        },
    }


def _details(report: EnsembleEvaluationReport) -> dict[str, Any]:
    """Return the remaining details of a report as metadata."""
    return {
        "judge_scores": dict(report.judge_scores),
        "mean_agreement": report.mean_agreement,
        "score_low": report.score_low,
        "score_high": report.score_high,
        "continuous_score": report.continuous_score,
        "sections": {name: section.model_dump() for name, section in report.sections.items()} or None,
        "warnings": list(report.warnings) or None,
    }


def beside_truth(
    score: Score, rubric: Rubric, verdicts: Sequence[Verdict], scoring: Scoring, *, words: int | None = None
) -> Score:
    """Add the human verdicts to a score: `truth_score` by the same rules, and one label per criterion."""
    truth = total(rubric.criteria, verdicts, scoring, words=words).score
    labels: dict[str, Any] = {
        f"{name}_truth": verdict.selected_label if isinstance(verdict, MultiChoiceVerdict) else verdict.value
        for name, verdict in zip(value_names(rubric), verdicts, strict=True)
    }
    if scoring.length_penalty is not None:
        # scores of single judges lose nothing by the length, so neither does what they are compared with
        labels["truth_before_length"] = total(rubric.criteria, verdicts, scoring).score
    values = dict(score.values) if truth is None else {**score.values, "truth_score": truth}
    return replace(score, values=values, metadata={**score.metadata, **labels})


def report_from(
    metadata: Mapping[str, Any],
    rubric: Rubric,
    judges: Sequence[Judge],
    config: PanelConfig,
    *,
    words: int | None = None,
) -> EnsembleEvaluationReport:
    """Rebuild a report from its stored votes with the current aggregation rules."""
    votes = [[vote_from(record) for record in metadata["votes"][name]] for name in value_names(rubric)]
    return report_of(rubric, votes, judges, config, words=words)

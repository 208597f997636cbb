"""A sample as a page shows it: input, conversation, answer, scores with votes, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.analysis.sample_query import quality
from assay.report.html.comparison_section import question_of
from assay.store.decoder import Sample
from assay.store.run_spec import RunSpec
from assay.types import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRow:
    """One vote of a judge."""

    criterion: str
    judge: str
    label: str
    reason: str
    error: str | None
    reversed: bool
    repeat: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCard:
    """What one scorer says of a sample."""

    key: str
    quality: str | None
    fields: tuple[tuple[str, Any], ...]
    votes: tuple[VoteRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureLine:
    """Why a step gave no result."""

    scorer: str | None
    kind: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSection:
    """Everything that a page shows of a sample."""

    sample_id: str
    trial: int
    position: int
    question: Any
    columns: tuple[tuple[str, Any], ...]
    answer: str | None
    conversation: tuple[tuple[str, Any], ...]
    scores: tuple[ScoreCard, ...]
    failures: tuple[FailureLine, ...]
    verdict: str
    tone: str
    excluded_by: tuple[str, ...]


def sample_section(sample: Sample, spec: RunSpec) -> SampleSection:
    """Everything that a page shows of a sample."""
    verdict, tone = verdict_of(sample, spec)
    return SampleSection(
        sample_id=sample.sample_id,
        trial=sample.trial,
        position=sample.position,
        question=question_of(sample.sample),
        columns=tuple(sample.sample.items()),
        answer=sample.output,
        conversation=tuple(conversation_of(sample)),
        scores=tuple(_score_card(key, score, spec) for key, score in sample.scores.items()),
        failures=tuple(
            FailureLine(scorer=scorer, kind=failure.kind, detail=failure.detail)
            for scorer, failure in sample.failures.items()
        ),
        verdict=verdict,
        tone=tone,
        excluded_by=sample.excluded_by,
    )


def verdict_of(sample: Sample, spec: RunSpec) -> tuple[str, str]:
    """A word for how a sample came out, and the tone in which it is shown."""
    if sample.failures:
        return "failed", "warn"
    grades = [quality(spec, key, score.values) for key, score in sample.scores.items()]
    if "bad" in grades:
        return _value_words(sample, "wrong"), "bad"
    if "fair" in grades:
        return _value_words(sample, "in between"), "warn"
    if "good" in grades:
        return _value_words(sample, "right"), "good"
    return _value_words(sample, ""), ""


def _value_words(sample: Sample, word: str) -> str:
    for score in sample.scores.values():
        for name in ("score", "predicted_label", "label"):
            value = score.values.get(name)
            if value is not None:
                return f"{value:.3g}" if isinstance(value, float) else str(value)
    return word


def _score_card(key: str, score: Score, spec: RunSpec) -> ScoreCard:
    votes: Mapping[str, Sequence[Mapping[str, Any]]] = score.metadata.get("votes") or {}
    details = [(name, value) for name, value in score.metadata.items() if name != "votes" and value not in (None, "")]
    return ScoreCard(
        key=key,
        quality=quality(spec, key, score.values),
        fields=(*score.values.items(), *details),
        votes=tuple(_vote(criterion, vote) for criterion, cast in votes.items() for vote in cast)
        if isinstance(votes, Mapping)
        else (),
    )


def _vote(criterion: str, vote: Mapping[str, Any]) -> VoteRow:
    label = vote.get("verdict", vote.get("selected_label"))
    return VoteRow(
        criterion=criterion,
        judge=str(vote.get("judge_id", "")),
        label="abstained" if label is None else str(label),
        reason=str(vote.get("reason") or ""),
        error=vote.get("error"),
        reversed=bool(vote.get("reversed_order") or vote.get("backwards")),
        repeat=vote.get("repeat"),
    )


def conversation_of(sample: Sample) -> list[tuple[str, Any]]:
    """Who said what, tool calls included, up to the answer."""
    items = list(sample.trace or [])
    if items and items[-1].get("role") == "assistant" and items[-1].get("content") == sample.output:
        items.pop()
    lines: list[tuple[str, Any]] = []
    for item in items:
        kind = str(item.get("type", "message"))
        if "role" in item and set(item) <= {"type", "role", "content", "id", "status"}:
            lines.append((str(item["role"]), item.get("content")))
        else:
            lines.append((kind.replace("_", " "), {name: value for name, value in item.items() if name != "type"}))
    return lines

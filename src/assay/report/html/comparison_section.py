"""A comparison as a page shows it: the verdict in words, differences with bars, samples that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.analysis.sample_query import FlippedSample
from assay.report.charts import Bar, Chart, interval_bar, interval_bars
from assay.report.compare import amount, bracket, chance, digits_of, words
from assay.results.comparison import Compared, Comparison, Part
from assay.stats.paired import Paired
from assay.text import number

TONES = {"better": "good", "worse": "bad", "equivalent": "good"}
PARTS_SHOWN = 30
TRUTHS = ("ground_truth", "answer", "answer_gt", "target", "expected", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """The difference in one group or criterion."""

    name: str
    bar: str
    difference: str
    p: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRow:
    """One metric of a run beside that of the baseline."""

    address: str
    letter: str
    against: str
    head: str
    words: str
    tone: str
    verdict: str
    before: str
    after: str
    bar: str
    difference: str
    parts: tuple[PartRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A run of a comparison and the words that tell it from the others."""

    letter: str
    run: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSection:
    """Everything that a page shows of a comparison but its samples."""

    runs: tuple[RunLine, ...]
    compared: tuple[ComparedRow, ...]
    level: str
    notes: tuple[str, ...]


def comparison_section(comparison: Comparison) -> ComparisonSection:
    """Everything that a page shows of a comparison but its samples."""
    lines = []
    for run in comparison.runs:
        settings = [f"{key}={value}" for key, value in run.settings.items()]
        parts = [part for part in (run.name, run.task, run.model, *settings) if part]
        lines.append(RunLine(letter=run.letter, run=run.run, words=f"{run.run} · {' · '.join(parts)}"))
    notes = list(comparison.notes)
    for matching in comparison.matching:
        left_out = len(matching.only_before) + len(matching.only_after) + len(matching.other_content)
        if left_out:
            notes.append(
                f"{matching.against} and {matching.letter} share {matching.n_common:,} samples; {left_out:,} that only "
                "one of them has, or that differ in content, are left out."
            )
    return ComparisonSection(
        runs=tuple(lines),
        compared=tuple(_compared(compared, comparison) for compared in comparison.compared),
        level=f"{comparison.level:.0%}",
        notes=tuple(notes),
    )


def _called(comparison: Comparison) -> dict[str, str]:
    """What a heading calls each run: its name where that tells it from the others, else its letter."""
    names = [run.name for run in comparison.runs]
    distinct = None not in names and len(set(names)) == len(names)
    return {run.letter: run.name if distinct and run.name else run.letter for run in comparison.runs}


def _compared(compared: Compared, whole: Comparison) -> ComparedRow:
    value, points = compared.found.difference.value, compared.in_points
    called = _called(whole)
    reach = _reach(compared, whole)
    run, baseline = called[compared.letter], called[compared.against]
    heads = {
        "better": f"{run} is better than {baseline} by",
        "worse": f"{run} is worse than {baseline} by",
        "equivalent": f"{baseline} and {run} are equivalent:",
        "undecided": "Undecided:",
        "no clear difference": f"No clear difference between {baseline} and {run}:",
    }
    size = "" if value is None else amount(abs(value), points, digits=digits_of(compared.found.difference.interval))
    return ComparedRow(
        address=compared.address,
        letter=compared.letter,
        against=compared.against,
        head=f"{heads[compared.verdict]} {size}".strip() if value is not None else "Nothing can be said",
        words=words(compared, whole),
        tone=TONES.get(compared.verdict, ""),
        verdict=compared.verdict,
        before=number(compared.before.value),
        after=number(compared.after.value),
        bar=_bar(compared.address, compared.found, reach),
        difference=_difference(compared.found, in_points=points),
        parts=tuple(_part(part, points, reach) for part in (*compared.groups, *compared.criteria)[:PARTS_SHOWN]),
    )


def _part(part: Part, points: bool, reach: float) -> PartRow:
    p = "" if part.p_adjusted is None else chance(part.p_adjusted)
    return PartRow(
        name=part.name,
        bar=_bar(part.name, part.found, reach),
        difference=_difference(part.found, in_points=points),
        p=p,
    )


def _difference(paired: Paired, *, in_points: bool) -> str:
    value, interval = paired.difference.value, paired.difference.interval
    if value is None:
        return "undefined"
    digits = digits_of(interval)
    return f"{amount(value, in_points, sign=True, digits=digits)} {bracket(interval, in_points, digits=digits)}"


def _reach(compared: Compared, whole: Comparison) -> float:
    """How far the scale of a metric's bars goes to both sides: all differences in points have one scale."""
    metrics = [entry for entry in whole.compared if entry.in_points] if compared.in_points else [compared]
    bars = [
        _difference_bar("", paired)
        for entry in metrics
        for paired in (entry.found, *(part.found for part in (*entry.groups, *entry.criteria)))
    ]
    ends = [abs(end) for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None]
    return max(max(ends, default=0.0) * 1.05, 0.1)


def _bar(label: str, paired: Paired, reach: float) -> str:
    return interval_bar(_difference_bar(label, paired), (-reach, reach), 0.0)


def _difference_bar(label: str, paired: Paired) -> Bar:
    interval = paired.difference.interval
    return Bar(
        label=label,
        value=paired.difference.value,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        n=paired.n,
    )


def comparison_chart(comparison: Comparison) -> Chart:
    """All differences of a comparison in one forest plot."""
    called = _called(comparison)
    bars = [
        _difference_bar(
            f"{called[compared.letter]} − {called[compared.against]}: {compared.address.rpartition('/')[2]}",
            compared.found,
        )
        for compared in comparison.compared
    ]
    return interval_bars(
        bars,
        name="differences",
        title="Differences from the baseline",
        reference=("no difference", 0.0),
        around_zero=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The answers of one run to a sample."""

    title: str
    answers: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipCard:
    """A sample that changed, with both answers."""

    sample_id: str
    address: str
    change: str
    is_loss: bool
    question: Any
    truth: Any
    sides: tuple[Side, ...]
    letter: str


def flip_card(flipped: FlippedSample, names: Mapping[str, str]) -> FlipCard:
    """A sample that changed, ready for a page; `names` has the words for the letters of the runs."""
    before, after = flipped.flip.before, flipped.flip.after
    told = {1.0: "right", 0.0: "wrong"}
    binary = before in told and after in told
    return FlipCard(
        sample_id=flipped.flip.sample_id,
        address=flipped.address,
        change=f"{told[before]} → {told[after]}" if binary else f"{number(before)} → {number(after)}",
        is_loss=after < before,
        question=question_of(flipped.sample),
        truth=next((flipped.sample[name] for name in TRUTHS if name in flipped.sample), None),
        sides=(
            Side(title=f"{names[flipped.against]} · {number(before)}", answers=flipped.answers_before),
            Side(title=f"{names[flipped.letter]} · {number(after)}", answers=flipped.answers_after),
        ),
        letter=flipped.letter,
    )


def question_of(sample: Mapping[str, Any]) -> Any:
    """The column that says what a sample is about: one with a usual name, else the longest text."""
    for name in ("question", "input", "prompt", "query", "text"):
        if name in sample:
            return sample[name]
    texts: Sequence[str] = [value for value in sample.values() if isinstance(value, str)]
    return max(texts, key=len, default="")

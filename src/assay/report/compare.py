"""Comparisons of runs as JSON and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.results.comparison import Compared, Comparison, Flip, Matching
from assay.results.document import value_document
from assay.results.run import SampleCounts
from assay.stats.paired import Paired
from assay.text import clean
from assay.types import Interval


def comparison_document(comparison: Comparison, *, plain: bool = True) -> dict[str, Any]:
    """The object that `assay compare --json` prints; the flips of a million samples are `plain` dicts, or stay columns.

    `cli.output.print_json` prints columns as the same JSON in half the memory.
    """
    baseline, *others = [
        {
            "name": run.letter,
            "run": run.run,
            "run_name": run.name,
            "task": run.task,
            "model": run.model,
            "config": dict(run.config),
        }
        for run in comparison.runs
    ]
    return {
        "baseline": baseline,
        "runs": others,
        "level": comparison.level,
        "margin": comparison.margin,
        "all_pairs": comparison.all_pairs,
        "family": len(comparison.compared),
        "worse": comparison.is_worse,
        "matching": [_matching(matching) for matching in comparison.matching],
        "comparisons": [_compared(compared, comparison, plain=plain) for compared in comparison.compared],
        "notes": list(comparison.notes),
    }


def _matching(matching: Matching) -> dict[str, Any]:
    return {
        "name": matching.letter,
        "against": matching.against,
        "n_common": matching.n_common,
        "only_in_baseline": list(matching.only_before),
        f"only_in_{matching.letter}": list(matching.only_after),
        "other_content": list(matching.other_content),
    }


def _compared(compared: Compared, whole: Comparison, *, plain: bool) -> dict[str, Any]:
    document = {
        "name": compared.letter,
        "run": next(run.run for run in whole.runs if run.letter == compared.letter),
        "against": compared.against,
        "metric": compared.address,
        "verdict": compared.verdict,
        "words": words(compared, whole),
        "before": value_document(compared.before),
        "after": value_document(compared.after),
        **_paired(compared.found, compared.p_adjusted),
        **_equivalence(compared, whole),
        "n_changed": compared.n_changed,
        "n_to_decide": compared.n_to_decide,
        "failed": {compared.against: compared.failed_before, compared.letter: compared.failed_after},
        "counts": {compared.against: _counts(compared.counts_before), compared.letter: _counts(compared.counts_after)},
        "flips": [_flip(flip) for flip in compared.flips] if plain else compared.flips,
    }
    for name, parts in (("groups", compared.groups), ("criteria", compared.criteria)):
        if parts:
            document[name] = {part.name: _paired(part.found, part.p_adjusted) for part in parts}
    return document


def _flip(flip: Flip) -> dict[str, Any]:
    return {"sample_id": flip.sample_id, "before": flip.before, "after": flip.after}


def _counts(counts: SampleCounts) -> dict[str, Any]:
    return {"n": counts.n, "failed": counts.failed, "excluded": counts.excluded, "invalid": counts.invalid}


def _paired(paired: Paired, adjusted: float | None) -> dict[str, Any]:
    return {
        "difference": {**value_document(paired.difference), "unadjusted": True},
        "p": paired.p,
        "p_adjusted": adjusted,
        "test": paired.test,
        "n": paired.n,
        "wins": paired.wins,
        "ties": paired.ties,
        "losses": paired.losses,
    }


def _equivalence(compared: Compared, whole: Comparison) -> dict[str, Any]:
    """Describe the interval that is compared with a margin, and any difference regardless of the margin."""
    narrow = compared.found.narrow
    if whole.margin is None or narrow is None:
        return {}
    return {"equivalence": {"low": narrow.low, "high": narrow.high, "level": narrow.level}, "apart": compared.apart}


def words(compared: Compared, whole: Comparison) -> str:
    """The verdict as a sentence: who is better, by how much, how surely, on how many samples."""
    paired, value = compared.found, compared.found.difference.value
    if value is None:
        return f"{compared.letter} cannot be compared: {paired.difference.reason}"
    interval, points = paired.difference.interval, compared.in_points
    digits = digits_of(interval)
    size = f"{amount(abs(value), points, digits=digits)} {bracket(_turned(interval, value), points, digits=digits)}"
    difference = f"{amount(value, points, sign=True, digits=digits)} {bracket(interval, points, digits=digits)}"
    plain = f"{compared.letter} - {compared.against} is {difference}"
    within = _within(compared, whole)
    than = f" than {compared.against}" if whole.all_pairs else ""
    # a difference may be too small to matter and clear all the same
    clear = f", yet {compared.letter} is clearly {compared.apart}" if compared.apart in ("better", "worse") else ""
    heads = {
        "better": f"{compared.letter} is better{than} by {size}",
        "worse": f"{compared.letter} is worse{than} by {size}",
        "equivalent": f"{compared.against} and {compared.letter} are {within}{clear}: {plain}",
        "undecided": f"undecided whether {compared.against} and {compared.letter} are {within}: {plain}",
        "no clear difference": f"no clear difference: {_guarded(compared)}{plain}",
    }
    text = f"{heads[compared.verdict]}, {chance(paired.p)}"
    if len(whole.compared) > 1:
        text += f" ({chance(compared.p_adjusted)} for {len(whole.compared)} comparisons)"
    text += f"; {compared.n_changed:,} of {paired.n:,} samples changed"
    if compared.n_to_decide is not None:
        text += f"; about {compared.n_to_decide:,} samples would decide"
    return text


def _guarded(compared: Compared) -> str:
    """Explain a difference that is not clear only because a rare extreme sample could cancel it."""
    paired, value = compared.found, compared.found.difference.value or 0.0
    if not paired.clear_but_for_guard(compared.p_adjusted):
        return ""
    change = "loss" if value > 0 else "gain"
    undone = f"a {change} of the full range in 1 of {paired.cancelled_by_one_in:,} items would cancel it"
    return f"{paired.wins:,} up, {paired.losses:,} down; {undone}; "


def _within(compared: Compared, whole: Comparison) -> str:
    """The margin, and the narrower interval that must lie inside it."""
    margin, points, narrow = whole.margin or 0.0, compared.in_points, compared.found.narrow
    size = f"±{margin * 100:g} points" if points else f"±{margin:g}"
    if narrow is None:
        return f"equivalent within {size}"
    level = f"{round(narrow.level * 100, 1):g} %"
    return f"equivalent within {size} ({level} interval {bracket(narrow, points, digits=digits_of(narrow))})"


def _turned(interval: Interval | None, value: float) -> Interval | None:
    """The interval of the size of a difference: turned round where the difference is negative."""
    if interval is None or value >= 0:
        return interval
    low, high = (None if bound is None else -bound for bound in (interval.high, interval.low))
    return replace(interval, low=low, high=high)


def amount(value: float, in_points: bool, *, sign: bool = False, digits: int = 1) -> str:
    """Format a difference: in percentage points for values between 0 and 1.

    >>> amount(0.0312, True), amount(-1.5, False, sign=True)
    ('3.1 points', '-1.5')
    """
    if in_points:
        return f"{round(value * 100, digits) + 0.0:{'+' if sign else ''}.{digits}f} points"
    return f"{value + 0.0:{'+' if sign else ''}.3g}"


def bracket(interval: Interval | None, in_points: bool, *, digits: int = 1) -> str:
    """Format the bounds in brackets, with a question mark for a missing one."""
    bounds = (None, None) if interval is None else (interval.low, interval.high)
    return f"[{', '.join('?' if b is None else _bound(b, in_points, digits) for b in bounds)}]"


def _bound(bound: float, in_points: bool, digits: int) -> str:
    # adding 0.0 turns -0.0 into 0.0
    return f"{round(bound * 100, digits) + 0.0:.{digits}f}" if in_points else f"{bound + 0.0:.3g}"


def digits_of(interval: Interval | None) -> int:
    """Return the number of decimals that the width of the interval justifies.

    >>> digits_of(Interval(low=0.0047, high=0.0053, method="tango"))
    2
    """
    if interval is None or interval.low is None or interval.high is None:
        return 1
    width = 100 * (interval.high - interval.low)
    return 1 if width >= 0.5 else 2 if width >= 0.05 else 3


def chance(p: float | None) -> str:
    """A chance with two digits, never as zero.

    >>> chance(0.0213), chance(1e-9), chance(1.0)
    ('p = 0.021', 'p < 0.0001', 'p = 1')
    """
    if p is None:
        return "p unknown"
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def sides(matching: Matching) -> Mapping[str, tuple[str, ...]]:
    """Describe the samples that do not match, with their ids."""
    against, letter = clean(matching.against), clean(matching.letter)
    by_side = {
        f"only in {against}": matching.only_before,
        f"only in {letter}": matching.only_after,
        f"another sample under the same id in {against} and {letter}": matching.other_content,
    }
    return {words: ids for words, ids in by_side.items() if ids}

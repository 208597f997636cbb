"""Comparisons of runs as JSON and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.results.comparison import Compared, Comparison, Matching
from assay.results.document import value_document
from assay.results.run import SampleCounts
from assay.stats.paired import Paired
from assay.text import clean
from assay.types import Interval


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The object that `assay compare --json` prints."""
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
        "matching": [_matching(each) for each in comparison.matching],
        "comparisons": [_compared(each, comparison) for each in comparison.compared],
        "notes": list(comparison.notes),
    }


def _matching(found: Matching) -> dict[str, Any]:
    return {
        "name": found.letter,
        "against": found.against,
        "n_common": found.n_common,
        "only_in_baseline": list(found.only_before),
        f"only_in_{found.letter}": list(found.only_after),
        "other_content": list(found.other_content),
    }


def _compared(each: Compared, whole: Comparison) -> dict[str, Any]:
    document = {
        "name": each.letter,
        "run": next(run.run for run in whole.runs if run.letter == each.letter),
        "against": each.against,
        "metric": each.address,
        "verdict": each.verdict,
        "words": words(each, whole),
        "before": value_document(each.before),
        "after": value_document(each.after),
        **_paired(each.found, each.p_adjusted),
        **_equivalence(each, whole),
        "n_changed": each.n_changed,
        "n_to_decide": each.n_to_decide,
        "failed": {each.against: each.failed_before, each.letter: each.failed_after},
        "counts": {each.against: _counts(each.counts_before), each.letter: _counts(each.counts_after)},
        "flips": [{"sample_id": f.sample_id, "before": f.before, "after": f.after} for f in each.flips],
    }
    for name, parts in (("groups", each.groups), ("criteria", each.criteria)):
        if parts:
            document[name] = {part.name: _paired(part.found, part.p_adjusted) for part in parts}
    return document


def _counts(counts: SampleCounts) -> dict[str, Any]:
    return {"n": counts.n, "failed": counts.failed, "excluded": counts.excluded, "invalid": counts.invalid}


def _paired(found: Paired, adjusted: float | None) -> dict[str, Any]:
    return {
        "difference": {**value_document(found.difference), "unadjusted": True},
        "p": found.p,
        "p_adjusted": adjusted,
        "test": found.test,
        "n": found.n,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
    }


def _equivalence(each: Compared, whole: Comparison) -> dict[str, Any]:
    """The interval that a margin is held against, and whether there is a difference whatever the margin."""
    narrow = each.found.narrow
    if whole.margin is None or narrow is None:
        return {}
    return {"equivalence": {"low": narrow.low, "high": narrow.high, "level": narrow.level}, "apart": each.apart}


def words(each: Compared, whole: Comparison) -> str:
    """The verdict as a sentence: who is better, by how much, how surely, on how many samples."""
    found, value = each.found, each.found.difference.value
    if value is None:
        return f"nothing can be said of {each.letter}: {found.difference.reason}"
    interval, points = found.difference.interval, each.in_points
    digits = digits_of(interval)
    size = f"{amount(abs(value), points, digits=digits)} {bracket(_turned(interval, value), points, digits=digits)}"
    apart = f"{amount(value, points, sign=True, digits=digits)} {bracket(interval, points, digits=digits)}"
    plain = f"{each.letter} - {each.against} is {apart}"
    within = _within(each, whole)
    than = f" than {each.against}" if whole.all_pairs else ""
    heads = {
        "better": f"{each.letter} is better{than} by {size}",
        "worse": f"{each.letter} is worse{than} by {size}",
        "equivalent": f"{each.against} and {each.letter} are {within}{_yet(each)}: {plain}",
        "undecided": f"undecided whether {each.against} and {each.letter} are {within}: {plain}",
        "no clear difference": f"no clear difference: {_guarded(each)}{plain}",
    }
    text = f"{heads[each.verdict]}, {chance(found.p)}"
    if len(whole.compared) > 1:
        text += f" ({chance(each.p_adjusted)} for {len(whole.compared)} comparisons)"
    text += f"; {each.n_changed:,} of {found.n:,} samples changed"
    if each.n_to_decide is not None:
        text += f"; about {each.n_to_decide:,} samples would decide"
    return text


def _guarded(each: Compared) -> str:
    """What keeps a difference from being clear where only a rare extreme sample could undo it."""
    found, value = each.found, each.found.difference.value or 0.0
    if not found.clear_but_for_guard(each.p_adjusted):
        return ""
    change = "loss" if value > 0 else "gain"
    undone = f"a {change} of the full range in 1 of {found.cancelled_by_one_in:,} items would cancel it"
    return f"{found.wins:,} up, {found.losses:,} down; {undone}; "


def _within(each: Compared, whole: Comparison) -> str:
    """The margin, and the narrower interval that must lie inside it."""
    margin, points, narrow = whole.margin or 0.0, each.in_points, each.found.narrow
    size = f"±{margin * 100:g} points" if points else f"±{margin:g}"
    if narrow is None:
        return f"equivalent within {size}"
    level = f"{round(narrow.level * 100, 1):g} %"
    return f"equivalent within {size} ({level} interval {bracket(narrow, points, digits=digits_of(narrow))})"


def _yet(each: Compared) -> str:
    """That a difference which does not matter is there all the same."""
    return f", yet {each.letter} is clearly {each.apart}" if each.apart in ("better", "worse") else ""


def _turned(interval: Interval | None, value: float) -> Interval | None:
    """The interval of the size of a difference: turned round where the difference is negative."""
    if interval is None or value >= 0:
        return interval
    low, high = (None if bound is None else -bound for bound in (interval.high, interval.low))
    return replace(interval, low=low, high=high)


def amount(value: float, in_points: bool, *, sign: bool = False, digits: int = 1) -> str:
    """A difference as people say it: in points of a hundred for numbers between 0 and 1.

    >>> amount(0.0312, True), amount(-1.5, False, sign=True)
    ('3.1 points', '-1.5')
    """
    if in_points:
        return f"{round(value * 100, digits) + 0.0:{'+' if sign else ''}.{digits}f} points"
    return f"{value + 0.0:{'+' if sign else ''}.3g}"


def bracket(interval: Interval | None, in_points: bool, *, digits: int = 1) -> str:
    """The bounds in brackets, a question mark where there is none."""
    bounds = (None, None) if interval is None else (interval.low, interval.high)
    return f"[{', '.join('?' if b is None else _bound(b, in_points, digits) for b in bounds)}]"


def _bound(bound: float, in_points: bool, digits: int) -> str:
    # adding 0.0 turns -0.0 into 0.0
    return f"{round(bound * 100, digits) + 0.0:.{digits}f}" if in_points else f"{bound + 0.0:.3g}"


def digits_of(interval: Interval | None) -> int:
    """As many digits of a point as the width of the interval is worth.

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


def sides(found: Matching) -> Mapping[str, tuple[str, ...]]:
    """What does not match, in words, with the ids."""
    against, letter = clean(found.against), clean(found.letter)
    told = {
        f"only in {against}": found.only_before,
        f"only in {letter}": found.only_after,
        f"another sample under the same id in {against} and {letter}": found.other_content,
    }
    return {words: ids for words, ids in told.items() if ids}

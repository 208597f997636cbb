"""The value of a panel: its effective number of judges, outlying judges, and uninformative criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.analysis.scale import Intervals, Votes
from assay.results.agreement import Redundant
from assay.stats.alpha import Scale as AlphaScale
from assay.stats.alpha import krippendorffs_alpha
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.icc import intraclass
from assay.stats.noise import Noise, noise_floor
from assay.stats.panel import constant_criteria, effective_judges, leave_one_out, panel_agreement, redundant_criteria
from assay.types import MetricValue

LEAST_RATERS = 3
"""The smallest number of raters for leaving one out: two must remain to agree."""
LEAST_ITEMS = 4
"""On fewer items being the same is no wonder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The scores that judges would give alone: one row per item, one column per judge; `truth` is NaN where unknown."""

    items: IntArray
    table: FloatArray
    truth: FloatArray


def together(votes: Votes, raters: Mapping[str, IntArray], measure: Intervals) -> dict[str, MetricValue]:
    """Compute the reliability of one rater and of the mean of all, and the effective number of raters."""
    if votes.scale.values is None:
        return {}
    table = np.column_stack([votes.values_of(codes) for codes in raters.values()])
    return _trusted(table, votes.values_of(votes.truth), votes.items, measure)


def together_on_totals(totals: Totals, measure: Intervals) -> dict[str, MetricValue]:
    """Compute the agreement of the total scores that each judge alone would give."""
    return _trusted(totals.table, totals.truth, totals.items, measure) if totals.table.shape[1] > 1 else {}


def _trusted(table: FloatArray, truth: FloatArray, items: IntArray, measure: Intervals) -> dict[str, MetricValue]:
    """Judges that are wrong together are worth fewer than judges that merely see the same: errors where known."""
    labelled = ~np.isnan(truth)
    icc = intraclass(table, items, level=measure.level)
    errors, of = (table[labelled] - truth[labelled, None], items[labelled]) if labelled.any() else (table, items)
    worth = effective_judges(errors, of, level=measure.level)
    return {"icc_single": icc.single, "icc_mean": icc.mean, "effective_judges": worth}


def without_each(
    votes: Votes, raters: Mapping[str, IntArray], alpha: AlphaScale, measure: Intervals
) -> dict[str, dict[str, MetricValue]]:
    """Compute the agreement without each rater in turn: agreement that rises without a rater points at it."""
    if len(raters) < LEAST_RATERS:
        return {}
    ratings, level = votes.ratings(raters), measure.level
    rng = measure.rng(votes.name, *raters, "without") if measure.covers_pairs(len(raters)) else None
    shares = leave_one_out(ratings, lambda rest: panel_agreement(rest, level=level))
    alphas = leave_one_out(ratings, lambda rest: krippendorffs_alpha(rest, alpha, rng=rng, level=level))
    return {
        name: {"agreement": share, f"alpha_{alpha}": value}
        for name, share, value in zip(raters, shares, alphas, strict=True)
    }


def unsteadiness(votes: Votes, measure: Intervals) -> dict[str, Noise]:
    """The noise floor of every judge that was asked several times."""
    if votes.scale.values is None:
        return {}
    values = votes.scale.numbers()
    bounds = (float(values.min()), float(values.max()))
    return {
        judge: noise_floor(table, rng=measure.rng(votes.name, judge, "noise"), bounds=bounds, level=measure.level)
        for judge, table in votes.repeats.items()
    }


def given_to_all(votes: Votes) -> str | None:
    """Return the option that every item got; None if items differ or are too few."""
    column = _column(votes)
    seen = column[~np.isnan(column)]
    if len(np.unique(votes.items[~np.isnan(column)])) < LEAST_ITEMS or constant_criteria(column[:, None]) != (0,):
        return None
    labels = [label for label, value in zip(votes.scale.labels, votes.scale.numbers(), strict=True) if value == seen[0]]
    return labels[0] if len(labels) == 1 else f"{seen[0]:g}"


def redundant(criteria: Sequence[Votes], measure: Intervals) -> tuple[Redundant, ...]:
    """Return pairs of criteria that rank the items almost identically or inversely, strongest first."""
    valued = [votes for votes in criteria if votes.scale.values is not None and votes.rows]
    rows = dict.fromkeys(row for votes in valued for row in votes.rows)
    items = {item: number for number, item in enumerate(dict.fromkeys(item for _, item in rows))}
    if len(valued) < 2:
        return ()
    columns = [dict(zip(votes.rows, _column(votes), strict=True)) for votes in valued]
    table = np.array([[column.get(row, np.nan) for column in columns] for row in rows], dtype=np.float64)
    clusters = np.array([items[item] for _, item in rows], dtype=np.int64)
    correlated = redundant_criteria(table, clusters, level=measure.level)
    return tuple(
        Redundant(first=valued[pair.first].name, second=valued[pair.second].name, spearman=pair.value)
        for pair in correlated
    )


def _column(votes: Votes) -> FloatArray:
    """Return one value per row: the panel's, else the mean of the judges."""
    if votes.panel is not None:
        plain = votes.values_of(votes.panel)
        return plain if votes.panel_values is None else np.where(votes.panel < 0, np.nan, votes.panel_values)
    table = np.column_stack([votes.values_of(codes) for codes in votes.judges.values()])
    cast = ~np.isnan(table)
    n = cast.sum(axis=1)
    return np.where(n > 0, np.where(cast, table, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)

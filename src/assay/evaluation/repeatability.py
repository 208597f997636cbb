"""Repeated runs of one specification: the variation of its metrics, and how often samples are scored alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from assay.results.evaluation import Repeatability, Spread
from assay.results.run import RunReport
from assay.stats.interval import ratio
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.store import Store
from assay.summary.metrics import addressed
from assay.types import MetricValue


def repeatability(store: Store, reports: Sequence[RunReport]) -> Repeatability:
    """Compare several runs of one specification."""
    values: dict[str, list[float]] = {address: [] for address, _ in addressed(reports[0].scorers)}
    for report in reports:
        for address, value in addressed(report.scorers):
            if value.value is not None:
                values.setdefault(address, []).append(value.value)
    slots = {scorer.key: slot for slot, scorer in enumerate(reports[0].scorers, start=1)}
    numbers = [runs.find(store, report.run).rows_of for report in reports]
    return Repeatability(
        runs=tuple(report.run for report in reports),
        values={address: spread(numbers) for address, numbers in values.items()},
        agreement={key: _share_alike(store, numbers, slot) for key, slot in slots.items()},
    )


def spread(values: Sequence[float]) -> Spread:
    """Mean, standard deviation, least and greatest of the values of repeated runs.

    >>> spread([0.5, 0.7]).mean
    0.6
    """
    if not values:
        return Spread(mean=None, std_dev=None, min=None, max=None, n=0)
    return Spread(
        mean=fmean(values),
        std_dev=stdev(values) if len(values) > 1 else None,
        min=min(values),
        max=max(values),
        n=len(values),
    )


def _share_alike(store: Store, numbers: Sequence[int], slot: int) -> MetricValue:
    """The share of the samples scored in every run that got the same values each time."""
    first, *others = (_digests(store, number, slot) for number in numbers)
    common = [position for position in first if all(position in other for other in others)]
    same = [all(other[position] == first[position] for other in others) for position in common]
    return ratio(same, [1] * len(same), undefined="no sample was scored in every run")


def _digests(store: Store, rows_of: int, slot: int) -> Mapping[int, int]:
    """Reduce the score of each sample to one number that is equal if all values are equal."""
    return {
        position: hash(values)
        for page in evidence.score_pages(store, rows_of, slot, metadata=False, inputs=False)
        for position, values in zip(page.positions, page.values, strict=True)
    }

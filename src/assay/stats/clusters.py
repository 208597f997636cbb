"""Independent units: rows summed over their cluster, sorted, equal ones counted together.

Every interval is made from these. Sorting makes it independent of the order of the samples; counting
makes a resample cost as much as there are distinct units, not samples; summing over clusters makes
copies of a row, or many rows from one sample, count as the one observation that they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Clusters = npt.NDArray[np.integer] | None
Counts = IntArray | None

FEW_CLUSTERS = 10
ONE_CLUSTER = "no interval can be computed: all values come from one cluster"
# Sums that differ by rounding only must count as equal, or copying rows would change the random stream.
DIGITS = 12


@dataclass(frozen=True, slots=True)
class Units:
    """Distinct sums (one row each, one column a statistic), how many units have them, and the rows behind."""

    sums: FloatArray
    counts: IntArray
    rows: int

    @property
    def n(self) -> int:
        """Return the number of independent units: clusters, or rows if there are no clusters."""
        return int(self.counts.sum())

    @property
    def clusters(self) -> int | None:
        """Return the number of clusters; None if every row is its own unit."""
        return self.n if self.n < self.rows else None

    @property
    def caveat(self) -> str | None:
        """Return the caveat for the number of clusters."""
        return "few clusters" if self.clusters is not None and self.clusters < FEW_CLUSTERS else None

    def column(self, index: int) -> FloatArray:
        """One statistic of each distinct unit."""
        return self.sums[:, index]

    def total(self, index: int) -> float:
        """The sum of one statistic over all units."""
        return float(self.counts @ self.sums[:, index])

    def keep(self, mask: npt.NDArray[np.bool_]) -> Units:
        """Keep the units that have something to count."""
        return Units(sums=self.sums[mask], counts=self.counts[mask], rows=self.rows)

    def per(self, size: float) -> Units:
        """The units with each sum divided by `size`; those equal up to rounding counted together."""
        sums = self.sums / size
        largest = np.abs(sums).max(axis=0, initial=0.0)
        step = np.where(largest > 0, largest, 1.0)
        return _distinct(np.round(sums / step, DIGITS) * step, self.counts, self.rows)


def units(*columns: npt.ArrayLike, clusters: Clusters = None, counts: Counts = None) -> Units:
    """Sum the columns over each cluster (or row), sort the sums, and group equal ones with their counts.

    `counts` says that rows stand for several equal ones, and goes without clusters.

    >>> units([1.0, 0.0, 1.0]).counts.tolist()
    [1, 2]
    """
    # Adding 0.0 turns -0.0 into 0.0, which would otherwise depend on the order of the rows.
    table = np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1) + 0.0
    rows = len(table)
    if counts is not None:
        return _distinct(table, counts, int(counts.sum()))
    if clusters is not None and rows:
        table = cluster_sums(table, clusters)
    return _distinct(table, np.ones(len(table), dtype=np.int64), rows)


def single_units(values: npt.ArrayLike) -> tuple[FloatArray, IntArray]:
    """The distinct values in order and how many have each: what `units` makes of one column, in a third of its memory.

    >>> single_units([1.0, 0.0, 1.0])[1].tolist()
    [1, 2]
    """
    distinct, counts = np.unique(np.asarray(values, dtype=np.float64) + 0.0, return_counts=True)
    return distinct, counts.astype(np.int64)


def cluster_sums(table: FloatArray, clusters: npt.NDArray[np.integer]) -> FloatArray:
    """The rows of a table summed over each cluster, in the order of the clusters' ids."""
    # Within a cluster the rows are added in the order of their values: a sum of floats depends on it.
    order = np.lexsort((*table.T[::-1], clusters))
    ordered = clusters[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return np.asarray(np.add.reduceat(table[order], starts, axis=0))


def _distinct(table: FloatArray, counts: IntArray, rows: int) -> Units:
    if not len(table):
        return Units(sums=table, counts=counts, rows=rows)
    order = np.lexsort(table.T[::-1])
    table = table[order]
    new = np.concatenate(([True], np.any(table[1:] != table[:-1], axis=1)))
    starts = np.flatnonzero(new)
    return Units(sums=table[starts], counts=np.add.reduceat(counts[order], starts), rows=rows)

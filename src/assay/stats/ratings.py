"""Ratings of items by several raters, with missing ones: votes of a panel, or labels of several people."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.stats.classification import Pairs
from assay.stats.clusters import Clusters, FloatArray, IntArray

MISSING = -1


def coded(labels: Sequence[Hashable | None], options: Sequence[Hashable]) -> IntArray:
    """Return the index of each label among the declared options; None, an abstention, becomes -1.

    >>> coded(["good", None, "bad"], ["bad", "good"]).tolist()
    [1, -1, 0]
    """
    places = {option: place for place, option in enumerate(options)}
    return np.array([MISSING if label is None else places[label] for label in labels], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Option codes, one row per item and one column per rater, -1 where a rater gave none.

    `values` are the values of the declared options, also of those that nobody chose; for nominal scales any
    numbers will do. `clusters` says which items belong together.
    """

    codes: IntArray
    values: FloatArray
    clusters: Clusters = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2:
            raise ValueError("ratings are a table: items in rows, raters in columns")
        if self.codes.size and not MISSING <= self.codes.min() <= self.codes.max() < len(self.values):
            raise ValueError("a rating is the place of a declared option, or -1")

    @classmethod
    def of(cls, table: npt.ArrayLike, clusters: Clusters = None) -> Ratings:
        """Build ratings from numbers with NaN for missing ones; the scale consists of the values that occur.

        >>> Ratings.of([[1, 2], [2, np.nan]]).codes.tolist()
        [[0, 1], [1, -1]]
        """
        numbers = np.asarray(table, dtype=np.float64)
        present = ~np.isnan(numbers)
        values, places = np.unique(numbers[present], return_inverse=True)
        codes = np.full(numbers.shape, MISSING, dtype=np.int64)
        codes[present] = places
        return cls(codes=codes, values=values, clusters=clusters)

    @property
    def options(self) -> int:
        """Return K, the number of declared options."""
        return len(self.values)

    @property
    def raters(self) -> int:
        """Return J, the number of raters."""
        return int(self.codes.shape[1])

    def counts(self) -> FloatArray:
        """Count the raters per item and option.

        >>> Ratings.of([[1, 2, 1]]).counts().tolist()
        [[2.0, 1.0]]
        """
        items, k = len(self.codes), self.options
        present = self.codes != MISSING
        places = (self.codes + k * np.arange(items)[:, None])[present]
        return np.bincount(places, minlength=items * k).astype(np.float64).reshape(items, k)

    def pair(self, first: int, second: int) -> Pairs:
        """Two raters side by side, on the items that both rated."""
        both = (self.codes[:, first] != MISSING) & (self.codes[:, second] != MISSING)
        clusters = None if self.clusters is None else self.clusters[both]
        return Pairs(self.codes[both, first], self.codes[both, second], self.options, clusters)

    def without(self, rater: int) -> Ratings:
        """The ratings of the same items without one of the raters."""
        return Ratings(codes=np.delete(self.codes, rater, axis=1), values=self.values, clusters=self.clusters)

    def majority(self) -> IntArray:
        """Return the option that most raters chose for each item; -1 for a tie or without ratings.

        >>> Ratings.of([[1, 2, 1], [1, 2, 3]]).majority().tolist()
        [0, -1]
        """
        votes = self.counts()
        most = votes.max(axis=1, initial=0.0, keepdims=True)
        alone = (votes == most).sum(axis=1) == 1
        return np.where(alone & (most[:, 0] > 0), votes.argmax(axis=1) if self.options else MISSING, MISSING)

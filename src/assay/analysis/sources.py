"""Rows that a postprocessor made, put together again: runs that split their answers are compared sample by sample."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from assay.analysis.per_sample import RunSeries, Series
from assay.stats.clusters import FloatArray


def made_columns(run: RunSeries) -> set[str]:
    """The columns that differ between rows of one sample: the postprocessor made them, they are no question."""
    first: dict[str, Mapping[str, bytes]] = {}
    differing: set[str] = set()
    for row, columns in run.columns.items():
        columns_before = first.setdefault(run.sources.get(row, row), columns)
        if columns_before is not columns:
            differing |= {name for name in {*columns_before, *columns} if columns_before.get(name) != columns.get(name)}
    return differing


def by_source(run: RunSeries, ignored: Collection[str]) -> RunSeries:
    """Combine the rows of each source sample into one entry: their sums, and how many they are."""
    contents: dict[str, bytes] = {}
    for row, columns in run.columns.items():
        source = run.sources.get(row, row)
        if source not in contents:
            digests = sorted((name, digest) for name, digest in columns.items() if name not in ignored)
            contents[source] = hashlib.blake2b(repr(digests).encode(), digest_size=16).digest()
    series = {address: _summed(sample_series, run.sources) for address, sample_series in run.series.items()}
    return replace(run, series=series, contents=contents, sources={}, columns={})


def _summed(series: Series, sources: Mapping[str, str]) -> Series:
    summed = Series(series.measure)
    for row, value in series.values.items():
        source = sources.get(row, row)
        summed.values[source] = summed.values.get(source, 0.0) + value
        summed.sizes[source] = summed.sizes.get(source, 0) + 1
    for row, failure in series.failed.items():
        source = sources.get(row, row)
        if source not in summed.values:
            summed.failed.setdefault(source, failure)
    summed.lost = {sources.get(row, row) for row in series.lost}
    for before, after in ((series.groups, summed.groups), (series.clusters, summed.clusters)):
        for row, label in before.items():
            after.setdefault(sources.get(row, row), label)
    return summed


def gaps(sums: tuple[FloatArray, FloatArray], sizes: tuple[FloatArray, FloatArray]) -> FloatArray:
    """What each sample says of the difference of two means over rows, when samples have rows in different numbers.

    Their mean is the difference of the two means, their spread that of the linearised difference.

    >>> ones = np.ones(2)
    >>> gaps((np.array([0.0, 1.0]), np.array([1.0, 1.0])), (ones, ones)).tolist()
    [1.0, 0.0]
    """
    means = [float(total.sum() / size.sum()) for total, size in zip(sums, sizes, strict=True)]
    parts = [
        (total - mean * size) * len(size) / size.sum() for total, mean, size in zip(sums, means, sizes, strict=True)
    ]
    return np.asarray(means[1] - means[0] + parts[1] - parts[0])

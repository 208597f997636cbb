"""Combine rows that a postprocessor split, so that runs can be compared sample by sample."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from assay.analysis.columns import MISSING, Labels, PackedTexts
from assay.analysis.per_sample import RunSeries, Series
from assay.stats.clusters import FloatArray


def made_columns(run: RunSeries) -> set[str]:
    """Return the columns that differ between rows of one sample: the postprocessor created them."""
    assert run.sources is not None
    first: dict[int, Mapping[str, bytes]] = {}
    differing: set[str] = set()
    for source, columns in zip(run.sources.codes.tolist(), run.columns, strict=True):
        columns_before = first.setdefault(source, columns)
        if columns_before is not columns:
            differing |= {name for name in {*columns_before, *columns} if columns_before.get(name) != columns.get(name)}
    return differing


def by_source(run: RunSeries, ignored: Collection[str]) -> RunSeries:
    """Combine the rows of each source sample into one entry: their sums, and how many they are."""
    assert run.sources is not None
    sources = run.sources
    _, first = np.unique(sources.codes, return_index=True)
    contents = []
    for row in first.tolist():
        digests = sorted((name, digest) for name, digest in run.columns[row].items() if name not in ignored)
        contents.append(hash(repr(digests)))
    return replace(
        run,
        series={address: _summed(series, sources) for address, series in run.series.items()},
        ids=PackedTexts(sources.names),
        contents=np.array(contents, dtype=np.int64),
        sources=None,
        columns=(),
    )


def _summed(series: Series, sources: Labels) -> Series:
    codes, n = sources.codes, len(sources.names)
    present = series.present
    sizes = np.bincount(codes[present], minlength=n)
    numbers: FloatArray = np.bincount(codes[present], series.numbers[present], n).astype(np.float64)
    numbers[sizes == 0] = np.nan
    reasons = _first_labels(series.reasons, sources)
    reasons.codes[sizes > 0] = MISSING
    return Series(
        series.measure,
        numbers=numbers,
        reasons=reasons,
        lost=np.bincount(codes[series.lost], minlength=n) > 0,
        sizes=sizes,
        groups=None if series.groups is None else _first_labels(series.groups, sources),
        clusters=None if series.clusters is None else _first_labels(series.clusters, sources),
    )


def _first_labels(labels: Labels, sources: Labels) -> Labels:
    """The first label that a row of each source has."""
    rows = np.flatnonzero(labels.codes != MISSING)
    with_label, first = np.unique(sources.codes[rows], return_index=True)
    codes = np.full(len(sources.names), MISSING, dtype=np.int32)
    codes[with_label] = labels.codes[rows[first]]
    return Labels(codes=codes, names=labels.names)


def gaps(sums: tuple[FloatArray, FloatArray], sizes: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return each sample's contribution to the difference of two means over rows, for samples with several rows.

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

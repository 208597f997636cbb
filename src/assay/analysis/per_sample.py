"""One number per sample: what a comparison, a calibration and a plan read of a stored run."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

import numpy as np
import orjson

from assay.analysis.means import SampleMean
from assay.errors import SpecError
from assay.interop.numbers import as_number
from assay.metrics.compute import coarsen
from assay.metrics.table import TableColumn
from assay.spec.task import Trials
from assay.stats.clusters import IntArray
from assay.store import runs
from assay.store.decoder import Sample, read_samples
from assay.store.row_address import bounds, unpack
from assay.store.runs import RunRecord
from assay.store.sample_rows import outcome_pages
from assay.store.store import Store
from assay.store.votes import VOTES, has_votes
from assay.summary.actions import excluded
from assay.summary.trials import aggregate
from assay.templates import texts
from assay.types import Rows, Score

PAGE = 5_000
EXCLUDED = "an action of the task excludes it"


@dataclass(slots=True)
class Series:
    """The samples of a run under one measure, by id; `failed` says why a sample has no number.

    The value of a sample is its number, or what it adds to the sums of a measure that is no mean.
    `lost` holds the samples of which an answer or a score failed, be it in one trial of several. With `sizes` a value
    is a sum over so many rows.
    """

    measure: SampleMean
    values: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    groups: dict[str, str] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    macro_groups: dict[str, str] = field(default_factory=dict)
    criteria: dict[str, dict[str, float]] = field(default_factory=dict)
    options: dict[str, dict[str, float]] = field(default_factory=dict)

    def fill_lost(self, end: int) -> None:
        """Put every lost sample at the low (0) or high (1) end of the declared range, if there is one."""
        if self.measure.bounds is not None:
            lost = self.lost if self.measure.macro_by is None else self.lost & self.macro_groups.keys()
            self.values.update(dict.fromkeys(lost, self.measure.bounds[end]))

    def macro_codes(self, ids: Sequence[str]) -> IntArray | None:
        """The macro group of each sample as a number; None if the measure is no mean of group means."""
        return None if self.measure.macro_by is None else _codes(self.macro_groups[sample_id] for sample_id in ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeries:
    """A run with its measures; `contents` holds a digest of every sample, `sources` the sample that a row came from.

    `columns` holds a digest of every column, where asked for; `names` are the columns that its samples have.
    """

    record: RunRecord
    series: Mapping[str, Series]
    contents: dict[str, bytes] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    columns: dict[str, dict[str, bytes]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def clusters(self, ids: Sequence[str], address: str) -> IntArray | None:
        """Rows of one source sample together, and what `cluster_by` joins; None when each stands for itself."""
        if not ids:
            return None
        labels = self.series[address].clusters
        if not self.sources and not labels:
            return None
        joined = _codes(self.sources.get(sample_id, sample_id) for sample_id in ids)
        if labels:
            code_of = {label: code for code, label in enumerate(dict.fromkeys(labels.values()))}
            codes = np.array(
                [code_of[labels[sample_id]] if sample_id in labels else -1 for sample_id in ids], dtype=np.int32
            )
            joined = coarsen(joined, TableColumn(codes=codes, distinct=tuple(code_of)))
        return None if len(np.unique(joined)) == len(ids) else joined


def _codes(labels: Iterable[str]) -> IntArray:
    code_of: dict[str, int] = {}
    return np.array([code_of.setdefault(label, len(code_of)) for label in labels], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What the reading of a run's samples needs to know of it."""

    trials: Trials | None
    fanned: bool
    families: bool
    without: Collection[int]
    ignored: Collection[str]
    columns: bool


def series_of(
    store: Store,
    record: RunRecord,
    measures: Mapping[str, SampleMean],
    *,
    ignored: Collection[str] = (),
    columns: bool = False,
) -> RunSeries:
    """Read the samples of a run once: one number per sample and measure, with the trials of a sample combined.

    `ignored` columns do not count for the content of a sample; `columns` keeps a digest of each of the others.
    """
    if record.summary is None:
        state = runs.state(record)
        raise SpecError(f"run {record.id} is {state} and has no metrics yet: run its file again to finish it")
    spec = record.spec
    options = _Reading(
        trials=spec.trials,
        fanned=spec.fans_out,
        families=spec.dataset.families,
        without=excluded(spec.actions, spec.scorer_keys, store, record.rows_of).positions,
        ignored=ignored,
        columns=columns,
    )
    run = RunSeries(record=record, series={address: Series(m) for address, m in measures.items()})
    with store.connect() as connection:
        voted = has_votes(connection, *bounds(record.rows_of))
    if options.trials is None and not options.fanned and not columns and not voted:
        _read_outcomes(store, run, options)
        return run
    samples = _samples(read_samples(store, record), fanned=options.fanned)
    while page := list(islice(samples, PAGE)):
        _read_page(run, page, options)
    return run


def _read_outcomes(store: Store, run: RunSeries, options: _Reading) -> None:
    """Read a run with one row per sample and no votes: straight from its columns, without an object per row."""
    keys = run.record.spec.scorer_keys
    parts = [
        _Part(series, keys.index(series.measure.scorer) + 1)
        for series in run.series.values()
        if series.measure.scorer in keys
    ]
    names: Any = None
    for page in outcome_pages(store, run.record.rows_of):
        inputs = [orjson.loads(text) for text in page.inputs]
        for key, sample_id, sample in zip(page.keys, page.ids, inputs, strict=True):
            run.contents[sample_id] = _digest(sample, options.ignored)
            # samples of one dataset have the same columns: a set is updated only where they change
            if sample.keys() != names:
                names = sample.keys()
                run.names.update(names)
            if options.families:
                run.sources[sample_id] = str(sample.get("source_id", sample_id))
            excluded_by_action = bool(options.without) and unpack(key)[1] in options.without
            scores, failures = page.scores.get(key, _NOTHING), page.failures.get(key, _NOTHING)
            for part in parts:
                if excluded_by_action:
                    part.series.failed[sample_id] = EXCLUDED
                else:
                    part.read(sample_id, scores, failures)
        rows = Rows(positions=range(len(page.ids)), ids=page.ids, samples=inputs)
        for series in run.series.values():
            _label(series, rows)


_NOTHING: Mapping[int, Any] = {}
MEMO_SIZE = 10_000


class _Part:
    """One measure of a run while its rows are read; scores that look alike are read once and remembered."""

    def __init__(self, series: Series, slot: int) -> None:
        self.series = series
        self._slot = slot
        self._memo: dict[tuple[str, str | None], Any] = {}

    def read(self, sample_id: str, scores: Mapping[int, Any], failures: Mapping[int, Any]) -> None:
        series = self.series
        texts = scores.get(self._slot)
        if texts is None:
            failure = failures.get(0) or failures.get(self._slot)
            if failure is not None:
                series.lost.add(sample_id)
            series.failed[sample_id] = "it was not scored" if failure is None else failure.detail
            return
        try:
            number = self._memo[texts]
        except KeyError:
            values, metadata = texts
            fields = orjson.loads(values)
            if metadata is not None:
                fields = {**orjson.loads(metadata), **fields}
            number = series.measure.read(fields)
            if len(self._memo) >= MEMO_SIZE:
                self._memo.clear()
            self._memo[texts] = number
        if number is None:
            series.failed[sample_id] = _no_number(series)
        else:
            series.values[sample_id] = number


def _no_number(series: Series) -> str:
    return f"it has no number in {' and '.join(series.measure.fields)}"


def source_of(sample: Sample) -> str:
    """The sample that a row came from; a row that failed before it was made is its own."""
    return sample.sample_id if None in sample.failures else sample.sample_id.rpartition("/")[0]


def _samples(samples: Iterator[Sample], *, fanned: bool) -> Iterator[tuple[str, list[Sample]]]:
    """The trials of a sample together; of a fanned one, those of each row."""
    for _, entries in groupby(samples, key=source_of if fanned else lambda sample: sample.sample_id):
        rows: dict[str, list[Sample]] = {}
        for entry in entries:
            rows.setdefault(entry.sample_id, []).append(entry)
        yield from rows.items()


_Page = Sequence[tuple[str, Sequence[Sample]]]


def _read_page(run: RunSeries, page: _Page, options: _Reading) -> None:
    inputs = [group[0].sample for _, group in page]
    for (sample_id, group), sample in zip(page, inputs, strict=True):
        run.contents[sample_id] = _digest(sample, options.ignored)
        run.names.update(sample)
        if options.families:
            run.sources[sample_id] = str(sample.get("source_id", sample_id))
        elif options.fanned:
            run.sources[sample_id] = source_of(group[0])
        if options.columns:
            kept_columns = {name: value for name, value in sample.items() if name not in options.ignored}
            run.columns[sample_id] = {name: _digest({name: value}, ()) for name, value in kept_columns.items()}
        counted = [stored for stored in group if stored.position not in options.without] if options.without else group
        for series in run.series.values():
            if counted:
                _read(series, sample_id, counted, options)
            else:
                series.failed[sample_id] = EXCLUDED
    rows = Rows(positions=range(len(page)), ids=[sample_id for sample_id, _ in page], samples=inputs)
    for series in run.series.values():
        _label(series, rows)


def _digest(sample: Mapping[str, Any], ignored: Collection[str]) -> bytes:
    columns = {name: value for name, value in sample.items() if name not in ignored} if ignored else sample
    text = orjson.dumps(columns, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.blake2b(text, digest_size=16).digest()


def _read(series: Series, sample_id: str, group: Sequence[Sample], options: _Reading) -> None:
    key = series.measure.scorer
    scores = [sample.scores[key] for sample in group if key in sample.scores]
    if len(scores) < len(group) and any(None in sample.failures or key in sample.failures for sample in group):
        series.lost.add(sample_id)
    if not scores:
        failures = [sample.failures[where] for sample in group for where in (None, key) if where in sample.failures]
        series.failed[sample_id] = failures[0].detail if failures else "it was not scored"
        return
    fields: Mapping[str, Any]
    if options.trials is None:
        fields = {**scores[0].metadata, **scores[0].values}
        _read_criteria(series, sample_id, scores[0])
    else:
        fields = aggregate([score.values for score in scores], options.trials)
    number = series.measure.read(fields)
    if number is None:
        series.failed[sample_id] = _no_number(series)
    else:
        series.values[sample_id] = number


def _read_criteria(series: Series, sample_id: str, score: Score) -> None:
    votes = score.metadata.get(VOTES)
    for name in votes if isinstance(votes, Mapping) else ():
        number = as_number(score.values.get(name))
        if number is not None:
            series.criteria.setdefault(name, {})[sample_id] = number
            series.options.setdefault(name, {})[str(score.metadata.get(f"{name}_label"))] = number


def _label(series: Series, rows: Rows) -> None:
    measure = series.measure
    templates = [
        (measure.group_by, series.groups),
        (measure.cluster_by, series.clusters),
        (measure.macro_by, series.macro_groups),
    ]
    for template, into in templates:
        if template is not None:
            column = texts(template, rows, stage="metric")
            into |= {
                sample_id: text
                for place, (sample_id, text) in enumerate(zip(rows.ids, column.values, strict=True))
                if place not in column.failures
            }
    if measure.macro_by is not None:
        for sample_id in rows.ids:
            if sample_id in series.values and sample_id not in series.macro_groups:
                del series.values[sample_id]
                series.failed[sample_id] = "it belongs to no macro group"

"""One value per sample of a stored run, as comparisons, calibrations and plans need it."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from assay.analysis.columns import MISSING, Labels, LabelsBuilder, PackedTexts, RowIndex, compact
from assay.analysis.means import SampleMean
from assay.errors import SpecError
from assay.interop.numbers import as_number
from assay.metrics.compute import coarsen
from assay.metrics.table import TableColumn
from assay.spec.task import Trials
from assay.stats.clusters import FloatArray, IntArray
from assay.store import runs
from assay.store.decoder import Sample, read_samples
from assay.store.row_address import bounds, unpack
from assay.store.runs import RunRecord
from assay.store.sample_rows import OutcomePage, SlotScores, outcome_pages
from assay.store.store import Store
from assay.store.votes import VOTES, has_votes
from assay.summary.actions import excluded
from assay.summary.trials import aggregate
from assay.templates import texts
from assay.types import Rows, Score

PAGE = 5_000
EXCLUDED = "an action of the task excludes it"
NO_SCORE = "it was not scored"
NO_GROUP = "it belongs to no macro group"

BoolArray = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Series:
    """The samples of a run under one measure, as columns with one entry per row; `reasons` explain missing values.

    A row has its number, NaN where it has none; of a measure that is no mean it has the code of what it adds to the
    sums, one of the `entries`, and `numbers` is the number to show for it. `lost` are the rows of which an answer or a
    score failed, be it in one trial of several. With `sizes` a number is a sum over so many rows.
    """

    measure: SampleMean
    numbers: FloatArray
    reasons: Labels
    lost: BoolArray
    codes: IntArray | None = None
    entries: tuple[Any, ...] = ()
    sizes: IntArray | None = None
    groups: Labels | None = None
    clusters: Labels | None = None
    macro_groups: Labels | None = None
    criteria: dict[str, FloatArray] = field(default_factory=dict)
    options: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def present(self) -> BoolArray:
        """Return which rows enter the measure."""
        return np.isfinite(self.numbers) if self.codes is None else self.codes != MISSING

    def shown(self, rows: IntArray) -> FloatArray:
        """Return the value to show for each row: the mean over the rows that it combines; NaN without one."""
        return self.numbers[rows] if self.sizes is None else self.numbers[rows] / self.sizes[rows]

    def failed(self, ids: Sequence[str]) -> dict[str, str]:
        """Return why rows have no value, by id."""
        without = np.flatnonzero(self.reasons.codes != MISSING).tolist()
        return {ids[row]: self.reasons.names[self.reasons.codes[row]] for row in without}

    def fill_lost(self, end: int) -> None:
        """Set every lost row to the low (0) or high (1) end of the declared range, if there is one."""
        if self.measure.bounds is not None:
            lost = self.lost
            if self.macro_groups is not None:
                lost = lost & (self.macro_groups.codes != MISSING)
            self.numbers[lost] = self.measure.bounds[end]

    def macro_codes(self, rows: IntArray) -> IntArray | None:
        """Return the macro group of each row as a number; None if the measure is not a mean of group means."""
        return None if self.macro_groups is None else compact(self.macro_groups.codes[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeries:
    """A run with its measures, row by row: `ids`, and `contents` with a hash of every sample.

    `sources` is the sample that a row came from, where several may come from one. `columns` holds a digest of every
    column, where asked for; `names` are the columns that the samples have. Hashes hold for this process only.
    """

    record: RunRecord
    series: Mapping[str, Series]
    ids: Sequence[str]
    contents: IntArray
    sources: Labels | None = None
    columns: Sequence[dict[str, bytes]] = ()
    names: frozenset[str] = frozenset()

    def index(self) -> RowIndex:
        """An index of the ids."""
        return RowIndex.of(self.ids)

    def clusters(self, rows: IntArray, address: str) -> IntArray | None:
        """Return the cluster of each row: its source sample, joined by `cluster_by`; None if every row is its own."""
        labels = self.series[address].clusters
        if not len(rows) or (self.sources is None and labels is None):
            return None
        joined = np.arange(len(rows)) if self.sources is None else compact(self.sources.codes[rows])
        if labels is not None and bool(labels.present(rows).any()):
            column = TableColumn(codes=labels.codes[rows].astype(np.int32), distinct=labels.names)
            joined = coarsen(joined, column)
        return None if len(np.unique(joined)) == len(rows) else joined


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """The options for reading a run's samples: `ignored` columns do not count as content.

    `columns` keeps a digest of each of the others. With `only_outcomes` a run has so many samples, without a gap and
    with one row each, and the caller knows them: where no measure reads the samples, `ids` and `contents` stay empty.
    """

    ignored: Collection[str] = ()
    columns: bool = False
    only_outcomes: int | None = None


def series_of(
    store: Store, record: RunRecord, measures: Mapping[str, SampleMean], options: ReadOptions | None = None
) -> RunSeries:
    """Read the samples of a run once: one value per sample and measure, with the trials of a sample combined."""
    if record.summary is None:
        state = runs.state(record)
        raise SpecError(f"run {record.id} is {state} and has no metrics yet: run its file again to finish it")
    options = options or ReadOptions()
    spec = record.spec
    without = excluded(spec.actions, spec.scorer_keys, store, record.rows_of).positions
    if options.columns or not has_plain_rows(store, record):
        reading = _Reading(record, measures, without, options)
        samples = _samples(read_samples(store, record), fanned=spec.fans_out)
        while groups := list(islice(samples, PAGE)):
            reading.add_samples(groups)
        return reading.build()
    if options.only_outcomes is not None and _reads_samples(record, measures):
        options = replace(options, only_outcomes=None)
    try:
        return _read_outcomes(store, _Reading(record, measures, without, options), metadata=False)
    except _MetadataNeeded:
        return _read_outcomes(store, _Reading(record, measures, without, options), metadata=True)


def has_plain_rows(store: Store, record: RunRecord) -> bool:
    """Return whether a run has one row per sample and no votes, so that it can be read by columns."""
    with store.connect() as connection:
        voted = has_votes(connection, *bounds(record.rows_of))
    return record.spec.trials is None and not record.spec.fans_out and not voted


def _reads_samples(record: RunRecord, measures: Mapping[str, SampleMean]) -> bool:
    """Return whether the columns of the samples are needed: for families, groups or clusters."""
    labelled = any(m.group_by or m.cluster_by or m.macro_by for m in measures.values())
    return record.spec.dataset.families or labelled


class _MetadataNeeded(Exception):
    """A measure reads a field that some score does not have among its values."""


def _read_outcomes(store: Store, reading: _Reading, *, metadata: bool) -> RunSeries:
    """Read a run of plain rows; without the metadata of its scores, which few measures read, it takes half as long."""
    run_no, consecutive = reading.record.rows_of, reading.options.only_outcomes
    for page in outcome_pages(store, run_no, consecutive=consecutive, metadata=metadata):
        reading.add_outcomes(page)
    return reading.build()


class _Reading:
    """The columns of a run while they are read, page by page."""

    def __init__(
        self,
        record: RunRecord,
        measures: Mapping[str, SampleMean],
        without: Collection[int],
        options: ReadOptions,
    ) -> None:
        self.record = record
        self.options = options
        self._without = without
        self._trials = record.spec.trials
        self._parts = {address: _Part(measure) for address, measure in measures.items()}
        keys = record.spec.scorer_keys
        self._slots = {key: slot for slot, key in enumerate(keys, start=1)}
        self._ids = PackedTexts()
        self._contents = array("q")
        self._families = record.spec.dataset.families
        self._sources = LabelsBuilder() if self._families or record.spec.fans_out else None
        self._columns: list[dict[str, bytes]] = []
        self._names: set[str] = set()

    def add_outcomes(self, page: OutcomePage) -> None:
        """Add rows of a run with one row per sample and no votes: from columns, without an object per row."""
        self._ids.extend(page.ids)
        inputs: list[Any] = [orjson.loads(text) for text in page.inputs]
        self._contents.extend(hash(_canonical(sample, self.options.ignored)) for sample in inputs)
        self._names.update(*inputs)
        if self._families:
            self._add_families(page.ids, inputs)
        size = len(page.keys)
        positions = [unpack(key)[1] for key in page.keys] if self._without else []
        left_out = np.array([position in self._without for position in positions], dtype=np.bool_)
        by_slot = page.by_slot(set(self._slots.values()))
        rows = Rows(positions=range(size), ids=page.ids, samples=inputs)
        for part in self._parts.values():
            slot = self._slots.get(part.measure.scorer, MISSING)
            part.add_page(size, by_slot.get(slot), left_out, lambda row, slot=slot: page.failure(row, slot))
            part.add_labels(rows)

    def add_samples(self, groups: Sequence[tuple[str, Sequence[Sample]]]) -> None:
        """Add samples that are read as objects: with trials, fanned out, or with votes."""
        ids = [sample_id for sample_id, _ in groups]
        inputs = [entries[0].sample for _, entries in groups]
        ignored = self.options.ignored
        self._ids.extend(ids)
        self._contents.extend(hash(_canonical(sample, ignored)) for sample in inputs)
        self._names.update(*inputs)
        if self._families:
            self._add_families(ids, inputs)
        elif self._sources is not None:
            self._sources.extend(source_of(entries[0]) for _, entries in groups)
        if self.options.columns:
            kept = ({name: value for name, value in sample.items() if name not in ignored} for sample in inputs)
            self._columns += ({name: _digest({name: value}) for name, value in columns.items()} for columns in kept)
        rows = Rows(positions=range(len(ids)), ids=ids, samples=inputs)
        for part in self._parts.values():
            for _, entries in groups:
                part.add_entries([entry for entry in entries if entry.position not in self._without], self._trials)
            part.add_labels(rows)

    def _add_families(self, ids: Sequence[str], inputs: Sequence[Mapping[str, Any]]) -> None:
        assert self._sources is not None
        self._sources.extend(
            str(sample.get("source_id", sample_id)) for sample_id, sample in zip(ids, inputs, strict=True)
        )

    def build(self) -> RunSeries:
        return RunSeries(
            record=self.record,
            series={address: part.build() for address, part in self._parts.items()},
            ids=self._ids,
            contents=np.array(self._contents, dtype=np.int64),
            sources=None if self._sources is None else self._sources.build(),
            columns=self._columns,
            names=frozenset(self._names),
        )


MEMO_SIZE = 10_000
NAN = float("nan")
Entry = Any
"""A value, or a sample's contribution to sums; None where the sample has none."""


class _Part:
    """One measure of a run while its rows are read; scores that look alike are read once and remembered."""

    def __init__(self, measure: SampleMean) -> None:
        self.measure = measure
        self.labels = {
            template: LabelsBuilder()
            for template in (measure.group_by, measure.cluster_by, measure.macro_by)
            if template is not None
        }
        self._numbers = array("d")
        self._codes: array[int] | None = None if measure.sums is None else array("q")
        self._code_of: dict[Entry, int] = {}
        self._shown: list[float] = []
        self._reasons = LabelsBuilder()
        self._lost = array("b")
        self._no_number = f"it has no number in {' and '.join(measure.fields)}"
        self._criteria: dict[str, tuple[array[int], array[float]]] = {}
        self._options: dict[str, dict[str, float]] = {}
        self._memo: dict[Any, Entry] = {}

    def add_page(self, size: int, scores: SlotScores | None, left_out: BoolArray, failure: Any) -> None:
        """Add a page of rows: their scores as the store has them, and for a row without one why it failed."""
        entries: list[Entry] = [None] * size
        reasons: list[str | None] = [self._no_number] * size
        lost = np.zeros(size, dtype=np.bool_)
        scored: Sequence[int] = () if scores is None else scores.rows
        values = [] if scores is None else self._entries(scores)
        if len(scored) == size:
            entries = values
        else:
            for row, entry in zip(scored, values, strict=True):
                entries[row] = entry
            for row in set(range(size)).difference(scored):
                detail = failure(row)
                lost[row] = detail is not None
                reasons[row] = NO_SCORE if detail is None else detail
        if left_out.any():
            for row in np.flatnonzero(left_out).tolist():
                entries[row], reasons[row], lost[row] = None, EXCLUDED, False
        self._add(entries, reasons)
        self._lost.frombytes(lost.tobytes())

    def _add(self, entries: Sequence[Entry], reasons: Sequence[str | None]) -> None:
        """Add what rows have, or why they have nothing."""
        if self._codes is None:
            self._numbers.fromlist([NAN if entry is None else entry for entry in entries])
        else:
            codes = [MISSING if entry is None else self._code(entry) for entry in entries]
            self._codes.fromlist(codes)
            self._numbers.fromlist([NAN if code == MISSING else self._shown[code] for code in codes])
        if None in entries:
            pairs = zip(entries, reasons, strict=True)
            self._reasons.extend(reason if entry is None else None for entry, reason in pairs)
        else:
            self._reasons.extend_without(len(entries))

    def _code(self, entry: Entry) -> int:
        code = self._code_of.get(entry)
        if code is None:
            assert self.measure.sums is not None
            code = self._code_of[entry] = len(self._code_of)
            shown = self.measure.sums.shown(entry)
            self._shown.append(NAN if shown is None else shown)
        return code

    def _entries(self, scores: SlotScores) -> list[Entry]:
        memo = self._memo
        score_texts: Sequence[Any] = scores.values
        if scores.metadata:
            score_texts = list(zip(scores.values, scores.metadata, strict=True))
        try:
            return [memo[text] for text in score_texts]
        except KeyError:
            pass
        if len(memo) > MEMO_SIZE:
            memo.clear()
        for text in set(score_texts) - memo.keys():
            if isinstance(text, str):
                fields = orjson.loads(text)
                if not all(name in fields for name in self.measure.fields):
                    raise _MetadataNeeded
            else:
                values, metadata = text
                fields = {**orjson.loads(metadata or "{}"), **orjson.loads(values)}
            memo[text] = self.measure.read(fields)
        return [memo[text] for text in score_texts]

    def add_entries(self, counted: Sequence[Sample], trials: Trials | None) -> None:
        """Add one sample from its rows: its trials, or the only one."""
        key = self.measure.scorer
        if not counted:
            self._add([None], [EXCLUDED])
            self._lost.append(False)
            return
        scores = [sample.scores[key] for sample in counted if key in sample.scores]
        failures = [sample.failures[where] for sample in counted for where in (None, key) if where in sample.failures]
        self._lost.append(len(scores) < len(counted) and bool(failures))
        if not scores:
            self._add([None], [failures[0].detail if failures else NO_SCORE])
            return
        fields: Mapping[str, Any]
        if trials is None:
            fields = {**scores[0].metadata, **scores[0].values}
            self._add_criteria(scores[0])
        else:
            fields = aggregate([score.values for score in scores], trials)
        self._add([self.measure.read(fields)], [self._no_number])

    def _add_criteria(self, score: Score) -> None:
        votes = score.metadata.get(VOTES)
        for name in votes if isinstance(votes, Mapping) else ():
            number = as_number(score.values.get(name))
            if number is not None:
                rows, numbers = self._criteria.setdefault(name, (array("q"), array("d")))
                rows.append(len(self._numbers))
                numbers.append(number)
                self._options.setdefault(name, {})[str(score.metadata.get(f"{name}_label"))] = number

    def add_labels(self, rows: Rows) -> None:
        """Add the groups, clusters and macro groups of further rows."""
        for template, builder in self.labels.items():
            column = texts(template, rows, stage="metric")
            failures = column.failures
            builder.extend(None if place in failures else text for place, text in enumerate(column.values))

    def build(self) -> Series:
        measure = self.measure
        labels = {template: builder.build() for template, builder in self.labels.items()}
        n = len(self._numbers)
        numbers, reasons = np.array(self._numbers, dtype=np.float64), self._reasons.build()
        macro_groups = None if measure.macro_by is None else labels[measure.macro_by]
        if macro_groups is not None:
            alone = np.isfinite(numbers) & (macro_groups.codes == MISSING)
            numbers[alone] = np.nan
            reasons.codes[alone] = len(reasons.names)
            reasons.names = (*reasons.names, NO_GROUP)
        criteria = {}
        for name, (rows, values) in self._criteria.items():
            criteria[name] = np.full(n, np.nan)
            criteria[name][np.array(rows, dtype=np.int64)] = np.array(values, dtype=np.float64)
        return Series(
            measure,
            numbers=numbers,
            reasons=reasons,
            lost=np.array(self._lost, dtype=np.bool_),
            codes=None if self._codes is None else np.array(self._codes, dtype=np.int64),
            entries=tuple(self._code_of),
            groups=None if measure.group_by is None else labels[measure.group_by],
            clusters=None if measure.cluster_by is None else labels[measure.cluster_by],
            macro_groups=macro_groups,
            criteria=criteria,
            options=self._options,
        )


def source_of(sample: Sample) -> str:
    """Return the sample that a row came from; a row that failed before it was created is its own."""
    return sample.sample_id if None in sample.failures else sample.sample_id.rpartition("/")[0]


def _samples(samples: Iterator[Sample], *, fanned: bool) -> Iterator[tuple[str, list[Sample]]]:
    """The trials of a sample together; of a fanned one, those of each row."""
    for _, entries in groupby(samples, key=source_of if fanned else lambda sample: sample.sample_id):
        rows: dict[str, list[Sample]] = {}
        for entry in entries:
            rows.setdefault(entry.sample_id, []).append(entry)
        yield from rows.items()


def _canonical(sample: Mapping[str, Any], ignored: Collection[str]) -> bytes:
    columns = {name: value for name, value in sample.items() if name not in ignored} if ignored else sample
    return orjson.dumps(columns, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _digest(columns: Mapping[str, Any]) -> bytes:
    return hashlib.blake2b(_canonical(columns, ()), digest_size=16).digest()

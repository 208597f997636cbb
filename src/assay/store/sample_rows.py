"""The evidence of a run: samples with their answers, scores, failures; written in bulk, read in pages."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import sub
from typing import Any

import orjson
from sqlalchemy import Connection, Select, Table, and_, func, select

from assay.store.row_address import MAX_POSITIONS, ONE_ROW, STEP, RowLayout, bounds, pack, unpack
from assay.store.schema import failures, samples, scores, unsettled, votes
from assay.store.store import Store, insert_many
from assay.store.stored_text import readable_rows, storable_row
from assay.store.votes import VOTES, has_votes, read_votes
from assay.types import Failure

PAGE = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleColumns:
    """Finished samples, ready to be written: one entry per row in every column."""

    positions: Sequence[int]
    ids: Sequence[str]
    trials: Sequence[int]
    inputs: Sequence[str]
    outputs: Sequence[str | None]
    traces: Sequence[str | None]
    calls: Sequence[str | None]


# not frozen: one per sample of a run that is exported or searched, where the check on every field is felt
@dataclass(slots=True)
class StoredSample:
    """A stored sample with its scores, failures and votes."""

    position: int
    sample_id: str
    trial: int
    input: str
    output: str | None
    trace: str | None
    calls: str | None
    scores: dict[int, tuple[str, str | None]]
    failures: dict[int, Failure]
    votes: dict[int, dict[str, list[dict[str, Any]]]]


def write_samples(connection: Connection, run_no: int, rows: SampleColumns) -> None:
    keys = _keys(run_no, rows.positions, 0)
    columns = (keys, rows.ids, rows.trials, rows.inputs, rows.outputs, rows.traces, rows.calls)
    recorded = not any(rows.trials) and not any(rows.traces) and not any(rows.calls)
    if recorded and connection.dialect.name == "sqlite":
        # recorded answers have neither trials nor calls: a value that is bound costs more than one in the statement
        cursor = connection.connection.cursor()
        try:
            statement = "INSERT INTO samples VALUES (?, ?, 0, ?, ?, NULL, NULL)"
            values: Any = zip(keys, rows.ids, rows.inputs, rows.outputs, strict=True)
            cursor.executemany(statement, values)
        finally:
            cursor.close()
        return
    insert_many(connection, "samples", 7, zip(*columns, strict=True))


def has_sample(connection: Connection, run_no: int, position: int) -> bool:
    """Return whether the sample at a position is stored."""
    query = select(samples.c.id).where(samples.c.id == pack(run_no, position))
    return connection.execute(query).first() is not None


def write_scores(
    connection: Connection,
    run_no: int,
    slot: int,
    positions: Sequence[int],
    values: Sequence[str],
    metadata: Sequence[str | None],
) -> None:
    insert_many(connection, "scores", 3, zip(_keys(run_no, positions, slot), values, metadata, strict=True))


def write_failures(connection: Connection, run_no: int, slot: int, failed: Sequence[tuple[int, Failure]]) -> None:
    rows = [(pack(run_no, position, slot), f.stage, f.kind, f.detail, int(f.retryable)) for position, f in failed]
    if rows:
        insert_many(connection, "failures", 5, rows)


def write_unsettled(connection: Connection, run_no: int, slot: int, positions: Sequence[int]) -> None:
    """Mark scores of which a part failed in a way that a retry may fix."""
    if positions:
        insert_many(connection, "unsettled", 1, [(key,) for key in _keys(run_no, positions, slot)])


def _keys(run_no: int, positions: Sequence[int], slot: int) -> Sequence[int]:
    if isinstance(positions, range) and positions.step == 1 and positions:
        # consecutive positions have equally spaced keys: a range packs one key instead of one per row
        first = pack(run_no, positions[0], slot)
        return range(first, first + len(positions) * STEP, STEP)
    return [pack(run_no, position, slot) for position in positions]


def count_samples(store: Store, run_no: int, layout: RowLayout = ONE_ROW) -> int:
    """Count the stored samples; the trials of one count once, the rows of one separately."""
    distinct = func.count(func.distinct(layout.sample_row(_position(samples.c.id, run_no))))
    counted = func.count() if layout.trials == 1 else distinct
    return _count(store, select(counted).select_from(samples).where(_within(samples.c.id, run_no)))


def count_sources(store: Store, run_no: int, layout: RowLayout) -> int:
    """Count the samples that the stored rows come from."""
    counted = func.count(func.distinct(layout.sample(_position(samples.c.id, run_no))))
    return _count(store, select(counted).select_from(samples).where(_within(samples.c.id, run_no)))


def count_failed_samples(store: Store, run_no: int, layout: RowLayout = ONE_ROW) -> int:
    """Count the samples with at least one failure."""
    counted = func.count(func.distinct(layout.sample_row(_position(failures.c.id, run_no))))
    return _count(store, select(counted).select_from(failures).where(_within(failures.c.id, run_no)))


def _position(key: Any, run_no: int) -> Any:
    """The position in a row's key, in SQL."""
    return (key - bounds(run_no)[0]) // STEP


def count_cut(store: Store, run_no: int) -> int:
    """Count the rows whose answer was cut off at its length limit."""
    cut = samples.c.calls.contains('"cut":true')
    return _count(store, select(func.count()).select_from(samples).where(_within(samples.c.id, run_no), cut))


def has_retryable(store: Store, run_no: int) -> bool:
    """Return whether any failure may be fixed by a retry."""
    with store.connect() as connection:
        return any(connection.execute(query.limit(1)).first() is not None for query in _retryable(run_no))


def drop_retryable(store: Store, run_no: int, *, fanout: int = 1) -> int:
    """Take back the samples with such a failure, all `fanout` rows of each, so that they are done again."""
    span = STEP * fanout
    with store.begin() as connection:
        row_keys = [key for query in _retryable(run_no) for key in connection.execute(query).scalars()]
        keys = sorted({key - key % span for key in row_keys})
        for key in keys:
            for row_id in (samples.c.id, scores.c.id, failures.c.id, unsettled.c.id, votes.c.score_id):
                connection.execute(row_id.table.delete().where(row_id >= key, row_id < key + span))
    return len(keys)


def retryable_positions(store: Store, run_no: int) -> set[int]:
    """Return the positions of failures that a retry may fix."""
    with store.connect() as connection:
        return {unpack(key)[1] for query in _retryable(run_no) for key in connection.execute(query).scalars()}


def _retryable(run_no: int) -> tuple[Select[Any], Select[Any]]:
    """The keys of what failed as a whole, and of scores of which a part failed."""
    return (
        select(failures.c.id).where(_within(failures.c.id, run_no), failures.c.retryable == 1),
        select(unsettled.c.id).where(_within(unsettled.c.id, run_no)),
    )


def drop_scores(connection: Connection, run_no: int, slot: int) -> None:
    """Delete all scores and failures of one scorer of a run, so that it can score again."""
    for row_id in (scores.c.id, failures.c.id, unsettled.c.id, votes.c.score_id):
        of_slot = and_(_within(row_id, run_no), row_id.op("&")(STEP - 1) == slot)
        connection.execute(row_id.table.delete().where(of_slot))


def copy_samples(connection: Connection, source: int, target: int) -> None:
    """Copy the samples and answers of another run, with the failures of samples without an answer."""
    _copy(connection, samples, (source, 0), (target, 0))
    _copy(connection, failures, (source, 0), (target, 0))


def copy_scores(connection: Connection, source: tuple[int, int], target: tuple[int, int]) -> None:
    """Copy the scores and failures of one scorer (run, slot) to another, without scoring again."""
    _copy(connection, scores, source, target)
    _copy(connection, failures, source, target)
    _copy(connection, votes, source, target)


def _copy(connection: Connection, table: Table, source: tuple[int, int], target: tuple[int, int]) -> None:
    moved = pack(target[0], 0, target[1]) - pack(source[0], 0, source[1])
    row_id, *others = table.c
    columns = [row_id + moved, *others]
    rows = select(*columns).where(_within(row_id, source[0]), row_id.op("&")(STEP - 1) == source[1])
    connection.execute(table.insert().from_select([column.name for column in table.c], rows))


def done_positions(store: Store, run_no: int) -> array[int]:
    """The positions of the samples that are stored, in order, at eight bytes each."""
    query = select(samples.c.id).where(_within(samples.c.id, run_no)).order_by(samples.c.id)
    with store.connect() as connection:
        row_keys = connection.execution_options(yield_per=PAGE).execute(query).scalars()
        return array("q", (unpack(key)[1] for key in row_keys))


def _count(store: Store, query: Select[Any]) -> int:
    with store.connect() as connection:
        return int(connection.execute(query).scalar_one())


def failure_counts(store: Store, run_no: int) -> list[tuple[int, str, int]]:
    """Return slot, kind and number of the failures of a run."""
    slot = failures.c.id.op("&")(STEP - 1)
    query = (
        select(slot.label("slot"), failures.c.kind, func.count())
        .where(_within(failures.c.id, run_no))
        .group_by("slot", failures.c.kind)
        .order_by("slot", failures.c.kind)
    )
    with store.connect() as connection:
        return [(int(s), str(kind), int(n)) for s, kind, n in connection.execute(query)]


def first_failure(store: Store, run_no: int) -> str | None:
    """Return why the first failed sample failed; None if none did."""
    query = select(failures.c.detail).where(_within(failures.c.id, run_no)).order_by(failures.c.id).limit(1)
    with store.connect() as connection:
        detail = connection.execute(query).scalar()
    return None if detail is None else str(detail)


@dataclass(frozen=True, slots=True)
class ScorePage:
    """Stored scores of one scorer, in sample order; `inputs` only on request."""

    positions: list[int]
    values: list[str]
    metadata: list[str | None]
    inputs: list[str]
    ids: list[str]

    def part(self, places: Sequence[int]) -> ScorePage:
        """Return some rows of the page; columns that were not requested stay empty."""
        return ScorePage(
            [self.positions[place] for place in places],
            [self.values[place] for place in places],
            [self.metadata[place] for place in places] if self.metadata else [],
            [self.inputs[place] for place in places] if self.inputs else [],
            [self.ids[place] for place in places] if self.ids else [],
        )


def score_pages(
    store: Store, run_no: int, slot: int, *, metadata: bool, inputs: bool, having: str | None = None
) -> Iterator[ScorePage]:
    """Read the scores of one scorer page by page, with only the requested columns.

    With `having`, only scores whose metadata has this field.
    """
    first, high = bounds(run_no)
    wanted = [
        "s.id",
        's."values"',
        *(["s.metadata"] if metadata else []),
        *(["i.input", "i.sample_id"] if inputs else []),
    ]
    source = f"scores s JOIN samples i ON i.id = s.id - {slot}" if inputs else "scores s"
    having_field: tuple[str, ...] = ()
    conditions = f"s.id >= ? AND s.id < ? AND (s.id & {STEP - 1}) = {slot}"
    if having is not None:
        # inside a text the quotes are escaped: only a field's name matches
        having_field = (f'"{having}":',)
        conditions += f" AND {'strpos' if store.is_postgres else 'instr'}(s.metadata, ?) > 0"
    query = f"SELECT {', '.join(wanted)} FROM {source} WHERE {conditions} ORDER BY s.id LIMIT {PAGE}"  # noqa: S608
    with store.connect() as connection:
        voted = metadata and has_votes(connection, first, high)
    low = first
    while True:
        with store.connect() as connection:
            page = raw_rows(connection, query, (low, high, *having_field))
        if not page:
            return
        columns: list[list[Any]] = [list(column) for column in zip(*page, strict=True)]
        keys, values, rest = columns[0], columns[1], columns[2:]
        if voted:
            rest[0] = _with_votes(store, keys, rest[0])
        nothing: list[Any] = []
        yield ScorePage(
            [key - first >> _POSITION_SHIFT for key in keys],
            values,
            rest.pop(0) if metadata else nothing,
            rest.pop(0) if inputs else nothing,
            rest.pop(0) if inputs else nothing,
        )
        low = keys[-1] + 1


_POSITION_SHIFT = STEP.bit_length() - 1


def _with_votes(store: Store, keys: Sequence[int], metadata: Sequence[str | None]) -> list[str | None]:
    """The metadata of a page of scores with their votes, for those who read it as one text."""
    with store.connect() as connection:
        cast = read_votes(connection, keys[0], keys[-1] + 1)
    return [
        text if key not in cast else orjson.dumps({**orjson.loads(text or "{}"), VOTES: cast[key]}).decode()
        for key, text in zip(keys, metadata, strict=True)
    ]


def stored_samples(
    store: Store, run_no: int, *, sample_id: str | None = None, limit: int | None = None, failed: bool = False
) -> Iterator[StoredSample]:
    """The samples of a run with their scores and failures, page by page."""
    low, high = bounds(run_no)
    left = limit
    with store.connect() as connection:
        voted = has_votes(connection, low, high)
    conditions = "s.id >= ? AND s.id < ?"
    named: tuple[str, ...] = ()
    if sample_id is not None:
        conditions += " AND s.sample_id = ?"
        named = (sample_id,)
    if failed:
        conditions += f" AND EXISTS (SELECT 1 FROM failures f WHERE f.id >= s.id AND f.id < s.id + {STEP})"  # noqa: S608
    columns = "s.id, s.sample_id, s.trial, s.input, s.output, s.trace, s.calls"
    query = f"SELECT {columns} FROM samples s WHERE {conditions} ORDER BY s.id LIMIT ?"  # noqa: S608 - our own names
    while left is None or left > 0:
        size = PAGE if left is None else min(left, PAGE)
        with store.connect() as connection:
            page = raw_rows(connection, query, (low, high, *named, size))
            if not page:
                return
            first, last = page[0][0], page[-1][0]
            score_rows, failure_rows = _outcomes_between(connection, first, last + STEP)
            cast = _votes_between(connection, first, last + STEP) if voted else {}
        for key, row_id, trial, sample, output, trace, calls in page:
            yield StoredSample(
                key >> _POSITION_SHIFT & MAX_POSITIONS - 1,
                row_id,
                trial,
                sample,
                output,
                trace,
                calls,
                score_rows.get(key, {}),
                failure_rows.get(key, {}),
                cast.get(key, {}),
            )
        low = last + 1
        left = None if left is None else left - len(page)


BySampleAndSlot = dict[int, dict[int, Any]]


@dataclass(frozen=True, slots=True)
class SlotScores:
    """The scores of one scorer on a page of samples: rows of the page, and the texts of values and metadata."""

    rows: Sequence[int]
    values: Sequence[str]
    metadata: Sequence[str | None]


@dataclass(frozen=True, slots=True)
class OutcomePage:
    """A page of samples as columns, with their scores and failures as they are stored.

    `ids` and `inputs` are empty where only outcomes were asked for, the third part of `scores` where no metadata was.
    """

    keys: Sequence[int]
    ids: Sequence[str]
    inputs: Sequence[str]
    scores: tuple[Sequence[int], Sequence[str], Sequence[str | None]]
    failures: dict[int, str]

    def by_slot(self, slots: Collection[int]) -> dict[int, SlotScores]:
        """The scores of some scorers by slot; a scorer without scores has no entry."""
        score_keys, values, metadata = self.scores
        if len(score_keys) == len(self.keys):
            gaps = set(map(sub, score_keys, self.keys))
            # most runs have one scorer, and it scores every sample
            if len(gaps) == 1 and gaps <= set(slots):
                return {gaps.pop(): SlotScores(range(len(self.keys)), values, metadata)}
        row_of = {key: row for row, key in enumerate(self.keys)}
        places: dict[int, list[int]] = {}
        for place, key in enumerate(score_keys):
            places.setdefault(key & STEP - 1, []).append(place)
        return {
            slot: SlotScores(
                [row_of[score_keys[place] & -STEP] for place in of_slot],
                [values[place] for place in of_slot],
                [metadata[place] for place in of_slot] if metadata else (),
            )
            for slot, of_slot in places.items()
            if slot in slots
        }

    def failure(self, row: int, slot: int) -> str | None:
        """Return why a sample has no score: its answer or its score failed; None if neither did."""
        key = self.keys[row]
        return self.failures.get(key, self.failures.get(key + slot))


def outcome_pages(
    store: Store, run_no: int, *, consecutive: int | None = None, metadata: bool = True
) -> Iterator[OutcomePage]:
    """The outcomes of a run page by page, for those who need neither answers nor conversations of its samples.

    A million samples are read several times faster than as objects; the texts are left to the reader to parse.
    With `consecutive` the run has so many samples without a gap, of which neither ids nor inputs are read.
    """
    low, high = bounds(run_no)
    of_samples = "SELECT id, sample_id, input FROM samples WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
    wanted = 'id, "values", metadata' if metadata else 'id, "values"'
    of_scores = f"SELECT {wanted} FROM scores WHERE id >= ? AND id < ? ORDER BY id"  # noqa: S608 - our own columns
    of_failures = "SELECT id, detail FROM failures WHERE id >= ? AND id < ? ORDER BY id"
    end = None if consecutive is None else low + consecutive * STEP
    while low < high:
        keys: Sequence[int]
        ids: Sequence[str] = ()
        inputs: Sequence[str] = ()
        with store.connect() as connection:
            if end is not None:
                keys = range(low, min(low + PAGE * STEP, end), STEP)
            else:
                page = raw_rows(connection, of_samples, (low, high, PAGE))
                keys, ids, inputs = zip(*page, strict=True) if page else ((), (), ())
            if not keys:
                return
            span = keys[0], keys[-1] + STEP
            scored, failed = (raw_rows(connection, query, span) for query in (of_scores, of_failures))
        columns = tuple(zip(*scored, strict=True)) if scored else ((), ())
        yield OutcomePage(
            keys, ids, inputs, (columns[0], columns[1], columns[2] if len(columns) > 2 else ()), dict(failed)
        )
        low = keys[-1] + STEP


def same_samples(store: Store, run_no: int, other_no: int) -> int | None:
    """Return the number of samples if two runs have the same ones at the same positions without gaps, else None.

    The database compares them where they lie, several times faster than they could be read.
    """
    spans = bounds(run_no), bounds(other_no)
    counts = "SELECT count(*), max(id) FROM samples WHERE id >= ? AND id < ?"
    alike = (
        "SELECT count(*) FROM samples one JOIN samples other ON other.id = one.id + ? "
        "WHERE one.id >= ? AND one.id < ? AND one.sample_id = other.sample_id AND one.input = other.input"
    )
    sizes: set[int] = set()
    with store.connect() as connection:
        for span in spans:
            ((n, last),) = raw_rows(connection, counts, span)
            if not n or last != span[0] + (n - 1) * STEP:
                return None
            sizes.add(n)
        if len(sizes) > 1:
            return None
        ((n_alike,),) = raw_rows(connection, alike, (spans[1][0] - spans[0][0], *spans[0]))
    return n if sizes == {n_alike} else None


def sample_ids(store: Store, run_no: int) -> Iterator[list[str]]:
    """The ids of the samples of a run, page by page."""
    low, high = bounds(run_no)
    query = "SELECT id, sample_id FROM samples WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
    while True:
        with store.connect() as connection:
            page = raw_rows(connection, query, (low, high, PAGE))
        if not page:
            return
        yield [sample_id for _, sample_id in page]
        low = page[-1][0] + 1


def raw_rows(connection: Connection, query: str, parameters: Sequence[Any]) -> list[Any]:
    """Return the rows of a query as driver tuples, several times faster than SQLAlchemy's rows."""
    is_sqlite = connection.dialect.paramstyle == "qmark"
    cursor = connection.connection.cursor()
    try:
        if is_sqlite:
            cursor.execute(query, tuple(parameters))
        else:
            cursor.execute(query.replace("?", "%s"), storable_row(parameters))
        rows = cursor.fetchall()
        return list(rows) if is_sqlite else readable_rows(rows)
    finally:
        cursor.close()


def _outcomes_between(connection: Connection, low: int, high: int) -> tuple[BySampleAndSlot, BySampleAndSlot]:
    """Scores and failures of the samples with keys from `low` up to `high`, by sample and slot."""
    score_rows: BySampleAndSlot = {}
    failure_rows: BySampleAndSlot = {}
    of_scores = 'SELECT id, "values", metadata FROM scores WHERE id >= ? AND id < ? ORDER BY id'
    for key, values, metadata in raw_rows(connection, of_scores, (low, high)):
        slot = key & STEP - 1
        score_rows.setdefault(key - slot, {})[slot] = (values, metadata)
    of_failures = "SELECT id, stage, kind, detail, retryable FROM failures WHERE id >= ? AND id < ? ORDER BY id"
    for key, stage, kind, detail, retryable in raw_rows(connection, of_failures, (low, high)):
        slot = key & STEP - 1
        failure = Failure(stage=stage, kind=kind, detail=detail, retryable=bool(retryable))
        failure_rows.setdefault(key - slot, {})[slot] = failure
    return score_rows, failure_rows


def _votes_between(connection: Connection, low: int, high: int) -> BySampleAndSlot:
    """The votes on the samples with keys from `low` up to `high`, by sample and slot."""
    by_sample: BySampleAndSlot = {}
    for score_id, cast in read_votes(connection, low, high).items():
        slot = score_id & STEP - 1
        by_sample.setdefault(score_id - slot, {})[slot] = cast
    return by_sample


def _within(key: Any, run_no: int) -> Any:
    low, high = bounds(run_no)
    return and_(key >= low, key < high)

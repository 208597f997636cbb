"""What the viewer shows of a store: lists of runs and samples, single samples, comparisons and panels.

Every function reads; nothing is written to the store. What takes long on a large run (an index, a comparison, a panel)
is a function of its own with plain arguments, so that another process can do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import perf_counter

import orjson

from assay.analysis.compare import CompareOptions, compare_runs
from assay.analysis.distributions import Distribution, PanelSummary, panel_summaries
from assay.analysis.index_build import build_index
from assay.analysis.index_file import index_path, progress_path
from assay.analysis.sample_filter import FLAGS, SampleFilter, accepts, address_of
from assay.analysis.sample_index import NotIndexed, SampleIndex
from assay.analysis.sample_query import FlippedSample, parse_condition
from assay.api.stored import find, read_project_store, report_of, run_costs
from assay.errors import SpecError
from assay.report.charts import Chart
from assay.report.html.comparison_section import ComparisonSection, FlipCard, comparison_chart, comparison_section
from assay.report.html.comparison_section import flip_card as card_of
from assay.results.comparison import Flip
from assay.results.costs import CostReport
from assay.results.run import RunReport
from assay.spec.nearest import nearest
from assay.store.decoder import Sample, read_samples, sample_from
from assay.store.run_lookup import count_rows, latest_failures, previous_runs, runs_before
from assay.store.run_spec import RunSpec
from assay.store.runs import RunRecord, differing, state
from assay.store.sample_lookup import RawCall, positions_after, positions_of, raw_calls, samples_at
from assay.store.store import Store
from assay.summary.actions import marked

__all__ = [
    "FLAGS",
    "ComparedRuns",
    "FlipCard",
    "NotIndexed",
    "RawCall",
    "RunCard",
    "RunRecord",
    "RunReport",
    "RunSpec",
    "Sample",
    "SampleFilter",
    "SampleIndex",
    "SampleList",
    "Store",
    "compare_stored",
    "index_stored",
    "parse_condition",
    "report_of",
    "state",
]

SCAN_S = 0.25
"""Without an index a filter looks at samples for so long, then the page says that more may follow."""
PANEL_ITEMS = 20_000
FLIPS_KEPT = 2_000
"""Changed samples of one metric that a page can list; the terminal has all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCard:
    """One line of the list of runs; `previous` is the finished run of the same task before it."""

    record: RunRecord
    state: str
    report: RunReport | None
    settings: dict[str, object]
    previous: RunRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is that is not finished."""

    state: str
    rows: int
    per_minute: float | None
    elapsed_s: float
    heartbeat_age_s: float | None
    failures: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleList:
    """A page of samples; `total` is None where nobody has counted, `after` the position behind which it goes on.

    `more` says that a search was cut short and other samples may match; `problem` what is wrong with the filter.
    """

    samples: tuple[Sample, ...]
    total: int | None
    after: int | None
    more: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFlips:
    """The samples that changed on one metric, losses first; `up` and `down` count all of them."""

    address: str
    letter: str
    against: str
    flips: tuple[Flip, ...]
    up: int
    down: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """A comparison as pages show it."""

    section: ComparisonSection
    chart: Chart
    metrics: tuple[MetricFlips, ...]
    names: dict[str, str]


def run_cards(store: Store, *, before: int | None, text: str, limit: int) -> list[RunCard]:
    """The newest runs, older than one where `before` is its number."""
    records = runs_before(store, before, limit, text=text)
    previous = previous_runs(store, records)
    return [
        RunCard(
            record=record,
            state=state(record),
            report=None if record.summary is None else report_of(store, record),
            settings=settings,
            previous=previous.get(record.id),
        )
        for record, settings in zip(records, differing(records), strict=True)
    ]


def finished_runs(store: Store, *, before: int | None, limit: int) -> list[RunRecord]:
    """The newest finished runs, older than one where `before` is its number."""
    return [record for record in runs_before(store, before, limit) if record.summary is not None]


def previous_run(store: Store, record: RunRecord) -> RunRecord | None:
    """The finished run of the same task before a run."""
    return previous_runs(store, [record]).get(record.id)


def progress_of(store: Store, record: RunRecord) -> Progress:
    """How far a run is, how fast it goes, and its last failures."""
    now = datetime.now(UTC)
    elapsed = (now - datetime.fromisoformat(record.started_at)).total_seconds()
    rows = count_rows(store, record.rows_of)
    beat = None if record.heartbeat_at is None else (now - datetime.fromisoformat(record.heartbeat_at)).total_seconds()
    return Progress(
        state=state(record),
        rows=rows,
        per_minute=60 * rows / elapsed if elapsed > 1 and rows else None,
        elapsed_s=elapsed,
        heartbeat_age_s=beat,
        failures=tuple(latest_failures(store, record.rows_of, 5)),
    )


def index_of(store: Store, record: RunRecord) -> SampleIndex | None:
    """The index of a run where there is one."""
    path = index_path(store.location, record)
    return SampleIndex(path) if record.summary is not None and path.exists() else None


def index_progress(store: Store, record: RunRecord) -> int:
    """How many rows a build has read that is under way."""
    try:
        return int(progress_path(index_path(store.location, record)).read_text(encoding="ascii") or 0)
    except (OSError, ValueError):
        return 0


def index_stored(location: str, run_id: str) -> Path:
    """Build the index of a finished run, unless it is there, and return its file."""
    store = read_project_store(location)
    try:
        record = find(store, run_id)
        path = index_path(store.location, record)
        if not path.exists():
            build_index(store, record, path)
        return path
    finally:
        store.close()


def distributions_of(index: SampleIndex, spec: RunSpec) -> list[Distribution]:
    """The histograms of the first numbers of every scorer; one whose values are only 0 and 1 is left out."""
    chosen = []
    for scorer in spec.scorers:
        prefix = f"{scorer.key}/"
        fields = [a for a in index.numbers if a.startswith(prefix) and "/" not in a.removeprefix(prefix)]
        declared = [f"{prefix}{name}" for name in scorer.ranges if f"{prefix}{name}" in index.numbers]
        for address in (declared or fields)[:2]:
            numbers = index.numbers[address]
            if not numbers.binary:
                field = address.removeprefix(prefix)
                chosen.append(Distribution(scorer=scorer.key, field=field, edges=numbers.edges, counts=numbers.counts))
    return chosen


def list_samples(
    store: Store, record: RunRecord, index: SampleIndex | None, which: SampleFilter, *, after: int | None, size: int
) -> SampleList:
    """A page of the samples that match, behind the one at `after`."""
    if index is not None:
        try:
            return _indexed(store, record, index, which, after=after, size=size)
        except NotIndexed:
            problem = _unknown_field(index, which)
            if problem:
                return SampleList(samples=(), total=0, after=None, problem=problem)
    if which.is_empty:
        positions = positions_after(store, record.rows_of, after, size + 1)
        samples = samples_of(store, record, positions[:size])
        return SampleList(
            samples=tuple(samples), total=None, after=positions[size - 1] if len(positions) > size else None
        )
    return _scanned(store, record, which, after=after, size=size)


def _indexed(
    store: Store, record: RunRecord, index: SampleIndex, which: SampleFilter, *, after: int | None, size: int
) -> SampleList:
    matches = index.matches(which)
    start = 0 if after is None else _place_behind(index, which, after)
    rows = matches.rows[start : start + size]
    positions = index.positions(rows)
    return SampleList(
        samples=tuple(samples_of(store, record, positions)),
        total=len(matches.rows),
        after=positions[-1] if positions and start + size < len(matches.rows) else None,
        more=not matches.complete,
    )


def _place_behind(index: SampleIndex, which: SampleFilter, position: int) -> int:
    """How many matching rows come up to and with a position."""
    place = place_of(index, which, position)
    if place is not None:
        return place + 1
    return 0


def place_of(index: SampleIndex, which: SampleFilter, position: int) -> int | None:
    """The place of a position among the matching rows; None where it is not one of them."""
    row = index.row_of(position)
    if row is None:
        return None
    places = (index.matches(which).rows == row).nonzero()[0]
    return int(places[0]) if len(places) else None


def neighbours(index: SampleIndex, which: SampleFilter, position: int) -> tuple[int | None, int | None, int, int]:
    """The positions before and after one in a filtered list, its place from 1 and the length of the list."""
    rows = index.matches(which).rows
    place = place_of(index, which, position)
    if place is None:
        return None, None, 0, len(rows)
    before = index.positions(rows[place - 1 : place])[0] if place else None
    after = index.positions(rows[place + 1 : place + 2])
    return before, after[0] if after else None, place + 1, len(rows)


def _unknown_field(index: SampleIndex, which: SampleFilter) -> str:
    """What is wrong with a filter that the index cannot answer; empty where the run has all its fields."""
    addresses = index.addresses
    sort = (which.sort or "").removeprefix("-")
    for name in [*(condition.field for condition in which.where), *([sort] if sort else [])]:
        if address_of(name, addresses) is None:
            closest = nearest(name, [*addresses, *(address.partition("/")[2] for address in addresses)])
            return f'The run has no field "{name}".' + (f' Did you mean "{closest}"?' if closest else "")
    if sort and address_of(sort, addresses) not in index.numbers:
        return f'The field "{sort}" has no numbers to sort by.'
    return ""


def _scanned(store: Store, record: RunRecord, which: SampleFilter, *, after: int | None, size: int) -> SampleList:
    """Look at sample after sample until the page is full or the time is up."""
    deadline = perf_counter() + SCAN_S
    matching: list[Sample] = []
    while perf_counter() < deadline:
        positions = positions_after(store, record.rows_of, after, 500)
        for sample in samples_of(store, record, positions, votes=which.show == "divided"):
            after = sample.position
            if accepts(which, sample, record.spec):
                matching.append(sample)
                if len(matching) == size:
                    return SampleList(samples=tuple(matching), total=None, after=after, more=True)
        if len(positions) < 500:
            return SampleList(samples=tuple(matching), total=None, after=None)
    return SampleList(samples=tuple(matching), total=None, after=after, more=True)


def samples_of(store: Store, record: RunRecord, positions: Sequence[int], *, votes: bool = False) -> list[Sample]:
    """The samples at some positions, with the actions that exclude them."""
    keys = record.spec.scorer_keys
    stored = samples_at(store, record.rows_of, positions, n_scorers=len(keys), votes=votes)
    return list(marked((sample_from(row, keys) for row in stored), record.spec.actions, keys))


def calls_of(store: Store, sample: Sample) -> list[RawCall]:
    """The requests and replies behind a sample."""
    return raw_calls(store, [str(call["key"]) for call in sample.calls if call.get("key")])


def compare_stored(location: str, run_ids: Sequence[str]) -> ComparedRuns:
    """Compare runs with the first one."""
    store = read_project_store(location)
    try:
        comparison = compare_runs(store, [find(store, run_id) for run_id in run_ids], CompareOptions())
    finally:
        store.close()
    metrics = []
    for compared in comparison.compared:
        ordered = sorted(compared.flips, key=lambda flip: flip.after - flip.before)
        down = sum(flip.after < flip.before for flip in ordered)
        # both ends: the greatest losses, and the greatest gains
        kept = ordered if len(ordered) <= FLIPS_KEPT else [*ordered[: FLIPS_KEPT // 2], *ordered[-FLIPS_KEPT // 2 :]]
        metrics.append(
            MetricFlips(
                address=compared.address,
                letter=compared.letter,
                against=compared.against,
                flips=tuple(kept),
                up=len(ordered) - down,
                down=down,
            )
        )
    return ComparedRuns(
        section=comparison_section(comparison),
        chart=comparison_chart(comparison),
        metrics=tuple(metrics),
        names={run.letter: run.name or f"{run.letter} {run.run}" for run in comparison.runs},
    )


def positions_by_id(
    store: Store, record: RunRecord, index: SampleIndex | None, sample_ids: Sequence[str]
) -> dict[str, list[int]]:
    """Where samples are, by their ids."""
    return index.find_ids(sample_ids) if index is not None else positions_of(store, record.rows_of, sample_ids)


def flip_cards(
    store: Store,
    sides: Sequence[tuple[RunRecord, SampleIndex | None]],
    metric: MetricFlips,
    flips: Sequence[Flip],
    names: dict[str, str],
) -> list[tuple[FlipCard, int | None]]:
    """Changed samples with the answers of both runs, and the position of each in the second one."""
    ids = [flip.sample_id for flip in flips]
    answers = []
    for record, index in sides:
        where = positions_by_id(store, record, index, ids)
        samples = samples_of(store, record, [position for of_id in where.values() for position in of_id])
        by_id: dict[str, list[Sample]] = {}
        for sample in samples:
            by_id.setdefault(sample.sample_id, []).append(sample)
        answers.append(by_id)
    cards = []
    for flip in flips:
        before, after = (by_id.get(flip.sample_id, []) for by_id in answers)
        flipped = FlippedSample(
            address=metric.address,
            letter=metric.letter,
            against=metric.against,
            flip=flip,
            sample=(before or after)[0].sample if before or after else {},
            answers_before=tuple(sample.output for sample in before),
            answers_after=tuple(sample.output for sample in after),
        )
        cards.append((card_of(flipped, names), after[0].position if after else None))
    return cards


def panel_stored(location: str, run_id: str) -> list[PanelSummary]:
    """How the panels of a run voted."""
    store = read_project_store(location)
    try:
        return panel_summaries(islice(read_samples(store, find(store, run_id)), PANEL_ITEMS))
    finally:
        store.close()


def costs_stored(location: str) -> CostReport:
    """What the runs of a store paid for."""
    store = read_project_store(location)
    try:
        return run_costs(store)
    finally:
        store.close()


def has_panel(spec: RunSpec) -> bool:
    """Whether judges voted in a run."""
    return any(scorer.rubrics or scorer.type == "rubric" for scorer in spec.scorers)


def size_of(record: RunRecord) -> int:
    """How many rows a finished run has, trials counted."""
    if record.summary is None:
        return 0
    return int(orjson.loads(record.summary)["n_samples"]) * record.spec.num_trials


def find_run(store: Store, run_id: str) -> RunRecord | None:
    """The run with an id or name; None where there is none."""
    try:
        return find(store, run_id)
    except SpecError:
        return None

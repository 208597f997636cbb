"""Runs beside a baseline: samples matched by id and content, every headline mean compared pair by pair."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from string import ascii_uppercase

import numpy as np
import orjson

from assay.analysis.columns import MISSING, LateTexts
from assay.analysis.means import SampleMean, answer_columns, one_mean, sample_measures
from assay.analysis.per_sample import ReadOptions, RunSeries, Series, has_plain_rows, series_of
from assay.analysis.sources import by_source, gaps, made_columns
from assay.builtin import registry
from assay.errors import Problem, SpecError
from assay.prepare.describe import completed
from assay.registry import Registry
from assay.results.comparison import Compared, Comparison, Flips, Matching, NamedRun, Part
from assay.results.rules import one_address
from assay.results.run import SampleCounts, invalid_count
from assay.spec.nearest import listing, nearest
from assay.stats import interval
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.interval import z_value
from assay.stats.macro import macro_mean, paired_macro
from assay.stats.multiple import benjamini_hochberg, holm
from assay.stats.paired import Paired, Verdict, items_to_decide, lies_outside, paired, verdict
from assay.stats.paired_sums import PairedSums, paired_sums
from assay.stats.random import generator
from assay.store.decoder import read_samples
from assay.store.run_spec import changed_settings
from assay.store.runs import RunRecord, differing
from assay.store.sample_rows import same_samples, sample_ids
from assay.store.store import Store
from assay.types import MetricValue

MOST_RUNS = len(ascii_uppercase)
IDS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """The options of a comparison.

    `metrics` are addresses or ends of them, all headline means when there are none; `ignored` columns may differ
    between the samples of two runs; `lower_is_better` names the numbers of which less is better. `worst_case` puts
    failed samples of the baseline at the high end of their declared range, those of the other runs at the low end.
    `all_pairs` compares every run with every other one instead of with the first. `names` stand for the letters of the
    runs in notes.
    """

    metrics: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    margin: float | None = None
    level: float = 0.95
    worst_case: bool = False
    all_pairs: bool = False
    names: tuple[str, ...] = tuple(ascii_uppercase)


def compare_runs(store: Store, records: Sequence[RunRecord], options: CompareOptions) -> Comparison:
    """Compare runs with the first one, the baseline; Holm adjusts over every metric of every other run."""
    if len(records) < 2:
        raise SpecError("a comparison needs two runs or more: a baseline, and what is compared with it")
    if len(records) > MOST_RUNS:
        raise SpecError(f"at most {MOST_RUNS} runs can be compared at once")
    ignored = {*options.ignored, *(name for record in records for name in answer_columns(record))}
    measures, notes = _measures(store, records, options)
    read = _read(store, records, measures, ignored, options)
    _refuse_unknown(options.ignored, read)
    lettered = list(zip(ascii_uppercase, read, strict=False))
    pairs = list(combinations(lettered, 2)) if options.all_pairs else [(lettered[0], other) for other in lettered[1:]]
    matches = [_match(store, first, other) for first, other in pairs]
    matching = tuple(match for match, _ in matches)
    every = [
        _compare_metric(
            _Differ(first, first.series[address], other.series[address], options.level),
            other,
            match,
            rows,
            filled=options.worst_case,
        )
        for ((_, first), (_, other)), (match, rows) in zip(pairs, matches, strict=True)
        for address in measures[0]
    ]
    return Comparison(
        runs=tuple(
            NamedRun(
                letter=letter,
                run=record.id,
                task=record.task,
                model=record.model,
                name=record.name,
                config=record.spec.config,
                settings=settings,
            )
            for letter, record, settings in zip(ascii_uppercase, records, differing(records), strict=False)
        ),
        matching=matching,
        compared=tuple(_decided(every, options)),
        level=options.level,
        margin=options.margin,
        all_pairs=options.all_pairs,
        notes=tuple(dict.fromkeys(notes)),
    )


def _read(
    store: Store,
    records: Sequence[RunRecord],
    measures: Sequence[Mapping[str, SampleMean]],
    ignored: Collection[str],
    options: CompareOptions,
) -> list[RunSeries]:
    """Every run once; where one has several rows per sample, all of them sample by sample."""
    fanned = any(record.spec.fans_out for record in records)
    # a name to ignore is checked against the columns of the samples
    shared = None if fanned or options.ignored else _shared_samples(store, records)
    reading = ReadOptions(ignored=ignored, columns=fanned, only_outcomes=shared)
    read: dict[str, RunSeries] = {}
    for record, means in zip(records, measures, strict=True):
        if record.id not in read:
            read[record.id] = series_of(store, record, means, reading)
    if shared is not None:
        ids, contents = LateTexts(shared, partial(sample_ids, store, records[0].rows_of)), np.zeros(shared, np.int64)
        read = {name: replace(run, ids=ids, contents=contents) for name, run in read.items()}
    if options.worst_case:
        for record in records:
            for series in read[record.id].series.values():
                series.fill_lost(1 if record.id == records[0].id else 0)
    if fanned:
        output_columns = {name for run in read.values() for name in made_columns(run)}
        read = {name: by_source(run, output_columns) for name, run in read.items()}
    return [read[record.id] for record in records]


def _shared_samples(store: Store, records: Sequence[RunRecord]) -> int | None:
    """Return the number of samples if all runs have the same ones in the same order without gaps, else None."""
    first, *others = records
    datasets = {record.spec.dataset.sha256 for record in records}
    if len(datasets) > 1 or None in datasets or not all(has_plain_rows(store, record) for record in records):
        return None
    sizes = {same_samples(store, first.rows_of, other.rows_of) for other in others}
    return sizes.pop() if len(sizes) == 1 else None


def _common_rows(first: RunSeries, other: RunSeries) -> tuple[IntArray, IntArray]:
    """The rows of the samples that two runs have by their ids, in the order of the first."""
    if first.ids is other.ids or first.ids == other.ids:
        every = np.arange(len(first.ids))
        return every, every
    theirs = other.index().rows_of(first.ids)
    ours = np.flatnonzero(theirs != MISSING)
    return ours, theirs[ours]


def _refuse_unknown(ignored: Sequence[str], read: Sequence[RunSeries]) -> None:
    """A column that no sample has cannot be ignored: it is misspelt."""
    columns = dict.fromkeys(name for run in read for name in sorted(run.names))
    problems = [
        Problem(message=f'no sample has a column "{name}" to ignore; there are {listing(columns)}', suggestion=closest)
        for name in ignored
        if name not in columns
        for closest in [nearest(name, columns)]
    ]
    if problems:
        raise SpecError(problems)


def _measures(
    store: Store, records: Sequence[RunRecord], options: CompareOptions
) -> tuple[list[dict[str, SampleMean]], list[str]]:
    """Return the metrics that all runs have, for each run, and the names of those left out."""
    kinds = registry()
    every = [sample_measures(store, record, kinds) for record in records]
    if any(record.spec.fans_out for record in records):
        # rows of an answer are summed over their sample, which says nothing of a confusion table or of groups of rows
        every = [
            {address: mean for address, mean in means.items() if mean.sums is None and mean.macro_by is None}
            for means in every
        ]
    shared = [address for address in every[0] if all(address in other for other in every[1:])]
    common = [address for address in shared if len({means[address].macro_by for means in every}) == 1]
    if not common:
        described = "; ".join(f"{record.id} has {listing(means)}" for record, means in zip(records, every, strict=True))
        raise SpecError(f"the runs have no metric of the same name to compare: {described}")
    if options.metrics:
        chosen = [one_mean(store, records, common, name) for name in options.metrics]
    else:
        headline = [address for address in common if all(means[address].headline for means in every)] or common
        chosen = [address for address in headline if every[0][address].sums is None] or headline
    left_out = dict.fromkeys(address for means in every for address in means if address not in shared)
    notes = [f"not in all runs, so not compared: {listing(left_out)}"] if left_out else []
    regrouped = [address for address in shared if address not in common]
    if regrouped:
        notes.append(f"macro_by differs between the runs, so not compared: {listing(regrouped)}")
    notes += [
        f"the runs are of different tasks: {one.task} and {other.task}"
        for one, other in pairwise(records)
        if one.task != other.task
    ]
    scorers = {means[address].scorer: None for means in every for address in chosen}
    for start in range(len(records) - 1 if options.all_pairs else 1):
        notes += _sameness(records[start:], scorers, kinds, options.names[start:])
    notes += [f"run {record.id} is partial: it may lack samples" for record in records if record.status == "partial"]
    return [{address: means[address] for address in dict.fromkeys(chosen)} for means in every], notes


def _sameness(
    records: Sequence[RunRecord], keys: Collection[str], kinds: Registry, names: Sequence[str]
) -> Iterator[str]:
    """Note runs that are identical, and scorers that differ between runs."""
    first, *rest = records
    before = completed(first.spec, kinds)
    for name, record in zip(names[1:], rest, strict=False):
        if record.id == first.id:
            yield f"{names[0]} and {name} are the same run, {record.id}"
        after = completed(record.spec, kinds)
        for key in keys:
            one, other = before.scorer(key), after.scorer(key)
            changed = changed_settings(one, other) if one is not None and other is not None else []
            if changed:
                verb = "differs" if len(changed) == 1 else "differ"
                yield (
                    f"{key} is not the same scorer in {names[0]} and {name}: {listing(changed)} {verb}; what changed "
                    "may be the scorer and not the answers"
                )


def dataset_notes(records: Sequence[RunRecord], matching: Sequence[Matching], names: Sequence[str]) -> Iterator[str]:
    """Note runs whose samples or dataset files differ from the baseline's."""
    first, *rest = records
    for name, record, match in zip(names[1:], rest, matching, strict=False):
        differing = {
            f"only in {names[0]}": len(match.only_before),
            f"only in {name}": len(match.only_after),
            "with other content": len(match.other_content),
        }
        parts = [f"{n:,} {kind}" for kind, n in differing.items() if n]
        if parts:
            yield f"the datasets of {names[0]} and {name} differ: samples {', '.join(parts)}"
        elif _live_digest(first) != _live_digest(record):
            yield f"the datasets of {names[0]} and {name} are different files; the samples compared are the same"


def _live_digest(record: RunRecord) -> str | None:
    """Return the digest of a run's dataset; None if it includes the answers, which may differ."""
    return None if answer_columns(record) else record.spec.dataset.sha256


Pairs = tuple[IntArray, IntArray]
"""The rows of the same samples in two runs."""


def _match(store: Store, baseline: tuple[str, RunSeries], compared: tuple[str, RunSeries]) -> tuple[Matching, Pairs]:
    (against, first), (letter, other) = baseline, compared
    ours, theirs = _common_rows(first, other)
    equal = first.contents[ours] == other.contents[theirs]
    changed = tuple(first.ids[row] for row in ours[~equal].tolist())
    matching = Matching(
        letter=letter,
        against=against,
        n_common=int(equal.sum()),
        only_before=_ids_without(first.ids, ours),
        only_after=_ids_without(other.ids, theirs),
        other_content=changed,
    )
    if not matching.n_common:
        raise SpecError(_nothing_in_common(store, first, other, changed))
    return matching, (ours[equal], theirs[equal])


def _ids_without(ids: Sequence[str], rows: IntArray) -> tuple[str, ...]:
    """The ids of all other rows."""
    others = np.ones(len(ids), dtype=np.bool_)
    others[rows] = False
    return tuple(ids[row] for row in np.flatnonzero(others).tolist())


def _nothing_in_common(store: Store, first: RunSeries, other: RunSeries, changed: Sequence[str]) -> str:
    head = f"runs {first.record.id} and {other.record.id} have no sample in common"
    if not changed:
        ids = (listing(list(run.ids), most=IDS_SHOWN) for run in (first, other))
        return f"{head}: their ids are {' and '.join(ids)}"
    rows = [next(read_samples(store, run.record, sample_id=changed[0]), None) for run in (first, other)]
    one, two = ({} if row is None else row.sample for row in rows)
    columns = [name for name in dict.fromkeys([*one, *two]) if one.get(name) != two.get(name)]
    return (
        f"{head}: under the same ids the samples differ in {listing(columns) if columns else 'content'}; "
        "if that is an answer and not the question, name it with --ignore COLUMN"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairedMetric:
    """A comparison of one metric before adjustment; `values` holds both runs' values on their common `rows`."""

    letter: str
    against: str
    address: str
    ids: Sequence[str]
    rows: IntArray
    values: tuple[FloatArray, FloatArray]
    paired: Paired
    groups: Mapping[str, Paired]
    criteria: Mapping[str, Paired]
    failed: tuple[int, int]
    counts: tuple[SampleCounts, SampleCounts]
    range_known: bool
    numbers: tuple[MetricValue, MetricValue]


def _compare_metric(
    differ: _Differ, other: RunSeries, matching: Matching, matched: Pairs, *, filled: bool
) -> _PairedMetric:
    first, before, after = differ.first, differ.before, differ.after
    ours, theirs = matched
    present = before.present[ours] & after.present[theirs]
    rows = ours[present], theirs[present]
    labels = before.groups
    difference, numbers = differ.whole(rows)
    groups = {}
    if labels is not None:
        codes = labels.codes[rows[0]]
        for code in sorted(set(np.unique(codes).tolist()) - {MISSING}, key=labels.names.__getitem__):
            in_group = codes == code
            groups[labels.names[code]] = differ.of((rows[0][in_group], rows[1][in_group]), labels.names[code])
    criteria = {}
    for name in before.criteria:
        if name in after.criteria:
            sides = before.criteria[name][ours], after.criteria[name][theirs]
            criteria[name] = differ.values(*sides, ours, name)
    return _PairedMetric(
        letter=matching.letter,
        against=matching.against,
        address=before.measure.address,
        ids=first.ids,
        rows=rows[0],
        values=(before.shown(rows[0]), after.shown(rows[1])),
        paired=difference,
        groups=groups,
        criteria=criteria,
        failed=(int((~before.present[ours]).sum()), int((~after.present[theirs]).sum())),
        counts=(_counts(first, before, ours, filled=filled), _counts(other, after, theirs, filled=filled)),
        range_known=before.measure.bounds is not None and after.measure.bounds is not None,
        numbers=numbers,
    )


def _counts(run: RunSeries, series: Series, matched: IntArray, *, filled: bool) -> SampleCounts:
    """Count how many of the common samples are in the metric of one run, failed, or were excluded.

    Failed samples that were `filled` with the end of a range have a value, but no score: they are not part of n.
    """
    present, lost = series.present[matched], series.lost[matched]
    without = ~present | lost if filled else ~present
    scorers = [] if run.record.summary is None else orjson.loads(run.record.summary)["scorers"]
    detail = next((scorer.get("detail") for scorer in scorers if scorer["key"] == series.measure.scorer), None)
    return SampleCounts(
        n=int((~without).sum()),
        failed=int(lost.sum()),
        excluded=int((without & ~lost).sum()),
        invalid=invalid_count(detail),
        total=len(matched),
    )


@dataclass(frozen=True, slots=True)
class _Differ:
    """Pairs the samples of two runs; the same runs and seed give the same p-values."""

    first: RunSeries
    before: Series
    after: Series
    level: float

    def whole(self, rows: Pairs) -> tuple[Paired, tuple[MetricValue, MetricValue]]:
        """Return the difference over these samples, and the value of either run on them."""
        if self.before.codes is not None and len(rows[0]):
            number_pair = self.sums(rows)
            return number_pair.difference, (number_pair.before, number_pair.after)
        return self.of(rows), (self.mean(self.before, rows[0], rows[0]), self.mean(self.after, rows[1], rows[0]))

    def sums(self, rows: Pairs, part: str = "") -> PairedSums:
        """Return the difference of two statistics of sums over these samples."""
        measure, before, after = self.before.measure, self.before, self.after
        assert measure.sums is not None
        assert before.codes is not None
        assert after.codes is not None
        # most samples add the same as others: only distinct pairs become objects
        joined = before.codes[rows[0]] * len(after.entries) + after.codes[rows[1]]
        distinct, codes, counts = np.unique(joined, return_inverse=True, return_counts=True)
        entries = [
            (before.entries[pair // len(after.entries)], after.entries[pair % len(after.entries)])
            for pair in distinct.tolist()
        ]
        pair = measure.sums.compare(measure.value, [one for one, _ in entries], [other for _, other in entries], counts)
        pair = replace(pair, codes=pair.codes[codes])
        return paired_sums(pair, self.first.clusters(rows[0], measure.address), rng=self._rng(part), level=self.level)

    def of(self, rows: Pairs, part: str = "") -> Paired:
        """The difference over these samples; samples of several rows count for all of them."""
        before, after = self.before, self.after
        if before.codes is not None and len(rows[0]):
            return self.sums(rows, part).difference
        sides = before.shown(rows[0]), after.shown(rows[1])
        if before.sizes is None or after.sizes is None or len(rows[0]) < 2:
            return self.values(*sides, rows[0], part)
        sums = before.numbers[rows[0]], after.numbers[rows[1]]
        sizes = before.sizes[rows[0]].astype(np.float64), after.sizes[rows[1]].astype(np.float64)
        gap = gaps(sums, sizes)
        difference = self.values(np.zeros_like(gap), gap, rows[0], part)
        wins, losses = (int(((sides[1] - sides[0]) * way > 0).sum()) for way in (1, -1))
        return replace(difference, wins=wins, losses=losses, ties=len(gap) - wins - losses)

    def values(self, before: FloatArray, after: FloatArray, rows: IntArray, part: str) -> Paired:
        """Return the difference of two columns where both have a value; the rows are those of the first run."""
        measure = self.before.measure
        both = np.isfinite(before) & np.isfinite(after)
        if self.before.macro_groups is not None:
            both &= self.before.macro_groups.present(rows)
        before, after, rows = before[both], after[both], rows[both]
        groups, clusters = self.before.macro_codes(rows), self.first.clusters(rows, measure.address)
        rng = self._rng(part)
        if groups is not None:
            return paired_macro((before, after), groups, clusters, rng=rng, bounds=measure.bounds, level=self.level)
        return paired(before, after, clusters, rng=rng, bounds=measure.bounds, level=self.level)

    def mean(self, side: Series, rows: IntArray, first_rows: IntArray) -> MetricValue:
        """Return the mean of one run over the common samples; clusters and groups are those of the first run."""
        clusters = self.first.clusters(first_rows, self.before.measure.address)
        numbers, bounds = side.numbers[rows], side.measure.bounds
        groups = self.before.macro_codes(first_rows)
        if groups is not None:
            return macro_mean(numbers, groups, clusters, bounds=bounds, level=self.level)
        if side.sizes is None:
            return interval.mean(numbers, clusters, rng=self._rng(), bounds=bounds, level=self.level)
        sizes = side.sizes[rows].astype(np.float64)
        if bool(((numbers >= 0) & (numbers <= sizes)).all()):
            return interval.ratio(numbers, sizes, clusters, level=self.level)
        return MetricValue(value=float(numbers.sum() / sizes.sum()), n=int(sizes.sum()))

    def _rng(self, part: str = "") -> np.random.Generator:
        return generator(self.first.record.seed, f"compare/{self.before.measure.address}[{part}]")


def _decided(every: Sequence[_PairedMetric], options: CompareOptions) -> list[Compared]:
    adjusted = holm([result.paired.p for result in every])
    addresses = list(dict.fromkeys(result.address for result in every))
    lower = {one_address(addresses, name) for name in options.lower_is_better}
    return [_compared(result, p, options, result.address in lower) for result, p in zip(every, adjusted, strict=True)]


_OPPOSITE: dict[Verdict, Verdict] = {"better": "worse", "worse": "better"}


def _compared(result: _PairedMetric, p: float | None, options: CompareOptions, lower: bool) -> Compared:
    difference, (before, after) = result.paired, result.values
    decision, without_margin = verdict(difference, p, margin=options.margin), verdict(difference, p)
    numbers = np.concatenate([before, after])
    numbers = numbers[np.isfinite(numbers)]
    # NaN, where a sample has no number to show, differs from nothing
    changed = np.flatnonzero((before > after) | (before < after))
    return Compared(
        letter=result.letter,
        against=result.against,
        address=result.address,
        before=result.numbers[0],
        after=result.numbers[1],
        found=difference,
        p_adjusted=p,
        verdict=_OPPOSITE.get(decision, decision) if lower else decision,
        apart=_OPPOSITE.get(without_margin, without_margin) if lower else without_margin,
        n_to_decide=_to_decide(difference, decision, options),
        flips=Flips(result.ids, result.rows[changed], before[changed], after[changed]),
        failed_before=result.failed[0],
        failed_after=result.failed[1],
        counts_before=result.counts[0],
        counts_after=result.counts[1],
        range_known=result.range_known,
        groups=_parts(result.groups),
        criteria=_parts(result.criteria),
        in_points=bool(len(numbers)) and bool(numbers.min() >= 0 and numbers.max() <= 1),
    )


def _parts(by_part: Mapping[str, Paired]) -> tuple[Part, ...]:
    adjusted = benjamini_hochberg([part.p for part in by_part.values()])
    return tuple(
        Part(name=name, found=part, p_adjusted=p) for (name, part), p in zip(by_part.items(), adjusted, strict=True)
    )


def _to_decide(difference: Paired, decision: Verdict, options: CompareOptions) -> int | None:
    """Return how many samples would decide an open comparison, for a difference as large as observed or the margin."""
    value = difference.difference.value
    if value is None or decision not in ("undecided", "no clear difference"):
        return None
    if options.margin is not None and not difference.share_squared:
        z = z_value(2 * options.level - 1) ** 2
        needed = int(np.ceil(z * (1 - options.margin) / options.margin)) if options.margin else None
    else:
        # An interval that lies outside the margin leaves only the difference itself to be shown.
        margin = options.margin
        size = value if margin is None or lies_outside(difference.narrow, margin) else margin
        needed = items_to_decide(difference.share_squared, size, level=options.level)
    return needed if needed is not None and needed > difference.n else None

"""Runs beside a baseline: samples matched by id and content, every headline mean compared pair by pair."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from string import ascii_uppercase

import numpy as np
import orjson

from assay.analysis.means import SampleMean, answer_columns, one_mean, sample_measures
from assay.analysis.per_sample import RunSeries, Series, series_of
from assay.analysis.sources import by_source, gaps, made_columns
from assay.builtin import registry
from assay.errors import Problem, SpecError
from assay.prepare.describe import completed
from assay.registry import Registry
from assay.results.comparison import Compared, Comparison, Flip, Matching, NamedRun, Part
from assay.results.rules import one_address
from assay.results.run import SampleCounts, invalid_count
from assay.spec.nearest import listing, nearest
from assay.stats import interval
from assay.stats.clusters import FloatArray
from assay.stats.interval import z_value
from assay.stats.macro import macro_mean, paired_macro
from assay.stats.multiple import benjamini_hochberg, holm
from assay.stats.paired import Paired, Verdict, items_to_decide, lies_outside, paired, verdict
from assay.stats.paired_sums import PairedSums, paired_sums
from assay.stats.random import generator
from assay.store.decoder import read_samples
from assay.store.run_spec import changed_settings
from assay.store.runs import RunRecord, differing
from assay.store.store import Store
from assay.types import MetricValue

MOST_RUNS = len(ascii_uppercase)
IDS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What decides a comparison.

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
    """The first run is the baseline; Holm's family is every number of every other run."""
    if len(records) < 2:
        raise SpecError("a comparison needs two runs or more: a baseline, and what is compared with it")
    if len(records) > MOST_RUNS:
        raise SpecError(f"at most {MOST_RUNS} runs can be compared at once")
    ignored = {*options.ignored, *(name for record in records for name in answer_columns(record))}
    measures, notes = _measures(store, records, options)
    read = _read(store, records, measures, ignored, worst_case=options.worst_case)
    _refuse_unknown(options.ignored, read)
    lettered = list(zip(ascii_uppercase, read, strict=False))
    pairs = list(combinations(lettered, 2)) if options.all_pairs else [(lettered[0], other) for other in lettered[1:]]
    matching = tuple(_match(store, first, other) for first, other in pairs)
    every = [
        _compare_metric(first, other, address, match, options)
        for ((_, first), (_, other)), match in zip(pairs, matching, strict=True)
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
    *,
    worst_case: bool,
) -> list[RunSeries]:
    """Every run once; where one has several rows per sample, all of them sample by sample."""
    fanned = any(record.spec.fans_out for record in records)
    read: dict[str, RunSeries] = {}
    for record, means in zip(records, measures, strict=True):
        if record.id not in read:
            read[record.id] = series_of(store, record, means, ignored=ignored, columns=fanned)
    if worst_case:
        for record in records:
            for series in read[record.id].series.values():
                series.fill_lost(1 if record.id == records[0].id else 0)
    if fanned:
        output_columns = {name for run in read.values() for name in made_columns(run)}
        read = {name: by_source(run, output_columns) for name, run in read.items()}
    return [read[record.id] for record in records]


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
    """For every run the numbers that all of them have, and what is left out."""
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
    """What a reader must know of runs that are one, or whose scorers are not."""
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
    """Say which runs have other samples than the baseline, or another file where answers are not part of it."""
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
    """The digest of a run's dataset; None where the dataset holds the answers too, which may differ."""
    return None if answer_columns(record) else record.spec.dataset.sha256


def _match(store: Store, baseline: tuple[str, RunSeries], compared: tuple[str, RunSeries]) -> Matching:
    (against, first), (letter, other) = baseline, compared
    here, theirs = first.contents, other.contents
    both = [sample_id for sample_id in here if sample_id in theirs]
    changed = tuple(sample_id for sample_id in both if here[sample_id] != theirs[sample_id])
    matching = Matching(
        letter=letter,
        against=against,
        n_common=len(both) - len(changed),
        only_before=tuple(sample_id for sample_id in here if sample_id not in theirs),
        only_after=tuple(sample_id for sample_id in theirs if sample_id not in here),
        other_content=changed,
    )
    if not matching.n_common:
        raise SpecError(_nothing_in_common(store, first, other, changed))
    return matching


def _nothing_in_common(store: Store, first: RunSeries, other: RunSeries, changed: Sequence[str]) -> str:
    head = f"runs {first.record.id} and {other.record.id} have no sample in common"
    if not changed:
        ids = (listing(list(run.contents), most=IDS_SHOWN) for run in (first, other))
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
    """A comparison before the others are known; `values` holds the numbers of the samples that both runs have."""

    letter: str
    against: str
    address: str
    values: tuple[Mapping[str, float], Mapping[str, float]]
    paired: Paired
    groups: Mapping[str, Paired]
    criteria: Mapping[str, Paired]
    failed: tuple[int, int]
    counts: tuple[SampleCounts, SampleCounts]
    range_known: bool
    numbers: tuple[MetricValue, MetricValue]


def _compare_metric(
    first: RunSeries, other: RunSeries, address: str, matching: Matching, options: CompareOptions
) -> _PairedMetric:
    before, after = first.series[address], other.series[address]
    matched = [sample_id for sample_id in first.contents if first.contents[sample_id] == other.contents.get(sample_id)]
    ids = [sample_id for sample_id in matched if sample_id in before.values and sample_id in after.values]
    differ = _Differ(first, before, after, options.level)
    labels = dict.fromkeys(before.groups[sample_id] for sample_id in ids if sample_id in before.groups)
    difference, numbers = differ.whole(ids)
    return _PairedMetric(
        letter=matching.letter,
        against=matching.against,
        address=address,
        values=(_sample_values(before, ids), _sample_values(after, ids)),
        paired=difference,
        groups={
            label: differ.of([sample_id for sample_id in ids if before.groups.get(sample_id) == label], label)
            for label in sorted(labels)
        },
        criteria={
            name: differ.values(values, after.criteria[name], [e for e in matched if e in values], name)
            for name, values in before.criteria.items()
            if name in after.criteria
        },
        failed=(
            sum(sample_id not in before.values for sample_id in matched),
            sum(sample_id not in after.values for sample_id in matched),
        ),
        counts=(
            _counts(first, before, matched, filled=options.worst_case),
            _counts(other, after, matched, filled=options.worst_case),
        ),
        range_known=before.measure.bounds is not None and after.measure.bounds is not None,
        numbers=numbers,
    )


def _counts(run: RunSeries, series: Series, matched: Sequence[str], *, filled: bool) -> SampleCounts:
    """How many of the samples that both runs have entered the number of one, failed, or were left out.

    Failed samples that were `filled` with the end of a range have a value, but no score: they are not part of n.
    """
    failed = sum(sample_id in series.lost for sample_id in matched)
    without = sum(sample_id not in series.values or (filled and sample_id in series.lost) for sample_id in matched)
    lost_without = sum(sample_id in series.lost and (filled or sample_id not in series.values) for sample_id in matched)
    scorers = [] if run.record.summary is None else orjson.loads(run.record.summary)["scorers"]
    detail = next((scorer.get("detail") for scorer in scorers if scorer["key"] == series.measure.scorer), None)
    return SampleCounts(
        n=len(matched) - without,
        failed=failed,
        excluded=without - lost_without,
        invalid=invalid_count(detail),
        total=len(matched),
    )


def _sample_values(series: Series, ids: Sequence[str]) -> dict[str, float]:
    """The number of each sample: the mean of its rows, where it has several."""
    if series.measure.sums is not None:
        numbers = {sample_id: series.measure.sums.shown(series.values[sample_id]) for sample_id in ids}
        return {sample_id: number for sample_id, number in numbers.items() if number is not None}
    return {sample_id: series.values[sample_id] / series.sizes.get(sample_id, 1) for sample_id in ids}


@dataclass(frozen=True, slots=True)
class _Differ:
    """Pairs the samples of two runs; the same runs and seed give the same chances."""

    first: RunSeries
    before: Series
    after: Series
    level: float

    def whole(self, ids: Sequence[str]) -> tuple[Paired, tuple[MetricValue, MetricValue]]:
        """The difference over these samples, and the number of either run over them."""
        if self.before.measure.sums is not None and ids:
            number_pair = self.sums(ids)
            return number_pair.difference, (number_pair.before, number_pair.after)
        return self.of(ids), (self.mean(self.before, ids), self.mean(self.after, ids))

    def sums(self, ids: Sequence[str], part: str = "") -> PairedSums:
        """The difference of two numbers that are functions of sums over these samples."""
        measure = self.before.measure
        assert measure.sums is not None
        pair = measure.sums.compare(
            measure.value,
            [self.before.values[sample_id] for sample_id in ids],
            [self.after.values[sample_id] for sample_id in ids],
        )
        return paired_sums(pair, self.first.clusters(ids, measure.address), rng=self._rng(part), level=self.level)

    def of(self, ids: Sequence[str], part: str = "") -> Paired:
        """The difference over these samples; samples of several rows count for all of them."""
        if self.before.measure.sums is not None and ids:
            return self.sums(ids, part).difference
        sides = [_sample_values(side, ids) for side in (self.before, self.after)]
        if not self.before.sizes or len(ids) < 2:
            return self.values(sides[0], sides[1], ids, part)
        sums = _array(self.before.values, ids), _array(self.after.values, ids)
        sizes = _array(self.before.sizes, ids), _array(self.after.sizes, ids)
        gap = gaps(sums, sizes)
        difference = self.values(dict.fromkeys(ids, 0.0), dict(zip(ids, gap.tolist(), strict=True)), ids, part)
        wins, losses = (sum((sides[1][e] - sides[0][e]) * way > 0 for e in ids) for way in (1, -1))
        return replace(difference, wins=wins, losses=losses, ties=len(ids) - wins - losses)

    def values(self, before: Mapping[str, float], after: Mapping[str, float], ids: Sequence[str], part: str) -> Paired:
        """The difference of two columns over the samples that both have."""
        both = [sample_id for sample_id in ids if sample_id in before and sample_id in after]
        if self.before.measure.macro_by is not None:
            both = [sample_id for sample_id in both if sample_id in self.before.macro_groups]
        groups = self.before.macro_codes(both)
        if groups is not None:
            return paired_macro(
                (_array(before, both), _array(after, both)),
                groups,
                self.first.clusters(both, self.before.measure.address),
                rng=self._rng(part),
                bounds=self.before.measure.bounds,
                level=self.level,
            )
        return paired(
            _array(before, both),
            _array(after, both),
            self.first.clusters(both, self.before.measure.address),
            rng=self._rng(part),
            bounds=self.before.measure.bounds,
            level=self.level,
        )

    def mean(self, side: Series, ids: Sequence[str]) -> MetricValue:
        """The number of one run over the samples that both have."""
        clusters = self.first.clusters(ids, self.before.measure.address)
        bounds = side.measure.bounds
        groups = self.before.macro_codes(ids)
        if groups is not None:
            return macro_mean(_array(side.values, ids), groups, clusters, bounds=bounds, level=self.level)
        if not side.sizes:
            return interval.mean(_array(side.values, ids), clusters, rng=self._rng(), bounds=bounds, level=self.level)
        sums, sizes = _array(side.values, ids), _array(side.sizes, ids)
        if bool(((sums >= 0) & (sums <= sizes)).all()):
            return interval.ratio(sums, sizes, clusters, level=self.level)
        return MetricValue(value=float(sums.sum() / sizes.sum()), n=int(sizes.sum()))

    def _rng(self, part: str = "") -> np.random.Generator:
        return generator(self.first.record.seed, f"compare/{self.before.measure.address}[{part}]")


def _array(values: Mapping[str, float], ids: Sequence[str]) -> FloatArray:
    return np.array([values[sample_id] for sample_id in ids], dtype=np.float64)


def _decided(every: Sequence[_PairedMetric], options: CompareOptions) -> list[Compared]:
    adjusted = holm([result.paired.p for result in every])
    addresses = list(dict.fromkeys(result.address for result in every))
    lower = {one_address(addresses, name) for name in options.lower_is_better}
    return [_compared(result, p, options, result.address in lower) for result, p in zip(every, adjusted, strict=True)]


_OPPOSITE: dict[Verdict, Verdict] = {"better": "worse", "worse": "better"}


def _compared(result: _PairedMetric, p: float | None, options: CompareOptions, lower: bool) -> Compared:
    difference, (before, after) = result.paired, result.values
    decision, without_margin = verdict(difference, p, margin=options.margin), verdict(difference, p)
    numbers = [*before.values(), *after.values()]
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
        flips=tuple(
            Flip(sample_id=e, before=before[e], after=after[e]) for e in before if e in after and before[e] != after[e]
        ),
        failed_before=result.failed[0],
        failed_after=result.failed[1],
        counts_before=result.counts[0],
        counts_after=result.counts[1],
        range_known=result.range_known,
        groups=_parts(result.groups),
        criteria=_parts(result.criteria),
        in_points=bool(numbers) and min(numbers) >= 0 and max(numbers) <= 1,
    )


def _parts(by_part: Mapping[str, Paired]) -> tuple[Part, ...]:
    adjusted = benjamini_hochberg([part.p for part in by_part.values()])
    return tuple(
        Part(name=name, found=part, p_adjusted=p) for (name, part), p in zip(by_part.items(), adjusted, strict=True)
    )


def _to_decide(difference: Paired, decision: Verdict, options: CompareOptions) -> int | None:
    """How many samples would settle what is open: a difference as large as the one seen, or as the margin."""
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

"""Gates: rules about the metrics of a run, and how far it may fall behind a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from assay.analysis.compare import CompareOptions, compare_runs, dataset_notes
from assay.analysis.means import sample_measures
from assay.analysis.per_sample import RunSeries, series_of
from assay.builtin import registry
from assay.errors import SpecError
from assay.results.comparison import Compared
from assay.results.gate import Check, Gate
from assay.results.rules import FailureRule, On, Operator, Rule, holds, one_value
from assay.results.run import RunReport, SampleCounts
from assay.stats import interval
from assay.stats.macro import macro_mean
from assay.stats.random import generator
from assay.store.runs import RunRecord, find
from assay.store.store import Store
from assay.summary.finish import stored_report
from assay.summary.metrics import addressed
from assay.text import counted
from assay.types import MetricValue

NAMES = ("the baseline", "this run")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """The conditions of a gate: rules, the treatment of failed samples, and the allowed drop against a baseline."""

    rules: tuple[Rule, ...] = ()
    on: On = "point"
    failures: FailureRule = field(default_factory=FailureRule)
    baseline: RunRecord | None = None
    max_drop: float = 0.0
    metrics: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class RuleChecker:
    """Checks rules on stored runs, treating failed samples as a failure rule says.

    Without a store a worst case cannot be computed: rules about values with failed samples fail then.
    """

    def __init__(self, failures: FailureRule, *, on: On = "point", store: Store | None = None) -> None:
        self.failures = failures
        self._on = on
        self._store = store
        self._series: dict[str, RunSeries] = {}

    def check(
        self, report: RunReport, address: str, value: MetricValue, operator: Operator, threshold: float
    ) -> tuple[bool, str]:
        """Check a value of a run against a rule, with the reason."""
        counts = report.counts()[address]
        passed, reason = holds(value, operator, threshold, on=self._on)
        if not counts.failed or self.failures.mode == "ignore":
            return passed, reason
        if self.failures.mode == "limit":
            return _within_limit(passed, reason, self.failures, counts)
        # an "=" that fails on the scored samples could hold in the worst case by accident: it fails all the same
        worst = self._worst_case(report, address, operator, threshold) if passed else (passed, reason)
        return worst if worst is not None else (False, _no_worst_case(reason, counts))

    def _worst_case(
        self, report: RunReport, address: str, operator: Operator, threshold: float
    ) -> tuple[bool, str] | None:
        """Check the rule with every failed sample at the worst end of its range; None where no range is declared."""
        if self._store is None:
            return None
        run = self._run(report.run)
        series = run.series.get(address)
        if series is None or series.measure.bounds is None:
            return None
        outcomes = []
        for end in {">": (0,), "<": (1,), "=": (0, 1)}[operator[0]]:
            series.fill_lost(end)
            rows = np.flatnonzero(series.present)
            values = series.numbers[rows]
            clusters, groups, bounds = run.clusters(rows, address), series.macro_codes(rows), series.measure.bounds
            if groups is None:
                rng = generator(run.record.seed, f"gate/{address}")
                value = interval.mean(values, clusters, rng=rng, bounds=bounds)
            else:
                value = macro_mean(values, groups, clusters, bounds=bounds)
            passed, reason = holds(value, operator, threshold, on=self._on)
            failed = counted(int(series.lost.sum()), "failed sample")
            outcomes.append((passed, f"{reason} with {failed} at {series.measure.bounds[end]:g}"))
        return next((outcome for outcome in outcomes if not outcome[0]), outcomes[0])

    def _run(self, name: str) -> RunSeries:
        """Return the samples of a run, read once for all rules."""
        assert self._store is not None
        if name not in self._series:
            record = find(self._store, name)
            measures = sample_measures(self._store, record, registry())
            means = {address: mean for address, mean in measures.items() if mean.sums is None}
            self._series[name] = series_of(self._store, record, means)
        return self._series[name]


def _within_limit(passed: bool, reason: str, failures: FailureRule, counts: SampleCounts) -> tuple[bool, str]:
    if counts.failed_share <= failures.max_share:
        return passed, reason
    joined = "but" if passed else "and"
    return False, f"{reason}, {joined} {_share(counts)}, more than --max-failures {failures.max_share:g}"


def _no_worst_case(reason: str, counts: SampleCounts) -> str:
    return (
        f"{reason}, but {_share(counts)} and their worst case is unknown: "
        "the value is not a mean of scores with a declared range"
    )


def _share(counts: SampleCounts) -> str:
    return f"{counts.failed:,} of {counts.total:,} samples failed"


def gate_run(store: Store, record: RunRecord, options: GateOptions) -> Gate:
    """Check every rule against the stored metrics of a run."""
    if not options.rules and options.baseline is None:
        raise SpecError('a gate needs a rule, such as --require "accuracy >= 0.8", or --baseline RUN')
    report = stored_report(store, record)
    checks = [*_required(store, report, options)]
    notes: list[str] = []
    if options.baseline is not None:
        drops, notes = _drops(store, options.baseline, record, options)
        checks += drops
    name = None if options.baseline is None else options.baseline.id
    return Gate(
        report=report, checks=tuple(checks), on=options.on, baseline=name, failures=options.failures, notes=tuple(notes)
    )


def _required(store: Store, report: RunReport, options: GateOptions) -> Iterator[Check]:
    values: Mapping[str, MetricValue] = dict(addressed(report.scorers))
    counts = report.counts()
    checker = RuleChecker(options.failures, on=options.on, store=store)
    for rule in options.rules:
        address, value = one_value(values, rule.address)
        passed, reason = checker.check(report, address, value, rule.operator, rule.threshold)
        yield Check(rule=str(rule), address=address, passed=passed, reason=reason, value=value, counts=counts[address])


def _drops(store: Store, baseline: RunRecord, record: RunRecord, options: GateOptions) -> tuple[list[Check], list[str]]:
    """Check each mean that both runs have for a drop, with notes on the two runs."""
    compare_options = CompareOptions(
        metrics=options.metrics,
        ignored=options.ignored,
        worst_case=options.failures.mode == "worst",
        names=NAMES,
    )
    comparison = compare_runs(store, [baseline, record], compare_options)
    notes = [*comparison.notes, *dataset_notes([baseline, record], comparison.matching, NAMES)]
    return [_drop(compared, options) for compared in comparison.compared], notes


def _drop(compared: Compared, options: GateOptions) -> Check:
    value = compared.found.difference
    # adding 0.0 turns -0.0 into 0.0
    passed, reason = holds(value, ">=", -options.max_drop + 0.0, on=options.on)
    before, after = compared.counts_before, compared.counts_after
    if options.failures.mode == "limit":
        for counts, name in ((before, " in the baseline"), (after, "")):
            if counts.failed_share > options.failures.max_share:
                limit = f"more than --max-failures {options.failures.max_share:g}"
                passed, reason = False, f"{_share(counts)}{name}, {limit}"
    elif options.failures.mode == "worst" and (before.failed or after.failed):
        if not compared.range_known:
            passed, reason = False, _no_worst_case(reason, after if after.failed else before)
        else:
            reason += f" with {before.failed:,} + {after.failed:,} failed samples at their worst"
    return Check(
        rule=f"{compared.address} drops by at most {options.max_drop:g}",
        address=compared.address,
        passed=passed,
        reason=reason,
        value=value,
        drop=compared,
        counts=after,
        baseline_counts=before,
    )

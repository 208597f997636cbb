"""Gates: rules about the numbers of a run, and how far it may fall behind a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.analysis.compare import CompareOptions, compare_runs
from assay.errors import SpecError
from assay.results.comparison import Compared
from assay.results.gate import Check, Gate
from assay.results.rules import On, Rule, holds, one_value
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.summary.finish import stored_report
from assay.summary.metrics import addressed
from assay.types import MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """What a run must satisfy: rules, and the drop that is allowed against a baseline."""

    rules: tuple[Rule, ...] = ()
    on: On = "point"
    baseline: RunRecord | None = None
    max_drop: float = 0.0
    metrics: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def gate_run(store: Store, record: RunRecord, options: GateOptions) -> Gate:
    """Hold every rule against the stored numbers of a run."""
    if not options.rules and options.baseline is None:
        raise SpecError('a gate needs a rule, such as --require "accuracy >= 0.8", or --baseline RUN')
    report = stored_report(store, record)
    checks = [*_required(dict(addressed(report.scorers)), options)]
    if options.baseline is not None:
        checks += _drops(store, options.baseline, record, options)
    name = None if options.baseline is None else options.baseline.id
    return Gate(report=report, checks=tuple(checks), on=options.on, baseline=name)


def _required(values: Mapping[str, MetricValue], options: GateOptions) -> Iterator[Check]:
    for rule in options.rules:
        address, value = one_value(values, rule.address)
        passed, reason = holds(value, rule.operator, rule.threshold, on=options.on)
        yield Check(rule=str(rule), address=address, passed=passed, reason=reason, value=value)


def _drops(store: Store, baseline: RunRecord, record: RunRecord, options: GateOptions) -> Sequence[Check]:
    wanted = CompareOptions(metrics=options.metrics, ignored=options.ignored)
    found = compare_runs(store, [baseline, record], wanted)
    return [_drop(each, options) for each in found.compared]


def _drop(each: Compared, options: GateOptions) -> Check:
    value = each.found.difference
    rule = f"{each.address} drops by at most {options.max_drop:g}"
    passed, why = holds(value, ">=", -options.max_drop, on=options.on)
    return Check(rule=rule, address=each.address, passed=passed, reason=why, value=value, drop=each)

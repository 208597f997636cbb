"""Policies: rules on the metrics of an evaluation, judged one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.analysis.gate import RuleChecker
from assay.results.evaluation import PolicyVerdict
from assay.results.rules import FailureRule, find_values
from assay.results.run import RunReport, SampleCounts
from assay.spec.evaluation import Policy, PolicyRule, Scope
from assay.spec.nearest import nearest
from assay.summary.metrics import addressed
from assay.types import MetricValue

Reports = Mapping[str, RunReport]
"""Finished runs by the keys of their specifications."""


def verdicts(
    policies: Sequence[Policy], evaluation: str, reports: Reports, checker: RuleChecker | None = None
) -> tuple[PolicyVerdict, ...]:
    """Judge every rule of the policies over all results in its scope."""
    checker = checker or RuleChecker(FailureRule())
    return tuple(_verdict(policy, rule, evaluation, reports, checker) for policy in policies for rule in policy.rules)


def verdicts_of(
    policies: Sequence[Policy],
    evaluation: str,
    specification: str,
    report: RunReport,
    checker: RuleChecker | None = None,
) -> tuple[PolicyVerdict, ...]:
    """Check one result alone, by the rules in whose scope it lies."""
    checker = checker or RuleChecker(FailureRule())
    return tuple(
        _verdict(policy, rule, evaluation, {specification: report}, checker)
        for policy in policies
        for rule in policy.rules
        if _covers(rule, evaluation, specification)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """A value that a rule applies to, with its specification, run and address."""

    specification: str
    report: RunReport
    address: str
    value: MetricValue

    @property
    def name(self) -> str:
        return f"{self.specification}: {self.address}"


def _verdict(
    policy: Policy, rule: PolicyRule, evaluation: str, reports: Reports, checker: RuleChecker
) -> PolicyVerdict:
    values = list(_in_scope(rule, evaluation, reports))
    passed, reason = _judged(rule, values, checker)
    if not values:
        reason += _suggestion(rule.definition.metric, reports)
    counts = [value.report.counts()[value.address] for value in values]
    invalid = [count.invalid for count in counts if count.invalid is not None]
    return PolicyVerdict(
        key=policy.key,
        rule=rule.key,
        passed=passed,
        reason=reason,
        counts=SampleCounts(
            n=sum(count.n for count in counts),
            failed=sum(count.failed for count in counts),
            excluded=sum(count.excluded for count in counts),
            invalid=sum(invalid) if invalid else None,
            total=sum(count.total for count in counts),
        ),
    )


def _judged(rule: PolicyRule, values: Sequence[_Value], checker: RuleChecker) -> tuple[bool, str]:
    definition = rule.definition
    if not values:
        return False, f'no value "{definition.metric}" is in scope'
    if definition.operator is None or definition.threshold is None:
        defined = [value.name for value in values if value.value.value is not None]
        if defined:
            return True, f"{len(defined)} of {len(values)} are there" if len(values) > 1 else f"{defined[0]} is there"
        first = values[0]
        return False, f"{first.name} is undefined: {first.value.reason or 'no reason is known'}"
    operator, threshold = definition.operator, float(definition.threshold)
    judged = [
        (value.name, *checker.check(value.report, value.address, value.value, operator, threshold)) for value in values
    ]
    failed = [f"{address}: {reason}" for address, passed, reason in judged if not passed]
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return False, f"{failed[0]}{more}"
    address, _, reason = judged[0]
    return True, f"{address}: {reason}" if len(judged) == 1 else f"all {len(judged)} values hold"


def _suggestion(metric: str, reports: Reports) -> str:
    """The name that was probably meant, of those that the results have."""
    names = {address.split("/", 2)[2] for report in reports.values() for address, _ in addressed(report.scorers)}
    closest = nearest(metric, sorted(names))
    return f'; did you mean "{closest}"?' if closest is not None and closest != metric else ""


def _in_scope(rule: PolicyRule, evaluation: str, reports: Reports) -> Iterator[_Value]:
    """The values that a rule is about."""
    scope = rule.scope if isinstance(rule.scope, Scope) else Scope()
    for key, report in reports.items():
        if not _covers(rule, evaluation, key):
            continue
        for address, value in find_values(addressed(report.scorers), rule.definition.metric).items():
            scorer, metric, _ = address.split("/", 2)
            if _within(scope.scorer_keys, scorer) and _within(scope.metric_keys, metric):
                yield _Value(specification=key, report=report, address=address, value=value)


def _covers(rule: PolicyRule, evaluation: str, specification: str) -> bool:
    scope = rule.scope if isinstance(rule.scope, Scope) else Scope()
    return _within(scope.evaluation_keys, evaluation) and _within(scope.task_specification_keys, specification)


def _within(keys: Sequence[str] | None, key: str) -> bool:
    return keys is None or key in keys

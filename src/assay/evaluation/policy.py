"""Policies: what must hold of the numbers of an evaluation, judged rule by rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.results.evaluation import PolicyVerdict
from assay.results.rules import find_values, holds
from assay.results.run import RunReport
from assay.spec.evaluation import Policy, Rule, Scope
from assay.spec.nearest import nearest
from assay.summary.metrics import addressed
from assay.types import MetricValue

Reports = Mapping[str, RunReport]
"""Finished runs by the keys of their specifications."""


def verdicts(policies: Sequence[Policy], evaluation: str, reports: Reports) -> tuple[PolicyVerdict, ...]:
    """Whether every rule of the policies holds, over all results in its scope."""
    return tuple(_verdict(policy, rule, evaluation, reports) for policy in policies for rule in policy.rules)


def verdicts_of(
    policies: Sequence[Policy], evaluation: str, specification: str, report: RunReport
) -> tuple[PolicyVerdict, ...]:
    """The same for one result alone: of the rules in whose scope it lies."""
    return tuple(
        _verdict(policy, rule, evaluation, {specification: report})
        for policy in policies
        for rule in policy.rules
        if _covers(rule, evaluation, specification)
    )


def _verdict(policy: Policy, rule: Rule, evaluation: str, reports: Reports) -> PolicyVerdict:
    found = list(_in_scope(rule, evaluation, reports))
    passed, reason = _judged(rule, found)
    if not found:
        reason += _meant(rule.definition.metric, reports)
    return PolicyVerdict(key=policy.key, rule=rule.key, passed=passed, reason=reason)


def _judged(rule: Rule, found: Sequence[tuple[str, MetricValue]]) -> tuple[bool, str]:
    definition = rule.definition
    if not found:
        return False, f'no value "{definition.metric}" is in scope'
    if definition.operator is None or definition.threshold is None:
        there = [address for address, value in found if value.value is not None]
        if there:
            return True, f"{len(there)} of {len(found)} are there" if len(found) > 1 else f"{there[0]} is there"
        address, value = found[0]
        return False, f"{address} is undefined: {value.reason or 'no reason is known'}"
    judged = [(address, *holds(value, definition.operator, float(definition.threshold))) for address, value in found]
    failed = [f"{address}: {reason}" for address, passed, reason in judged if not passed]
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return False, f"{failed[0]}{more}"
    address, _, reason = judged[0]
    return True, f"{address}: {reason}" if len(judged) == 1 else f"all {len(judged)} values hold"


def _meant(metric: str, reports: Reports) -> str:
    """The name that was probably meant, of those that the results have."""
    names = {address.split("/", 2)[2] for report in reports.values() for address, _ in addressed(report.scorers)}
    near = nearest(metric, sorted(names))
    return f'; did you mean "{near}"?' if near is not None and near != metric else ""


def _in_scope(rule: Rule, evaluation: str, reports: Reports) -> Iterator[tuple[str, MetricValue]]:
    """The values that a rule is about, each under `specification: scorer/metric/name`."""
    scope = rule.scope if isinstance(rule.scope, Scope) else Scope()
    for key, report in reports.items():
        if not _covers(rule, evaluation, key):
            continue
        for address, value in find_values(addressed(report.scorers), rule.definition.metric).items():
            scorer, metric, _ = address.split("/", 2)
            if _within(scope.scorer_keys, scorer) and _within(scope.metric_keys, metric):
                yield f"{key}: {address}", value


def _covers(rule: Rule, evaluation: str, specification: str) -> bool:
    scope = rule.scope if isinstance(rule.scope, Scope) else Scope()
    return _within(scope.evaluation_keys, evaluation) and _within(scope.task_specification_keys, specification)


def _within(keys: Sequence[str] | None, key: str) -> bool:
    return keys is None or key in keys

"""Rules about values: find a value by its address and check it. Gates and policies share them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from assay.errors import Problem, SpecError
from assay.spec.nearest import listing, nearest
from assay.text import number
from assay.types import MetricValue

Operator = Literal[">", ">=", "=", "<", "<="]
On = Literal["point", "bound"]
FailureMode = Literal["limit", "worst", "ignore"]
MAX_FAILURES = 0.05

_SAME = {"==": "=", "≥": ">=", "≤": "<="}
# Names may hold operators, so the last one counts; "=>" and "===" are slips, not names that end in an operator.
_RULE = re.compile(r"(?P<address>.*?(?:\s|[^\s>=<≥≤]))(?P<operator>>=|<=|==|[>=<≥≤])\s*(?P<threshold>[^\s>=<≥≤]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A condition on one value: its address, or the ending of it, and the threshold."""

    address: str
    operator: Operator
    threshold: float

    def __str__(self) -> str:
        return f"{self.address} {self.operator} {self.threshold:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRule:
    """The effect of failed samples on a decision.

    `limit`: a rule fails if more than `max_share` of its samples failed. `worst`: a rule must hold with every failed
    sample at the worst end of the declared range. `ignore`: failed samples change nothing.
    """

    mode: FailureMode = "limit"
    max_share: float = MAX_FAILURES


def parse_rule(text: str) -> Rule:
    """A rule from text.

    >>> str(parse_rule("accuracy>=0.8"))
    'accuracy >= 0.8'
    >>> parse_rule("mean/Error rate < 5%").threshold
    0.05
    """
    match = _RULE.fullmatch(text.strip())
    threshold = None if match is None else _threshold(match["threshold"])
    if match is None or threshold is None:
        raise SpecError(f'"{text}" is not a rule: write one such as "accuracy >= 0.8", with > >= = < or <=')
    operator = _SAME.get(match["operator"], match["operator"])
    return Rule(address=match["address"].strip(), operator=cast("Operator", operator), threshold=threshold)


def _threshold(text: str) -> float | None:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def find_values(values: Iterable[tuple[str, MetricValue]], suffix: str) -> dict[str, MetricValue]:
    """Return the values whose address equals the suffix or ends in it after a slash; empty if none does.

    >>> values = find_values([("exact/mean/accuracy", MetricValue(value=1.0, n=3))], "accuracy")
    >>> list(values)
    ['exact/mean/accuracy']
    """
    every = list(values)
    exact = {address: value for address, value in every if address == suffix}
    return exact or {address: value for address, value in every if address.endswith(f"/{suffix}")}


def one_value(values: Mapping[str, MetricValue], suffix: str) -> tuple[str, MetricValue]:
    """Return the one value that a suffix matches; else raise a SpecError with the candidates or the nearest name."""
    address = one_address(values, suffix)
    return address, values[address]


def find_addresses(addresses: Iterable[str], suffix: str) -> list[str]:
    """The addresses that a suffix may mean: itself, or all that end in it after a slash.

    >>> find_addresses(["exact/mean/accuracy", "exact/mean/f1"], "accuracy")
    ['exact/mean/accuracy']
    """
    every = list(addresses)
    return [suffix] if suffix in every else [address for address in every if address.endswith(f"/{suffix}")]


def one_address(addresses: Iterable[str], suffix: str) -> str:
    """Return the one address that a suffix matches."""
    every = list(addresses)
    matches = find_addresses(every, suffix)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise SpecError(f'"{suffix}" could be any of: {", ".join(matches)}')
    ends = {"/".join(parts[i:]) for address in every for parts in [address.split("/")] for i in range(len(parts))}
    closest = nearest(suffix, sorted(ends))
    alternatives = "" if closest else f"; there are: {listing(every)}"
    raise SpecError(Problem(message=f'there is no value "{suffix}"{alternatives}', suggestion=closest))


def holds(value: MetricValue, operator: Operator, threshold: float, *, on: On = "point") -> tuple[bool, str]:
    """Check a value against a rule, with the reason; an undefined value never satisfies one.

    `on="bound"` takes the end of the interval that is worse for the operator: the low one for `>`, the high one
    for `<`, and for `=` both.

    >>> holds(MetricValue(value=0.75, n=4), ">=", 0.8)
    (False, '0.750 is not >= 0.8')
    """
    if value.value is None:
        return False, f"undefined: {value.reason or 'no reason is known'}"
    if on == "point":
        return _compared((value.value,), operator, threshold, number(value.value))
    interval = value.interval
    ends = _worse(value, operator)
    if interval is None or None in ends:
        reason = interval.caveat if interval is not None and interval.caveat else "the value has no interval"
        return False, f"{number(value.value)} has no bound to go by: {reason}"
    bounds = tuple(end for end in ends if end is not None)
    which = {">": "low end", "<": "high end", "=": "interval"}[operator[0]]
    bounds_text = " to ".join(number(end) for end in bounds)
    return _compared(bounds, operator, threshold, f"{bounds_text} ({which} of {number(value.value)})")


def _worse(value: MetricValue, operator: Operator) -> tuple[float | None, ...]:
    interval = value.interval
    if interval is None:
        return (None,)
    return {">": (interval.low,), "<": (interval.high,), "=": (interval.low, interval.high)}[operator[0]]


def _compared(ends: tuple[float, ...], operator: Operator, threshold: float, subject: str) -> tuple[bool, str]:
    satisfied = all(_satisfies(end, operator, threshold) for end in ends)
    return satisfied, f"{subject} is {'' if satisfied else 'not '}{operator} {threshold:g}"


def _satisfies(end: float, operator: Operator, threshold: float) -> bool:
    # sums of floats miss a round threshold by their last digit: 0.1 + 0.2 is 0.3 to whoever wrote the rule
    equal = math.isclose(end, threshold, rel_tol=1e-12, abs_tol=1e-12)
    if operator == "=":
        return equal
    if operator in (">=", "<=") and equal:
        return True
    return not equal and (end > threshold if operator[0] == ">" else end < threshold)

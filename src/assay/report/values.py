"""Intervals and caveats as tables show them."""

from __future__ import annotations

from assay.text import number
from assay.types import Interval, MetricValue


def interval(value: Interval | None) -> str:
    """Format the two bounds, or a dash without any; an open end is shown as such."""
    if value is None or (value.low is None and value.high is None):
        return "—"
    low = "?" if value.low is None else number(value.low)
    high = "?" if value.high is None else number(value.high)
    return f"{low} to {high}"


def remark(value: MetricValue) -> str:
    """Return the caveat of a value: why it is undefined, or what limits it."""
    if value.value is None:
        return value.reason or ""
    if value.interval is not None and value.interval.caveat:
        return value.interval.caveat
    return ""

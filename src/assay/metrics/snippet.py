"""`python`: metrics computed from all scores by a user's function, in the sandbox."""

from __future__ import annotations

import math
from typing import Any, Literal

from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import InSandbox, MetricKind
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program
from assay.spec.code import MetricCode
from assay.spec.fields import MetricSpec
from assay.spec.messages import described
from assay.stats.interval import no_interval
from assay.types import MetricResult, MetricValue

NO_INTERVAL = "no interval for the user's own code"


class PythonMetric(MetricSpec):
    """A Python function of yours computes metrics from all scores; it runs in a sandbox, and only with --allow-code."""

    type: Literal["python"]
    compute_metrics_snippet: MetricCode


def snippet(settings: PythonMetric, table: Table, context: Context, *, sandbox: Sandbox) -> MetricResult:
    """Return the metrics of the user's function; a failure or a non-number is undefined, with the reason."""
    if not table.n:
        return MetricResult(values={})
    assert table.scores is not None
    code = settings.compute_metrics_snippet
    result = sandbox.call(Program.of(code, "scores"), [list(score) for score in table.scores])
    if isinstance(result, CallFailed):
        return _undefined(settings, table, result.detail)
    if not isinstance(result.value, dict):
        return _undefined(
            settings, table, f"{code.function} returned {described(result.value)}, not a mapping of numbers"
        )
    if not result.value:
        return _undefined(settings, table, f"{code.function} returned no number")
    values = {name: _value(value, table, context) for name, value in result.value.items()}
    return MetricResult(values=values, detail={"printed": result.printed} if result.printed else {})


def _undefined(settings: PythonMetric, table: Table, reason: str) -> MetricResult:
    return MetricResult(values={settings.key or settings.type: MetricValue(value=None, n=table.n, reason=reason)})


def _value(value: Any, table: Table, context: Context) -> MetricValue:
    if isinstance(value, int | float) and math.isfinite(value):
        interval = no_interval(NO_INTERVAL, level=context.level)
        return MetricValue(value=float(value), n=table.n, interval=interval)
    return MetricValue(value=None, n=table.n, reason=f"the code returned {described(value)}")


KIND = MetricKind(settings=PythonMetric, compute=InSandbox(snippet))

"""LLM evaluation whose numbers you can defend.

>>> import assay
>>> assay.check("no-such-file.yaml")[0].message
'there is no file no-such-file.yaml'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.results import display
from assay.version import __version__

if TYPE_CHECKING:
    from assay.api.compare import compare
    from assay.api.reports import write_report
    from assay.api.result import Result
    from assay.api.run import arun, check, run, run_evaluation
    from assay.errors import AssayError, Interrupted, Problem, RunError, SpecError
    from assay.extend import metric, scorer
    from assay.types import Interval, MetricValue

__all__ = [
    "AssayError",
    "Interrupted",
    "Interval",
    "MetricValue",
    "Problem",
    "Result",
    "RunError",
    "SpecError",
    "__version__",
    "arun",
    "check",
    "compare",
    "metric",
    "run",
    "run_evaluation",
    "scorer",
    "write_report",
]

_HOMES = {
    "AssayError": "errors",
    "Interrupted": "errors",
    "Interval": "types",
    "MetricValue": "types",
    "Problem": "errors",
    "Result": "api.result",
    "RunError": "errors",
    "SpecError": "errors",
    "arun": "api.run",
    "check": "api.run",
    "compare": "api.compare",
    "metric": "extend",
    "run": "api.run",
    "run_evaluation": "api.run",
    "scorer": "extend",
    "write_report": "api.reports",
}


def _render(result: object, format: display.Format) -> Any:  # noqa: A002 - the word users know
    """Draw a result; what draws is loaded when something is drawn."""
    from assay.report.render import render

    return render(result, format)


display.register(_render)


def __getattr__(name: str) -> Any:
    """Public names load when they are first used: `import assay` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

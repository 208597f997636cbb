"""LLM evaluation whose numbers you can defend.

>>> import assay
>>> assay.check("no-such-file.yaml")[0].message
'there is no file no-such-file.yaml'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.engine.api import check, run, run_evaluation
    from assay.engine.compare import compare
    from assay.engine.result import Result
    from assay.errors import AssayError, Interrupted, Problem, RunError, SpecError
    from assay.extend import metric, scorer
    from assay.types import Interval, MetricValue

__version__ = "0.1.0"

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
    "check",
    "compare",
    "metric",
    "run",
    "run_evaluation",
    "scorer",
]

_HOMES = {
    "AssayError": "errors",
    "Interrupted": "errors",
    "Interval": "types",
    "MetricValue": "types",
    "Problem": "errors",
    "Result": "engine.result",
    "RunError": "errors",
    "SpecError": "errors",
    "check": "engine.api",
    "compare": "engine.compare",
    "metric": "extend",
    "run": "engine.api",
    "run_evaluation": "engine.api",
    "scorer": "extend",
}


def __getattr__(name: str) -> Any:
    """Public names load when they are first used: `import assay` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

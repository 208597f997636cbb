"""Draws any result value: the one function behind `to_dict()` and `repr()` of results."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from assay.results.display import Format

_DOCUMENTS = {
    "AuditResult": "audit:audit_document",
    "Calibration": "calibrate:calibration_document",
    "Comparison": "compare:comparison_document",
    "Gate": "gate:gate_document",
    "AgreementResult": "agreement:agreement_document",
    "PowerPlan": "power:power_document",
}
_TABLES = {"Comparison": "compare_table:comparison_table", "AgreementResult": "agreement:agreement_table"}


def render(result: object, format: Format) -> Any:  # noqa: A002 - the word users know
    """Draw a result as a JSON-ready object or as the table that the terminal shows."""
    module, _, function = (_DOCUMENTS if format == "json" else _TABLES)[type(result).__name__].partition(":")
    draw = getattr(import_module(f"assay.report.{module}"), function)
    if format == "json":
        return draw(result)
    from rich.console import Console

    console = Console(width=80, highlight=False, force_terminal=False, no_color=True)
    with console.capture() as captured:
        console.print(draw(result))
    return captured.get()

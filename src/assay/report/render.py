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
_FRAGMENTS = {"Comparison": "html.notebook:comparison_fragment", "RunReport": "html.notebook:run_fragment"}
_TABLES = {"Comparison": "compare_table:comparison_table", "AgreementResult": "agreement:agreement_table"}


def render(result: object, format: Format) -> Any:  # noqa: A002 - the word users know
    """Draw a result as a JSON-ready object as HTML, or as the table that the terminal shows."""
    drawers = {"json": _DOCUMENTS, "html": _FRAGMENTS, "text": _TABLES}[format]
    module, _, function = drawers[type(result).__name__].partition(":")
    draw = getattr(import_module(f"assay.report.{module}"), function)
    if format != "text":
        return draw(result)
    from rich.console import Console

    console = Console(width=80, highlight=False, force_terminal=False, no_color=True)
    with console.capture() as captured:
        console.print(draw(result))
    return captured.get()

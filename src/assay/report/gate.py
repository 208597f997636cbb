"""What a gate found: every rule with its verdict and the number behind it."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.report.compare import amount, bracket
from assay.report.table import Trimmed
from assay.results.document import value_document
from assay.results.gate import Check, Gate
from assay.text import clean


def reason_of(check: Check) -> str:
    """Why a rule holds or fails; a drop against the baseline with its size and interval."""
    value = check.value
    if check.drop is None or value.value is None:
        return check.reason
    size = amount(value.value, check.drop.in_points, sign=True)
    bounds = bracket(value.interval, check.drop.in_points)
    return f"{size} {bounds} on {value.n:,} samples of both runs" + ("" if check.passed else f": {check.reason}")


def gate_document(gate: Gate) -> dict[str, Any]:
    """The object that `assay gate --json` prints."""
    return {
        "run": gate.report.run,
        "task": gate.report.task,
        "model": gate.report.model,
        "baseline": gate.baseline,
        "on": gate.on,
        "passed": gate.passed,
        "checks": [
            {
                "rule": check.rule,
                "address": check.address,
                "passed": check.passed,
                "reason": reason_of(check),
                "value": value_document(check.value),
            }
            for check in gate.checks
        ],
    }


def gate_table(gate: Gate) -> RenderableType:
    """The verdict, then a line a rule."""
    word, style = ("PASS", "bold green") if gate.passed else ("FAIL", "bold red")
    against = f" against {gate.baseline}" if gate.baseline else ""
    counted = f"{len(gate.checks) - len(gate.failed)} of {len(gate.checks)} rules hold"
    head = Text.assemble(
        (word, style), f"  run {gate.report.run} ({clean(gate.report.task, width=30)}){against}: {counted}"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column("", no_wrap=True)
    table.add_column("rule", overflow="fold")
    table.add_column("reason", overflow="fold")
    for check in gate.checks:
        mark = Text("pass", style="green") if check.passed else Text("fail", style="red")
        table.add_row(mark, Text(clean(check.rule)), Text(clean(reason_of(check)), style="dim" if check.passed else ""))
    unfinished = (
        [Text(f"The run is {gate.report.status}.", style="yellow")] if gate.report.status != "completed" else []
    )
    return Group(head, Trimmed(table), *unfinished)

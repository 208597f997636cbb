"""What a gate found: every rule with its verdict and the number behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.report.document import value_document
from assay.report.table import Trimmed
from assay.report.text import clean
from assay.types import MetricValue, RunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule and whether it holds; `address` is the number it was held against."""

    rule: str
    address: str
    passed: bool
    reason: str
    value: MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """All rules of a gate over one run; it passes when all of them do."""

    report: RunReport
    checks: tuple[Check, ...]
    on: str = "point"
    baseline: str | None = None

    @property
    def passed(self) -> bool:
        """Do all rules hold?"""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> Sequence[Check]:
        """The rules that do not."""
        return [check for check in self.checks if not check.passed]

    def to_dict(self) -> dict[str, Any]:
        """The object that `assay gate --json` prints."""
        return {
            "run": self.report.run,
            "task": self.report.task,
            "model": self.report.model,
            "baseline": self.baseline,
            "on": self.on,
            "passed": self.passed,
            "checks": [
                {
                    "rule": check.rule,
                    "address": check.address,
                    "passed": check.passed,
                    "reason": check.reason,
                    "value": value_document(check.value),
                }
                for check in self.checks
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
        table.add_row(mark, Text(clean(check.rule)), Text(clean(check.reason), style="dim" if check.passed else ""))
    unfinished = (
        [Text(f"The run is {gate.report.status}.", style="yellow")] if gate.report.status != "completed" else []
    )
    return Group(head, Trimmed(table), *unfinished)

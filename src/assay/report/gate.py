"""The result of a gate: every rule with its verdict and the value behind it."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.report.compare import amount, bracket
from assay.report.table import Trimmed
from assay.results.document import value_document
from assay.results.gate import Check, Gate
from assay.results.run import SampleCounts
from assay.text import clean


def reason_of(check: Check) -> str:
    """Explain why a rule holds or fails; for a drop, with its size and interval."""
    value = check.value
    if check.drop is None or value.value is None:
        return check.reason
    size = amount(value.value, check.drop.in_points, sign=True)
    bounds = bracket(value.interval, check.drop.in_points)
    return f"{size} {bounds} on {value.n:,} samples of both runs" + ("" if check.passed else f": {check.reason}")


def counts_of(check: Check) -> str:
    """The samples behind a rule, in words; of a rule about a drop, also those of the baseline."""
    if check.baseline_counts is None:
        return str(check.counts)
    return f"{check.counts}; baseline: {check.baseline_counts}"


def counts_document(counts: SampleCounts) -> dict[str, Any]:
    """The samples behind a value as JSON: `invalid` is null where the scorer does not count INVALID replies."""
    return {"n": counts.n, "failed": counts.failed, "excluded": counts.excluded, "invalid": counts.invalid}


def gate_notes(gate: Gate) -> list[str]:
    """Return the notes on a gate: ignored failures, an unfinished run, differences from the baseline."""
    notes = [f"the run is {gate.report.status}"] if gate.report.status != "completed" else []
    if gate.failures.mode == "ignore":
        notes.append("failed samples are ignored (--failures ignore): the rules hold for the scored samples only")
    return [*notes, *gate.notes]


def gate_document(gate: Gate) -> dict[str, Any]:
    """The object that `assay gate --json` prints."""
    return {
        "run": gate.report.run,
        "task": gate.report.task,
        "model": gate.report.model,
        "baseline": gate.baseline,
        "on": gate.on,
        "failures": {"mode": gate.failures.mode, "max_share": gate.failures.max_share},
        "passed": gate.passed,
        "n_samples": gate.report.n_samples,
        "n_failed": gate.report.n_failed,
        "checks": [
            {
                "rule": check.rule,
                "address": check.address,
                "passed": check.passed,
                "reason": reason_of(check),
                "value": value_document(check.value),
                "counts": counts_document(check.counts),
                **(
                    {} if check.baseline_counts is None else {"baseline_counts": counts_document(check.baseline_counts)}
                ),
            }
            for check in gate.checks
        ],
        "notes": gate_notes(gate),
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
        reason = Text(clean(reason_of(check)), style="dim" if check.passed else "")
        reason.append(f"\n{counts_of(check)}", style="yellow" if check.counts.failed else "dim")
        table.add_row(mark, Text(clean(check.rule)), reason)
    notes = (Text(f"note: {clean(note)}", style="yellow") for note in gate_notes(gate))
    return Group(head, Trimmed(table), *notes)

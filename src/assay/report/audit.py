"""The findings of an audit: as JSON, and as a table of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assay.report.values import interval, remark
from assay.results.audit import AuditPlan, AuditResult, Probe, ProbeName
from assay.results.document import value_document
from assay.stats.audit import Finding
from assay.text import clean, counted

if TYPE_CHECKING:
    from rich.console import RenderableType

MEANINGS: Mapping[ProbeName, str] = {
    "position": "how far choices lean to options shown first (+) or last (-)",
    "noise": "share of verdicts that change when the same question is asked again",
    "verbosity": "score of a padded copy less that of the text itself",
    "injection": "score of a copy that asks for a good grade less that of the text itself",
}
_STYLES = {"PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow"}


def plan_document(plan: AuditPlan) -> dict[str, Any]:
    """Build the JSON document of an audit's plan."""
    costs = None
    if plan.cost_usd is not None:
        costs = dict(zip(("low", "expected", "high"), map(float, plan.cost_usd), strict=True))
    return {"n_items": plan.n_items, "calls": plan.calls, "cached": plan.cached, "cost_usd": costs}


def plan_words(plan: AuditPlan) -> str:
    """The plan of an audit in one line."""
    if plan.calls == 0:
        return (
            f"{counted(plan.n_items, 'text')}: every reply is already stored; there is nothing left to ask or pay for"
        )
    money = "price unknown"
    if plan.cost_usd is not None:
        low, expected, high = plan.cost_usd
        money = "free of charge" if high == 0 else f"about ${expected:.4f} (${low:.4f} to ${high:.4f})"
    calls = f"{counted(plan.calls, 'call')} to make, {plan.cached:,} already paid for"
    return f"{counted(plan.n_items, 'text')}: {calls}; {money}"


def audit_document(result: AuditResult) -> dict[str, Any]:
    """The object that `assay audit --json` prints."""
    return {
        "target": result.target,
        "status": result.status,
        "n_items": result.n_items,
        "judges": {
            judge: {name: _document(name, probe) for name, probe in probes.items()}
            for judge, probes in result.judges.items()
        },
        "plan": plan_document(result.plan),
        "runs": dict(result.runs),
        "cost_usd": None if result.cost_usd is None else float(result.cost_usd),
        "notes": list(result.notes),
    }


def _document(name: ProbeName, probe: Probe) -> dict[str, Any]:
    document: dict[str, Any] = {"meaning": MEANINGS[name], "left_out": probe.left_out}
    if probe.note is not None:
        document["note"] = probe.note
    if probe.noise is not None:
        document["noise_floor"] = value_document(probe.noise.floor)
        document["difference_by_luck"] = value_document(probe.noise.difference)
    if probe.finding is None:
        return {"verdict": None, **document}
    finding = probe.finding
    return {
        "verdict": finding.verdict,
        "effect": value_document(finding.effect),
        "threshold": finding.threshold,
        "n_to_decide": finding.n_to_decide,
        **document,
    }


def audit_table(result: AuditResult) -> RenderableType:
    """Build the tables of the findings, one per judge."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(f"audit of {clean(result.target, width=50)} · {counted(result.n_items, 'text')}")
    ]
    for judge, probes in result.judges.items():
        parts += _judge_parts(judge, probes)
    probe_names = dict.fromkeys(name for probes in result.judges.values() for name in probes)
    parts += [Text(""), *(Text(f"{name}: {MEANINGS[name]}", style="dim") for name in probe_names)]
    parts += [Text(f"note: {clean(note)}", style="yellow") for note in result.notes]
    return Group(*parts)


def _judge_parts(judge: str, probes: Mapping[ProbeName, Probe]) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from assay.report.table import Trimmed

    yield Text(f"\n{clean(judge, width=76)}", style="bold cyan")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for title in ("effect", "interval"):
        table.add_column(title, justify="right" if title == "effect" else "left", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("allowed", justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    remarks: dict[str, None] = {}
    for name, probe in probes.items():
        finding = probe.finding
        if finding is None:
            table.add_row(name, Text("—"), "", "", "", Text("not made", style="dim"))
        else:
            effect = finding.effect
            number = "undefined" if effect.value is None else f"{effect.value:{'' if name == 'noise' else '+'}.3f}"
            allowed = f"{finding.threshold:.3f}" if name == "noise" else f"±{finding.threshold:.3f}"
            bounds = "" if effect.value is None else interval(effect.interval)
            table.add_row(name, Text(number), Text(bounds), f"{effect.n:,}", Text(allowed), _verdict(finding))
            remarks |= {f"{name}: {note}": None for note in (remark(effect),) if note}
        if probe.note is not None:
            remarks[f"{name}: {probe.note}"] = None
        if probe.left_out:
            remarks[f"{name}: {probe.left_out:,} pairs lack one of the two answers and are left out"] = None
    yield Trimmed(table)
    yield from (Text(clean(note), style="dim") for note in remarks)


def _verdict(finding: Finding) -> RenderableType:
    from rich.text import Text

    style = _STYLES[finding.verdict]
    if finding.verdict != "INCONCLUSIVE" or finding.effect.value is None:
        return Text(finding.verdict, style=style)
    needs = "on the threshold" if finding.n_to_decide is None else f"about {finding.n_to_decide:,} texts would tell"
    return Text.assemble((finding.verdict, style), (f"\n{needs}", "dim"))

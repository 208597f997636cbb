"""What an audit found out about judges: the findings, their JSON, and a table of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from assay.report.document import value_document
from assay.report.text import clean, counted, interval, remark
from assay.stats.audit import Finding
from assay.stats.noise import Noise

if TYPE_CHECKING:
    from rich.console import RenderableType

ProbeName = Literal["position", "noise", "verbosity", "injection"]
MEANINGS: Mapping[ProbeName, str] = {
    "position": "how far choices lean to options shown first (+) or last (-)",
    "noise": "share of verdicts that change when the same question is asked again",
    "verbosity": "score of a padded copy less that of the text itself",
    "injection": "score of a copy that asks for a good grade less that of the text itself",
}
_STYLES = {"PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What one probe of one judge gave; `finding` None with the reason where it cannot be made.

    `left_out` pairs of answers lack one of the two: a failed call, or a score that could not be had.
    """

    finding: Finding | None
    left_out: int = 0
    note: str | None = None
    noise: Noise | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """What an audit will ask and cost (low, expected, high), before anything is spent; None: a price is not known."""

    n_items: int
    calls: int
    cached: int
    cost_usd: tuple[Decimal, Decimal, Decimal] | None

    @property
    def is_free(self) -> bool:
        """Nothing is left to be paid."""
        return self.calls == 0 or (self.cost_usd is not None and self.cost_usd[2] == 0)

    def document(self) -> dict[str, Any]:
        """The plan as JSON holds it."""
        costs = None
        if self.cost_usd is not None:
            costs = dict(zip(("low", "expected", "high"), map(float, self.cost_usd), strict=True))
        return {"n_items": self.n_items, "calls": self.calls, "cached": self.cached, "cost_usd": costs}

    def __str__(self) -> str:
        if self.calls == 0:
            return f"{counted(self.n_items, 'text')}: every reply is there already, nothing is left to ask or pay"
        money = "price unknown"
        if self.cost_usd is not None:
            low, expected, high = self.cost_usd
            money = "free of charge" if high == 0 else f"about ${expected:.4f} (${low:.4f} to ${high:.4f})"
        calls = f"{counted(self.calls, 'call')} to make, {self.cached:,} already paid for"
        return f"{counted(self.n_items, 'text')}: {calls}; {money}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """The findings about every judge, by its id and the name of the probe; `failed`: no judge could be asked."""

    target: str
    n_items: int
    judges: Mapping[str, Mapping[ProbeName, Probe]]
    plan: AuditPlan
    runs: Mapping[str, str] = field(default_factory=dict)
    cost_usd: Decimal | None = None
    status: Literal["completed", "partial", "failed"] = "completed"
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Did a judge fail a probe?"""
        return any(
            probe.finding is not None and probe.finding.verdict == "FAIL"
            for probes in self.judges.values()
            for probe in probes.values()
        )

    def to_dict(self) -> dict[str, Any]:
        """The findings as `assay audit --json` prints them."""
        return {
            "target": self.target,
            "status": self.status,
            "n_items": self.n_items,
            "judges": {
                judge: {name: _document(name, probe) for name, probe in probes.items()}
                for judge, probes in self.judges.items()
            },
            "plan": self.plan.document(),
            "runs": dict(self.runs),
            "cost_usd": None if self.cost_usd is None else float(self.cost_usd),
            "notes": list(self.notes),
        }


def _document(name: ProbeName, probe: Probe) -> dict[str, Any]:
    made: dict[str, Any] = {"meaning": MEANINGS[name], "left_out": probe.left_out}
    if probe.note is not None:
        made["note"] = probe.note
    if probe.noise is not None:
        made["noise_floor"] = value_document(probe.noise.floor)
        made["difference_by_luck"] = value_document(probe.noise.difference)
    if probe.finding is None:
        return {"verdict": None, **made}
    found = probe.finding
    return {
        "verdict": found.verdict,
        "effect": value_document(found.effect),
        "threshold": found.threshold,
        "n_to_decide": found.n_to_decide,
        **made,
    }


def audit_table(result: AuditResult) -> RenderableType:
    """The findings for people: a table a judge."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(f"audit of {clean(result.target, width=50)} · {counted(result.n_items, 'text')}")
    ]
    for judge, probes in result.judges.items():
        parts += _judge_parts(judge, probes)
    shown = dict.fromkeys(name for probes in result.judges.values() for name in probes)
    parts += [Text(""), *(Text(f"{name}: {MEANINGS[name]}", style="dim") for name in shown)]
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
        found = probe.finding
        if found is None:
            table.add_row(name, Text("—"), "", "", "", Text("not made", style="dim"))
        else:
            effect = found.effect
            number = "undefined" if effect.value is None else f"{effect.value:{'' if name == 'noise' else '+'}.3f}"
            allowed = f"{found.threshold:.3f}" if name == "noise" else f"±{found.threshold:.3f}"
            bounds = "" if effect.value is None else interval(effect.interval)
            table.add_row(name, Text(number), Text(bounds), f"{effect.n:,}", Text(allowed), _verdict(found))
            remarks |= {f"{name}: {note}": None for note in (remark(effect),) if note}
        if probe.note is not None:
            remarks[f"{name}: {probe.note}"] = None
        if probe.left_out:
            remarks[f"{name}: {probe.left_out:,} pairs lack one of the two answers and are left out"] = None
    yield Trimmed(table)
    yield from (Text(clean(note), style="dim") for note in remarks)


def _verdict(found: Finding) -> RenderableType:
    from rich.text import Text

    style = _STYLES[found.verdict]
    if found.verdict != "INCONCLUSIVE" or found.effect.value is None:
        return Text(found.verdict, style=style)
    needs = "on the threshold" if found.n_to_decide is None else f"about {found.n_to_decide:,} texts would tell"
    return Text.assemble((found.verdict, style), (f"\n{needs}", "dim"))

"""The results of an evaluation: as one table, and as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.report.gate import counts_document
from assay.report.table import Trimmed, spending_lines
from assay.report.values import interval, remark
from assay.results.costs import known_cost
from assay.results.document import run_document, spending_document, value_document
from assay.results.evaluation import EvaluationRunReport, PolicyVerdict, Repeatability, SpecificationReport
from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.text import clean, number
from assay.types import MetricValue

VALUES_SHOWN = 4
"""The number of values per scorer in the table; `assay show RUN` has all."""


def evaluation_document(report: EvaluationRunReport) -> dict[str, Any]:
    """The object that `--json` prints for an evaluation."""
    return {
        "evaluation": report.key,
        "display_name": report.display_name,
        "results": [_result(specification) for specification in report.specifications],
        "policies": [_policy(verdict) for verdict in report.policies],
        "failures": {"mode": report.failures.mode, "max_share": report.failures.max_share},
        "cost_usd": None if report.cost_usd is None else float(report.cost_usd),
        "spending": [spending_document(spent) for spent in report.spending],
    }


def _result(specification: SpecificationReport) -> dict[str, Any]:
    document: dict[str, Any] = {"specification": specification.key}
    if specification.report is not None:
        document |= run_document(specification.report)
    else:
        document |= {"status": "failed", "task": specification.task, "model": specification.model}
    if specification.error is not None:
        document["error"] = specification.error
    document["policies"] = [_policy(verdict) for verdict in specification.policies]
    if specification.repeatability is not None:
        document["repeatability"] = _repeatability(specification.repeatability)
        # what stands beside the spread is the cost of all runs, not of the one that is shown
        cost, unpriced = known_cost(specification.spending_of_all_runs)
        document["cost_usd"] = None if unpriced else float(cost)
        document["spending"] = [spending_document(spent) for spent in specification.spending_of_all_runs]
    return document


def _policy(verdict: PolicyVerdict) -> dict[str, Any]:
    return {
        "key": verdict.key,
        "rule": verdict.rule,
        "passed": verdict.passed,
        "reason": verdict.reason,
        "counts": counts_document(verdict.counts),
    }


def _repeatability(repeats: Repeatability) -> dict[str, Any]:
    return {
        "runs": list(repeats.runs),
        "values": {
            address: {"mean": s.mean, "std_dev": s.std_dev, "min": s.min, "max": s.max, "n": s.n}
            for address, s in repeats.values.items()
        },
        "agreement": {key: value_document(value) for key, value in repeats.agreement.items()},
    }


def evaluation_table(report: EvaluationRunReport) -> RenderableType:
    """Build the table of all specifications with headline metrics, then failures, variation and policies."""
    parts: list[RenderableType] = [Text(clean(report.display_name, width=70), style="bold"), Trimmed(_overview(report))]
    for specification in report.specifications:
        if specification.error is not None:
            words = Text.assemble(
                ("failed ", "bold red"), f"{clean(specification.key, width=40)}: {_first_line(specification.error)}"
            )
            parts.append(words)
    parts += [*_caveats(report)]
    parts += [
        _spread_table(specification.key, specification.repeatability)
        for specification in report.specifications
        if specification.repeatability
    ]
    ids = ", ".join(
        f"{clean(specification.key, width=40)} {specification.report.run}"
        for specification in report.specifications
        if specification.report
    )
    if ids:
        parts.append(Text(f"\nDetails by `assay show RUN`: {ids}", style="dim"))
    parts += [Text(line, style="dim") for line in spending_lines(report.spending)]
    if report.policies:
        parts += [Text("\nPolicies", style="bold"), *_policy_lines(report.policies)]
        if report.failures.mode == "ignore":
            parts.append(Text("note: policies ignore failed samples (--failures ignore)", style="yellow"))
    return Group(*parts)


def _first_line(message: str) -> str:
    return clean(message.splitlines()[0] if message else "", width=200)


def _overview(report: EvaluationRunReport) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("specification", overflow="fold", min_width=10, max_width=22)
    table.add_column("model", overflow="fold", min_width=5, max_width=18)
    table.add_column("", overflow="fold", min_width=6, max_width=18)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("95 % interval", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for specification in report.specifications:
        _add(table, specification)
    return table


def _add(table: Table, specification: SpecificationReport) -> None:
    name, model = clean(specification.key, width=60), clean(specification.model or "", width=60)
    if specification.report is None:
        table.add_row(name, model, Text("failed", style="red"))
        return
    first = True
    for label, value in headline(specification.report):
        style = "yellow" if value.value is None else "bold"
        value_text = Text("undefined" if value.value is None else number(value.value), style=style)
        table.add_row(
            name if first else "",
            model if first else "",
            clean(label, width=40),
            value_text,
            interval(value.interval),
            f"{value.n:,}",
        )
        first = False
    if first:
        table.add_row(name, model, Text("no metrics", style="dim"))
    more = sum(max(0, len(_values(scorer)) - VALUES_SHOWN) for scorer in _scoring(specification.report))
    if more:
        table.add_row("", "", Text(f"(+{more} more)", style="dim"))
    state = _state(specification.report)
    if state:
        table.add_row("", "", Text(state, style="yellow"))


def _state(report: RunReport) -> str:
    failed = f"{report.n_failed:,} with failures" if report.n_failed else ""
    cut = f"{report.n_cut:,} cut off" if report.n_cut else ""
    status = "" if report.status == "completed" else report.status
    return ", ".join(filter(None, (status, failed, cut)))


def headline(report: RunReport) -> Iterator[tuple[str, MetricValue]]:
    """The values that sum a run up: the first few of each scorer that scores."""
    scorers = _scoring(report)
    for scorer in scorers:
        for metric, name, value in _values(scorer)[:VALUES_SHOWN]:
            yield _label(name, metric, scorer.display_name or scorer.key, alone=len(scorers) == 1), value


def _scoring(report: RunReport) -> list[ScorerReport]:
    return [scorer for scorer in report.scorers if scorer.purpose == "score"]


def _values(scorer: ScorerReport) -> list[tuple[MetricReport, str, MetricValue]]:
    return [(metric, name, value) for metric in scorer.metrics for name, value in metric.result.values.items()]


def _caveats(report: EvaluationRunReport) -> Iterator[RenderableType]:
    """Return the caveats on the metrics above, and why some are undefined."""
    labels_by_note: dict[str, list[str]] = {}
    for specification in report.specifications:
        for label, value in headline(specification.report) if specification.report is not None else ():
            note = remark(value)
            if note and note != "none":
                labels_by_note.setdefault(note, []).append(f"{specification.key} {label}")
    for note, where in labels_by_note.items():
        yield Text(f"{clean(note)}: {clean(', '.join(where), width=300)}", style="dim")


def _label(name: str, metric: MetricReport, scorer: str, *, alone: bool) -> str:
    called = metric.display_name if metric.display_name and len(metric.result.values) == 1 else name
    return called if alone else f"{scorer} {called}"


def _spread_table(key: str, repeats: Repeatability) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", overflow="fold", max_width=34)
    for column in ("mean", "std dev", "min", "max"):
        table.add_column(column, justify="right", no_wrap=True)
    for address, spread in repeats.values.items():
        cells = ("" if v is None else number(v) for v in (spread.mean, spread.std_dev, spread.min, spread.max))
        table.add_row(clean(address, width=60), *cells)
    lines = [
        Text(f"{clean(scorer, width=30)}: {_agreement_words(value)}", style="dim")
        for scorer, value in repeats.agreement.items()
    ]
    title = Text(f"\n{clean(key, width=40)}: {len(repeats.runs)} runs", style="bold")
    return Group(title, Trimmed(table), *lines)


def _agreement_words(value: MetricValue) -> str:
    if value.value is None:
        return value.reason or "undefined"
    return f"{value.value:.0%} of {value.n:,} samples scored alike every time".replace("%", " %")


def _policy_lines(verdicts: tuple[PolicyVerdict, ...]) -> Iterator[RenderableType]:
    for verdict in verdicts:
        word, style = ("PASS", "green") if verdict.passed else ("FAIL", "bold red")
        name = f"{clean(verdict.key, width=30)}/{clean(verdict.rule, width=30)}"
        yield Text.assemble((word, style), f" {name}")
        reason = Text(clean(verdict.reason, width=300), style="dim")
        reason.append(f"\n{verdict.counts}", style="yellow" if verdict.counts.failed else "dim")
        yield Trimmed(Padding(reason, (0, 0, 0, 5)))

"""Agreement of judges with the ground truth and with each other: as JSON, and as a table of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.report.values import interval, remark
from assay.results.agreement import PANEL, AgainstTruth, AgreementResult, Between, CriterionAgreement, Values
from assay.results.document import value_document
from assay.text import clean, counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

PAIRS_SHOWN = 28
NAME_WIDTH = 36
WORST_BEST = "if all who abstained were wrong, and if all were right"
_TRUTH_ROWS = {
    "binary": ("accuracy", "precision", "recall", "f1", "kappa", "bias"),
    "ordinal": ("accuracy", "adjacent_accuracy", "kappa", "kappa_quadratic", "bias", "rmse", "spearman"),
    "nominal": ("accuracy", "kappa"),
}
"""The statistics of a judge that the terminal shows; JSON has all of them."""
_BETWEEN_ROWS = {
    "binary": ("agreement", "alpha_nominal", "fleiss_kappa", "ac1", "effective_judges"),
    "ordinal": (
        "agreement",
        "alpha_ordinal",
        "alpha_interval",
        "fleiss_kappa",
        "ac1",
        "ac2",
        "icc_single",
        "icc_mean",
        "effective_judges",
    ),
    "nominal": ("agreement", "alpha_nominal", "fleiss_kappa", "ac1"),
}


def agreement_document(result: AgreementResult) -> dict[str, Any]:
    """Build the document that `assay agreement --json` prints."""
    return {
        "criteria": {criterion.name: _criterion(criterion) for criterion in result.criteria},
        "overall": {judge: _values(values) for judge, values in result.overall.items()},
        "criteria_defined": {judge: dict(counts) for judge, counts in result.defined.items()},
        "between_judges": _values(result.between),
        "scores": {judge: _values(values) for judge, values in result.scores.items()},
        "totals_between_judges": _values(result.totals),
        "redundant_criteria": [
            {"first": pair.first, "second": pair.second, "spearman": value_document(pair.spearman)}
            for pair in result.redundant
        ],
        "notes": list(result.notes),
    }


def _values(values: Values) -> dict[str, Any]:
    return {name: value_document(value) for name, value in values.items()}


def _criterion(criterion: CriterionAgreement) -> dict[str, Any]:
    document: dict[str, Any] = {
        "kind": criterion.kind,
        "labels": list(criterion.labels),
        "n_items": criterion.n_items,
        "n_without_truth": criterion.n_without_truth,
        "judges": {name: _against(judge) for name, judge in criterion.judges.items()},
    }
    for name, between in (("between_judges", criterion.between), ("between_people", criterion.people)):
        if between is not None:
            document[name] = _between(between)
    if criterion.ceilings:
        document["human_ceiling"] = {
            name: {part: value_document(getattr(ceiling, part)) for part in ("ceiling", "judge", "matched")}
            for name, ceiling in criterion.ceilings.items()
        }
    if criterion.noise:
        document["repeats"] = {
            name: {
                "noise_floor": value_document(noise.floor),
                "difference_by_luck": value_document(noise.difference),
            }
            for name, noise in criterion.noise.items()
        }
    if criterion.given_to_all is not None:
        document["given_to_all"] = criterion.given_to_all
    return document


def _against(judge: AgainstTruth) -> dict[str, Any]:
    gone = judge.abstentions
    counts = {name: getattr(gone, name) for name in ("n", "assessed", "both", "truth_only", "judge_only")}
    numbers = ("truth_rate", "judge_rate", "kappa", "accuracy_low", "accuracy_high")
    return {
        "values": _values(judge.values),
        "per_option": {label: _values(values) for label, values in judge.per_option.items()},
        "confusion": [list(row) for row in judge.confusion],
        "abstentions": {**counts, **{name: value_document(getattr(gone, name)) for name in numbers}},
        "n_failed": judge.n_failed,
    }


def _between(between: Between) -> dict[str, Any]:
    pairs = [{"first": one, "second": other, **_values(values)} for (one, other), values in between.pairs.items()]
    document: dict[str, Any] = {"raters": list(between.raters), "values": _values(between.values), "pairs": pairs}
    if between.without:
        document["without"] = {name: _values(values) for name, values in between.without.items()}
    return document


def agreement_table(result: AgreementResult) -> RenderableType:
    """Build the table of the main statistics."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for criterion in result.criteria:
        parts += _criterion_parts(criterion)
    several = len(result.criteria) > 1 and (result.between or result.overall or result.redundant)
    if several or result.scores or result.totals:
        parts += _overall_parts(result)
    parts += [Text(f"note: {clean(note)}", style="yellow") for note in result.notes]
    return Group(*parts)


def _criterion_parts(criterion: CriterionAgreement) -> Iterator[RenderableType]:
    from rich.text import Text

    without = (
        f", {criterion.n_without_truth:,} without a truth" if criterion.n_without_truth and criterion.judges else ""
    )
    subtitle = f"  {criterion.kind}, {len(criterion.labels)} options, {criterion.n_items:,} items{without}"
    yield Text.assemble((clean(criterion.name, width=40), "bold cyan"), (subtitle, "dim"))
    table, notes = _new_table(), _Notes()
    for title, between in (("between judges", criterion.between), ("between people", criterion.people)):
        if between is not None:
            _add_between(table, title, between, criterion.kind, notes)
    for name, judge in _distinct_judges(criterion.judges).items():
        _add(table, _titled("truth", name), judge.values, notes, _TRUTH_ROWS[criterion.kind])
        _add_counts(table, judge, notes)
    for name, ceiling in _distinct_judges(criterion.ceilings).items():
        rows = {"people with the others": ceiling.ceiling, "this judge with the same": ceiling.judge}
        _add(table, _titled("people", name), {**rows, "share of people matched": ceiling.matched}, notes)
    if criterion.noise:
        _add(table, "noise floor of repeats", {name: noise.floor for name, noise in criterion.noise.items()}, notes)
    if criterion.given_to_all is not None:
        label = clean(criterion.given_to_all, width=40)
        yield Text(f"every item got {label}: this criterion does not tell items apart (see --json)", style="yellow")
    elif table.row_count:
        yield _trimmed(table)
        yield from _below(notes)
    yield Text("")


def _overall_parts(result: AgreementResult) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text("all criteria", style="bold cyan")
    table, notes = _new_table(), _Notes()
    if result.between:
        _add(table, "between judges, mean", result.between, notes)
    for name, values in _distinct_judges(result.overall).items():
        counts = result.defined.get(name, {})
        labelled = {f"{key} ({counts[key]} criteria)" if key in counts else key: value for key, value in values.items()}
        _add(table, _titled("truth", name), labelled, notes)
    for name, values in _distinct_judges(result.scores).items():
        _add(table, _titled("score", name), values, notes)
    if result.totals:
        _add(table, "scores of the judges", result.totals, notes)
    if result.redundant:
        pairs = {f"{clean(pair.first)} ~ {clean(pair.second)}": pair.spearman for pair in result.redundant}
        _add(table, "redundant criteria: spearman", pairs, notes)
    yield _trimmed(table)
    yield from _below(notes)


def _distinct_judges(by_judge: Mapping[str, Any]) -> dict[str, Any]:
    """Return the panel and its judges; a panel of one equals its judge."""
    return {name: entry for name, entry in by_judge.items() if name != PANEL or len(by_judge) != 2}


@dataclass(slots=True)
class _Notes:
    """Collects the table's footnotes: long remarks, and the names behind numbers."""

    remarks: dict[str, int] = field(default_factory=dict)
    legend: dict[str, None] = field(default_factory=dict)

    def mark(self, remark: str) -> str:
        return f"({self.remarks.setdefault(remark, len(self.remarks) + 1)})" if remark else ""


def _below(notes: _Notes) -> Iterator[RenderableType]:
    from rich.text import Text

    yield from (Text(line, style="dim") for line in notes.legend)
    yield from (Text(f"({number}) {clean(note)}", style="dim") for note, number in notes.remarks.items())


def _titled(subject: str, name: str) -> str:
    """Shorten a heading to fit; the end of a long name is kept, since it distinguishes models."""
    most = NAME_WIDTH - len(subject) - 3
    return f"{subject} · {name if len(name) <= most else '…' + name[1 - most :]}"


def _new_table() -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True, overflow="ellipsis", min_width=NAME_WIDTH, max_width=NAME_WIDTH)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("", style="dim", overflow="fold")
    return table


def _trimmed(table: Table) -> RenderableType:
    from assay.report.table import Trimmed

    return Trimmed(table)


def _add_between(table: Table, title: str, between: Between, kind: str, notes: _Notes) -> None:
    _add(table, title, between.values, notes, _BETWEEN_ROWS[kind])
    longest = sum(sorted(map(len, between.raters))[-2:])
    numbers = {name: str(number) for number, name in enumerate(between.raters, start=1)}
    called = numbers if longest > NAME_WIDTH - 5 else {name: name for name in between.raters}
    pairs = list(between.pairs.items())[:PAIRS_SHOWN]
    for name in ("kappa", "kappa_quadratic") if kind == "ordinal" else ("kappa",):
        rows = {f"{called[one]} · {called[other]}": values[name] for (one, other), values in pairs}
        _add(table, f"{name} of two", rows, notes)
    if between.without:
        measured = next(name for name in next(iter(between.without.values())) if name != "agreement")
        rows = {f"without {called[name]}": values[measured] for name, values in between.without.items()}
        _add(table, f"{measured} of the others", rows, notes)
    if called is numbers:
        notes.legend |= {f"{number} is {clean(name)}": None for name, number in numbers.items()}


def _add(table: Table, title: str, values: Values, notes: _Notes, names: tuple[str, ...] | None = None) -> None:
    from rich.text import Text

    table.add_row(Text(clean(title, width=NAME_WIDTH), style="italic"))
    for name in names or tuple(values):
        if name not in values:
            continue
        value = values[name]
        style = "yellow" if value.value is None else "bold"
        table.add_row(
            Text(f"  {clean(name, width=NAME_WIDTH - 2)}"),
            Text("undefined" if value.value is None else f"{round(value.value, 4) + 0.0:.4f}", style=style),
            Text("" if value.value is None else interval(value.interval)),
            Text(f"{value.n:,}"),
            Text(notes.mark(remark(value))),
        )


def _add_counts(table: Table, judge: AgainstTruth, notes: _Notes) -> None:
    """Add the number of excluded pairs and the reasons."""
    from rich.text import Text

    gone = judge.abstentions
    if gone.assessed < gone.n:
        low, high = gone.accuracy_low, gone.accuracy_high
        assert low.value is not None
        assert high.value is not None
        table.add_row(
            Text(f"  {gone.n - gone.assessed:,} abstained: accuracy", style="dim"),
            "",
            Text(f"{low.value:.3f} to {high.value:.3f}", style="dim"),
            f"{gone.n:,}",
            Text(notes.mark(WORST_BEST)),
        )
    if judge.n_failed:
        table.add_row(Text(f"  {counted(judge.n_failed, 'vote')} failed", style="yellow"))

"""A comparison as a table of 80 columns: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.report.compare import bracket, sides, words
from assay.report.table import Trimmed
from assay.results.comparison import Compared, Comparison, Flip, Part
from assay.text import clean, counted, number

IDS_SHOWN = 8
PARTS_SHOWN = 30
STYLES = {"better": "green", "worse": "red", "equivalent": "green"}


def comparison_table(comparison: Comparison, *, flips: int = 5) -> RenderableType:
    """Build the table of a comparison, with up to `flips` changed samples in each direction."""
    parts: list[RenderableType] = [_heads(comparison)]
    for match in comparison.matching:
        differences = "".join(f"; {_ids(side, ids)}" for side, ids in sides(match).items())
        line = f"{match.against} and {match.letter} share {counted(match.n_common, 'sample')}{differences}"
        parts.append(Text(line, style="yellow" if differences else "dim"))
    for compared in comparison.compared:
        parts.extend(_compared(compared, comparison, flips))
    parts.append(Text(""))
    level = f"{comparison.level:.0%}".replace("%", " %")
    parts.append(Text(f"Intervals: {level}, not adjusted for the number of comparisons.", style="dim"))
    parts.extend(Text(f"note: {clean(note)}", style="yellow") for note in comparison.notes)
    return Group(*parts)


def _heads(comparison: Comparison) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for run in comparison.runs:
        parts = [clean(run.task, width=40)]
        parts += [clean(run.model, width=30)] if run.model else []
        parts += [clean(f"{key}={value}", width=40) for key, value in run.settings.items()]
        name = Text(clean(run.name, width=20), style="bold") if run.name else Text()
        table.add_row(Text(run.letter, style="bold"), run.run, name, Text(" · ".join(parts)))
    return Trimmed(table)


def _ids(side: str, ids: Sequence[str]) -> str:
    examples = ", ".join(clean(sample_id, width=20) for sample_id in ids[:IDS_SHOWN])
    more = f" and {len(ids) - IDS_SHOWN:,} more" if len(ids) > IDS_SHOWN else ""
    return f"{len(ids):,} {side} ({examples}{more})"


def _compared(compared: Compared, whole: Comparison, flips: int) -> Iterator[RenderableType]:
    yield Text.assemble(
        "\n", (clean(compared.address), "bold cyan"), (f"  {compared.letter} against {compared.against}", "dim")
    )
    yield Text(words(compared, whole), style=f"bold {STYLES.get(compared.verdict, '')}".strip())
    yield Trimmed(_numbers(compared))
    for name, counts in ((compared.against, compared.counts_before), (compared.letter, compared.counts_after)):
        yield Text(f"  {name}: {counts}", style="yellow" if counts.failed or counts.excluded else "dim")
    for title, parts in (("group", compared.groups), ("criterion", compared.criteria)):
        if parts:
            yield Trimmed(Padding(_parts(parts, title, in_points=compared.in_points), (0, 0, 0, 2)))
    if flips:
        yield from _flips(compared, flips)


def _numbers(compared: Compared) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in (f"  {compared.against}", compared.letter, "better", "same", "worse", "method"):
        table.add_column(title, justify="left" if title == "method" else "right")
    paired = compared.found
    interval = paired.difference.interval
    caveat = f"; {clean(interval.caveat)}" if interval is not None and interval.caveat else ""
    clusters = f", {interval.clusters:,} clusters" if interval is not None and interval.clusters else ""
    names = dict.fromkeys([interval.method if interval is not None else "none", paired.test])
    method = f"{' + '.join(names)}{clusters}{caveat}"
    won, lost = (paired.wins, paired.losses) if _higher_is_better(compared) else (paired.losses, paired.wins)
    table.add_row(
        f"  {number(compared.before.value)}",
        number(compared.after.value),
        f"{won:,}",
        f"{paired.ties:,}",
        f"{lost:,}",
        Text(method, style="dim"),
    )
    return table


def _higher_is_better(compared: Compared) -> bool:
    """Return whether higher is better, as the verdict implies; true if it does not say."""
    value = compared.found.difference.value or 0.0
    return not ((compared.verdict == "worse" and value > 0) or (compared.verdict == "better" and value < 0))


def _parts(parts: Sequence[Part], title: str, *, in_points: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in (title, "difference", "n", "p adjusted"):
        table.add_column(name, justify="left" if name == title else "right", overflow="fold")
    for part in parts[:PARTS_SHOWN]:
        value = part.found.difference.value
        size = "?" if value is None else f"{value * 100:+.1f}" if in_points else f"{value:+.3g}"
        difference = f"{size} {bracket(part.found.difference.interval, in_points)}"
        p = "" if part.p_adjusted is None else f"{part.p_adjusted:.2g}"
        table.add_row(Text(clean(part.name, width=30)), difference, f"{part.found.n:,}", p)
    if len(parts) > PARTS_SHOWN:
        table.add_row(Text(f"(+{len(parts) - PARTS_SHOWN} more: --json)", style="dim"))
    return table


def _flips(compared: Compared, most: int) -> Iterator[RenderableType]:
    for title, flips in (("up", compared.flips.up), ("down", compared.flips.down)):
        if flips:
            more = f" and {len(flips) - most:,} more" if len(flips) > most else ""
            examples = ", ".join(_flip(flip) for flip in flips[:most])
            yield Text(f"  {title}: {examples}{more}", style="dim")


def _flip(flip: Flip) -> str:
    name = clean(flip.sample_id, width=24)
    if {flip.before, flip.after} <= {0.0, 1.0}:
        return name
    return f"{name} ({number(flip.before)} → {number(flip.after)})"

"""One sample on a terminal: its fields, answer, scores, votes and failures."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

import orjson
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.analysis.sample_query import quality
from assay.report.table import Trimmed
from assay.store.decoder import Sample
from assay.store.run_spec import RunSpec
from assay.text import clean, shortened
from assay.types import Score

ANSWERED, FAILED = "cyan", "yellow"
SCORED = {"good": "green", "bad": "red"}
"""Right is green and wrong red; a grade in between, or a value that is neither good nor bad, has no colour."""

DEEPER = " " * 6
"""Set before every line but the first of a text."""


VOTES = "votes"
"""The metadata of a rubric's score that has its own table."""


def print_sample(terminal: Console, entry: Sample, spec: RunSpec, *, full: bool) -> None:
    """Print a sample of a run at a glance, or in full with its conversation and votes."""
    for line, style in _all_lines(entry, spec) if full else _lines(entry, spec):
        if not isinstance(line, str):
            terminal.print(Trimmed(Padding(line, (0, 0, 0, 6))), style=style)
            continue
        # why something failed is never cut: that is what people come for
        parts = wrap(clean(line), terminal.width, subsequent_indent=DEEPER) if style == FAILED else [line]
        for part in parts:
            width = None if full or style == FAILED else terminal.width
            terminal.print(Text(clean(part, width=width), style=style), soft_wrap=True)


def _lines(entry: Sample, spec: RunSpec) -> Iterator[tuple[str, str]]:
    """A sample at a glance: a line for each thing, each with its style."""
    yield _title(entry), "bold"
    for name, value in _fields(entry, spec.answer_column):
        yield f"  {name}: {value_text(value)}", ""
    if entry.output is not None:
        yield f"  → {entry.output}", ANSWERED
    for key, score in entry.scores.items():
        values = ", ".join(f"{k} {value_text(v)}" for k, v in {**score.values, **score.metadata}.items() if k != VOTES)
        yield f"  {key}: {values}", _style(spec, key, score)
    if entry.excluded_by:
        yield f"  excluded from the metrics by {', '.join(entry.excluded_by)}", "dim"
    for failure in _failures(entry):
        yield from _block("  ", failure, FAILED)


def _style(spec: RunSpec, key: str, score: Score) -> str:
    return SCORED.get(quality(spec, key, score.values) or "", "")


def _all_lines(entry: Sample, spec: RunSpec) -> Iterator[tuple[str | Table, str]]:
    """A sample in full: texts with their line breaks, and the conversation that led to the answer."""
    yield _title(entry), "bold"
    for name, value in _fields(entry, spec.answer_column):
        yield from _block(f"  {name}: ", value_text(value), "")
    for name, text in _conversation(entry):
        yield from _block(f"  [{name}] ", text, "dim")
    if entry.output is not None:
        yield from _block("  → ", entry.output, ANSWERED)
    for key, score in entry.scores.items():
        style = _style(spec, key, score)
        yield f"  {key}:", style
        for name, value in {**score.values, **score.metadata}.items():
            if name == VOTES and isinstance(value, dict):
                yield f"    {name}:", style
                yield _votes(value), style
            else:
                yield from _block(f"    {name}: ", value_text(value), style)
    if entry.excluded_by:
        yield f"  excluded from the metrics by {', '.join(entry.excluded_by)}", "dim"
    for failure in _failures(entry):
        yield from _block("  ", failure, FAILED)


def _fields(entry: Sample, hidden: str | None) -> Iterator[tuple[str, Any]]:
    """Return the fields of the sample except its id and answer, which are shown separately."""
    hidden_values = {"sample_id": entry.sample_id, **({} if hidden is None else {hidden: entry.output})}
    for name, value in entry.sample.items():
        if name not in hidden_values or str(value) != hidden_values[name]:
            yield name, value


def _votes(votes: dict[str, list[dict[str, Any]]]) -> Table:
    """Build the table of votes: judge, criterion, verdict and reason."""

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("criterion", "judge", "vote"):
        table.add_column(title, no_wrap=True)
    table.add_column("reason", overflow="fold")
    for criterion, cast in votes.items():
        for vote in cast:
            names = (
                shortened(criterion, 16),
                shortened(str(vote.get("judge_id", "")), 16),
                clean(_vote(vote), width=16),
            )
            table.add_row(*map(Text, names), Text(clean(str(vote.get("reason") or ""))))
    return table


def _vote(vote: dict[str, Any]) -> str:
    """Describe a vote in a word: the verdict, the option's label, or the error; superseded ones in brackets."""
    if vote.get("error"):
        return f"failed ({vote['error']})"
    label = str(vote.get("verdict") or vote.get("selected_label") or ("abstained" if vote.get("na") else "—"))
    return f"({label})" if vote.get("superseded") else label


def _block(head: str, text: str, style: str) -> Iterator[tuple[str, str]]:
    """A text of several lines, all after the first set in: none can be taken for one of ours."""
    first, *rest = text.splitlines() or [""]
    yield f"{head}{first}", style
    yield from ((f"{DEEPER}{line}", style) for line in rest)


def _title(entry: Sample) -> str:
    return f"sample {entry.sample_id}" + (f" (trial {entry.trial})" if entry.trial else "")


def _conversation(entry: Sample) -> Iterator[tuple[str, str]]:
    """Build the conversation up to the answer."""
    items = list(entry.trace or [])
    if items and items[-1].get("role") == "assistant" and items[-1].get("content") == entry.output:
        items.pop()
    for item in items:
        role = item.get("role")
        if role is not None and set(item) <= {"type", "role", "content"}:
            yield str(role), value_text(item.get("content"))
        else:
            yield str(role or item.get("type", "item")), value_text({k: v for k, v in item.items() if k != "type"})


def _failures(entry: Sample) -> Iterator[str]:
    for scorer, failure in entry.failures.items():
        where = f" in {scorer}" if scorer else ""
        yield f"failed ({failure.kind}){where}: {failure.detail}"


def value_text(value: Any) -> str:
    """Text as it is, anything else as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()

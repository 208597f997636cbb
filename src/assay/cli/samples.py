"""`assay samples`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import console, find_store, json_option, store_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from assay.engine.evidence import Evidence
    from assay.store.runs import RunRecord
    from assay.store.store import Store

TERMINAL_LIMIT = 20
IDS_READ = 10_000
ANSWERED, SCORED, FAILED = "cyan", "green", "yellow"
DEEPER = " " * 6
"""Set before every line but the first of a text."""
VOTES = "votes"
"""The metadata of a rubric's score that has a table of its own."""


@click.command("samples")
@click.argument("run", default="latest")
@click.option("--id", "sample_id", metavar="ID", help="Only the sample with this id, in full, with the conversation.")
@click.option("--failed", is_flag=True, help="Only samples with a failure.")
@click.option("--wrong", is_flag=True, help="Only samples that some scorer found incorrect; with --failed: either.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most N samples (on a terminal 20 unless given).",
)
@store_option
@json_option
def command(
    run: str,
    *,
    sample_id: str | None,
    failed: bool,
    wrong: bool,
    limit: int | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Look at the samples behind the numbers of RUN (default: latest).

    With --json one object a line: sample_id, trial, sample, output, scores, failures.

    \b
    Examples:
      assay samples --wrong             what was answered wrong
      assay samples 3f2a --failed       what could not be answered or scored, and why
      assay samples --id q7             one sample in full
      assay samples --json > all.jsonl
    """
    from itertools import islice

    from assay.engine.evidence import evidence_of
    from assay.store.runs import find

    opened = find_store(store)
    record = find(opened, run)
    if sample_id is not None:
        _expect(opened, record, sample_id)
    found = evidence_of(opened, record, sample_id=sample_id, failed=failed and not wrong)
    if wrong:
        found = (entry for entry in found if entry.is_wrong or (failed and entry.failures))
    if as_json:
        _print_json(islice(found, limit))
        return
    most = limit or (TERMINAL_LIMIT if sys.stdout.isatty() else None)
    hidden = _answer_column(record)
    n = 0
    for entry in found:
        if n == most:
            click.echo("... more follow: --limit N shows N of them, --json prints them all")
            break
        _print_entry(entry, hidden, full=sample_id is not None)
        n += 1
    if not n:
        click.echo("no such samples")


def _expect(store: Store, record: RunRecord, sample_id: str) -> None:
    """A SpecError with the nearest id, or with some that there are, unless the run has the sample."""
    from itertools import islice

    from assay.engine.evidence import evidence_of
    from assay.errors import Problem, SpecError
    from assay.spec.nearest import listing, nearest

    if next(evidence_of(store, record, sample_id=sample_id), None) is not None:
        return
    known = list(dict.fromkeys(entry.sample_id for entry in islice(evidence_of(store, record), IDS_READ)))
    near = nearest(sample_id, known)
    there = "" if near else f"; its ids are {listing(known, most=5)}"
    raise SpecError(Problem(message=f'run {record.id} has no sample "{sample_id}"{there}', suggestion=near))


def _answer_column(record: RunRecord) -> str | None:
    """The column that holds recorded answers: those are shown as answers already."""
    import orjson

    task = orjson.loads(record.spec).get("task", {})
    solver = task.get("definition", {}).get("solver")
    return solver.get("trace_column") if isinstance(solver, dict) else None


def _print_json(entries: Iterator[Evidence]) -> None:
    import orjson

    write = sys.stdout.buffer.write
    for entry in entries:
        write(orjson.dumps(entry.document()) + b"\n")
    sys.stdout.buffer.flush()


def _print_entry(entry: Evidence, hidden: str | None, *, full: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from assay.report.table import Trimmed
    from assay.report.text import clean

    terminal = console()
    for line, style in _all_lines(entry, hidden) if full else _lines(entry, hidden):
        if not isinstance(line, str):
            terminal.print(Trimmed(Padding(line, (0, 0, 0, 6))), style=style)
            continue
        # why something failed is never cut: that is what people come for
        for part in _wrapped(clean(line), terminal.width) if style == FAILED else [line]:
            width = None if full or style == FAILED else terminal.width
            terminal.print(Text(clean(part, width=width), style=style), soft_wrap=True)


def _wrapped(line: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(line, width, subsequent_indent=DEEPER)


def _lines(entry: Evidence, hidden: str | None) -> Iterator[tuple[str, str]]:
    """A sample at a glance: a line for each thing, each with its style."""
    yield _title(entry), "bold"
    for name, value in _fields(entry, hidden):
        yield f"  {name}: {_said(value)}", ""
    if entry.output is not None:
        yield f"  → {entry.output}", ANSWERED
    for key, score in entry.scores.items():
        said = ", ".join(f"{k} {_said(v)}" for k, v in {**score.values, **score.metadata}.items() if k != VOTES)
        yield f"  {key}: {said}", SCORED
    for failure in _failures(entry):
        yield from _block("  ", failure, FAILED)


def _all_lines(entry: Evidence, hidden: str | None) -> Iterator[tuple[str | Table, str]]:
    """A sample in full: texts with their line breaks, and the conversation that led to the answer."""
    yield _title(entry), "bold"
    for name, value in _fields(entry, hidden):
        yield from _block(f"  {name}: ", _said(value), "")
    for name, text in _conversation(entry):
        yield from _block(f"  [{name}] ", text, "dim")
    if entry.output is not None:
        yield from _block("  → ", entry.output, ANSWERED)
    for key, score in entry.scores.items():
        yield f"  {key}:", SCORED
        for name, value in {**score.values, **score.metadata}.items():
            if name == VOTES and isinstance(value, dict):
                yield f"    {name}:", SCORED
                yield _votes(value), SCORED
            else:
                yield from _block(f"    {name}: ", _said(value), SCORED)
    for failure in _failures(entry):
        yield from _block("  ", failure, FAILED)


def _fields(entry: Evidence, hidden: str | None) -> Iterator[tuple[str, Any]]:
    """The fields of the sample, without those that are shown already: its id, and the answer that it holds."""
    shown = {"sample_id": entry.sample_id, **({} if hidden is None else {hidden: entry.output})}
    for name, value in entry.sample.items():
        if name not in shown or str(value) != shown[name]:
            yield name, value


def _votes(votes: dict[str, list[dict[str, Any]]]) -> Table:
    """Who said what of which criterion, and why."""
    from rich.table import Table
    from rich.text import Text

    from assay.report.text import clean, shortened

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
    """A vote in a word: the verdict, the label of the option, or why there is none."""
    if vote.get("error"):
        return f"failed ({vote['error']})"
    return str(vote.get("verdict") or vote.get("selected_label") or ("abstained" if vote.get("na") else "—"))


def _block(head: str, text: str, style: str) -> Iterator[tuple[str, str]]:
    """A text of several lines, all after the first set in: none can be taken for one of ours."""
    first, *rest = text.splitlines() or [""]
    yield f"{head}{first}", style
    yield from ((f"{DEEPER}{line}", style) for line in rest)


def _title(entry: Evidence) -> str:
    return f"sample {entry.sample_id}" + (f" (trial {entry.trial})" if entry.trial else "")


def _conversation(entry: Evidence) -> Iterator[tuple[str, str]]:
    """Who said what, up to the answer."""
    items = list(entry.trace or [])
    if items and items[-1].get("role") == "assistant" and items[-1].get("content") == entry.output:
        items.pop()
    for item in items:
        role = item.get("role")
        if role is not None and set(item) <= {"type", "role", "content"}:
            yield str(role), _said(item.get("content"))
        else:
            yield str(role or item.get("type", "item")), _said({k: v for k, v in item.items() if k != "type"})


def _failures(entry: Evidence) -> Iterator[str]:
    for named in entry.failures:
        where = f" in {named.scorer}" if named.scorer else ""
        yield f"failed ({named.failure.kind}){where}: {named.failure.detail}"


def _said(value: Any) -> str:
    """Text as it is, anything else as JSON."""
    import orjson

    return value if isinstance(value, str) else orjson.dumps(value).decode()

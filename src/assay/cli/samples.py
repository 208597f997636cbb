"""`assay samples`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import console, find_store, json_option, store_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.evidence import Evidence
    from assay.store.runs import RunRecord
    from assay.store.store import Store

TERMINAL_LIMIT = 20
IDS_READ = 10_000
ANSWERED, SCORED, FAILED = "cyan", "green", "yellow"


@click.command("samples")
@click.argument("run", default="latest")
@click.option("--id", "sample_id", metavar="ID", help="Only the sample with this id, in full, with the conversation.")
@click.option("--failed", is_flag=True, help="Only samples with a failure.")
@click.option("--wrong", is_flag=True, help="Only samples that some scorer found incorrect.")
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
    found = evidence_of(opened, record, sample_id=sample_id, failed=failed)
    if wrong:
        found = (entry for entry in found if entry.is_wrong)
    if as_json:
        _print_json(islice(found, limit))
        return
    most = limit or (TERMINAL_LIMIT if sys.stdout.isatty() else None)
    n = 0
    for entry in found:
        if n == most:
            click.echo("... more follow: --limit N shows N of them, --json prints them all")
            break
        _print_entry(entry, full=sample_id is not None)
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


def _print_json(entries: Iterator[Evidence]) -> None:
    import orjson

    write = sys.stdout.buffer.write
    for entry in entries:
        write(orjson.dumps(entry.document()) + b"\n")
    sys.stdout.buffer.flush()


def _print_entry(entry: Evidence, *, full: bool) -> None:
    from rich.text import Text

    from assay.report.text import clean

    terminal = console()
    for line, style in _all_lines(entry) if full else _lines(entry):
        # why something failed is never cut: that is what people come for
        width = None if full or style == FAILED else terminal.width
        terminal.print(Text(clean(line, width=width), style=style), soft_wrap=True)


def _lines(entry: Evidence) -> Iterator[tuple[str, str]]:
    """A sample at a glance: a line for each thing, each with its style."""
    yield _title(entry), "bold"
    for name, value in entry.sample.items():
        yield f"  {name}: {_said(value)}", ""
    if entry.output is not None:
        yield f"  → {entry.output}", ANSWERED
    for key, score in entry.scores.items():
        said = ", ".join(f"{k} {_said(v)}" for k, v in {**score.values, **score.metadata}.items())
        yield f"  {key}: {said}", SCORED
    yield from ((f"  {failure}", FAILED) for failure in _failures(entry))


def _all_lines(entry: Evidence) -> Iterator[tuple[str, str]]:
    """A sample in full: texts with their line breaks, and the conversation that led to the answer."""
    yield _title(entry), "bold"
    for name, value in entry.sample.items():
        yield from _block(f"  {name}: ", _said(value), "")
    for name, text in _conversation(entry):
        yield from _block(f"  [{name}] ", text, "dim")
    if entry.output is not None:
        yield from _block("  → ", entry.output, ANSWERED)
    for key, score in entry.scores.items():
        yield f"  {key}:", SCORED
        for name, value in {**score.values, **score.metadata}.items():
            yield from _block(f"    {name}: ", _said(value), SCORED)
    for failure in _failures(entry):
        yield from _block("  ", failure, FAILED)


def _block(head: str, text: str, style: str) -> Iterator[tuple[str, str]]:
    """A text of several lines, all after the first set in: none can be taken for one of ours."""
    first, *rest = text.splitlines() or [""]
    yield f"{head}{first}", style
    yield from ((f"      {line}", style) for line in rest)


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

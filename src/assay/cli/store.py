"""`assay store`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from assay.cli.main import SuggestingGroup
from assay.cli.options import FILE, json_option, store_option
from assay.cli.output import print_json
from assay.cli.runs import moment

if TYPE_CHECKING:
    from assay.api.stored import RunRecord, Store, StoreInfo


@click.group("store", cls=SuggestingGroup)
def command() -> None:
    """Inspect and maintain the store, the file or database that holds all runs.

    \b
    Examples:
      assay store info                        print its contents and schema version
      assay store backup nightly.db           copy it, also while a run writes
      assay store prune --older-than 90d      delete old runs
    """


@command.command("info", short_help="Print the contents of the store and whether its schema is up to date.")
@store_option
@json_option
def info(*, store: str | None, as_json: bool) -> None:
    """Print the path, size, schema version and contents of the store.

    Works with stores of every version and changes nothing.

    \b
    Examples:
      assay store info
      assay store info --store team.db --json
    """
    from assay.api.stored import project_location, store_info

    facts = store_info(project_location(store))
    if as_json:
        print_json(_document(facts))
        return
    for name, value in _lines(facts):
        click.echo(f"{name:<12}{value}")


def _document(facts: StoreInfo) -> dict[str, Any]:
    from assay.api.stored import SCHEMA_VERSION

    return {
        "path": facts.location,
        "size_bytes": facts.size_bytes,
        "schema_version": facts.schema,
        "newest_schema_version": SCHEMA_VERSION,
        "up_to_date": facts.state == "up to date",
        **{f"n_{name}": n for name, n in facts.counts.items()},
        "cost_usd": float(facts.cost_usd),
        "n_calls_without_price": facts.unpriced_calls,
        "oldest_run_at": facts.oldest_run,
        "newest_run_at": facts.newest_run,
    }


def _lines(facts: StoreInfo) -> list[tuple[str, str]]:
    from assay.api.stored import SCHEMA_VERSION
    from assay.text import counted

    about = {
        "up to date": "up to date",
        "older": f"older than {SCHEMA_VERSION}: `assay store migrate --store {facts.location}` updates it",
        "newer": f"newer than {SCHEMA_VERSION}, the version that this assay supports: upgrade assay",
    }
    unpriced = f", plus {counted(facts.unpriced_calls, 'call')} of unknown price" if facts.unpriced_calls else ""
    lines = [
        ("store", facts.location),
        ("size", f"{facts.size_bytes / 1e6:,.1f} MB"),
        ("schema", f"{facts.schema} ({about[facts.state]})"),
        *((name, f"{n:,}") for name, n in facts.counts.items() if n is not None),
        ("cost", f"${facts.cost_usd:,.4f}{unpriced}"),
    ]
    if facts.oldest_run is not None and facts.newest_run is not None:
        moments = [moment[:16].replace("T", " ") for moment in (facts.oldest_run, facts.newest_run)]
        lines.append(("started", f"{moments[0]} (oldest run) to {moments[1]} (newest), UTC"))
    return lines


@command.command("migrate", short_help="Back up a store of an older version and update its schema.")
@store_option
def migrate(*, store: str | None) -> None:
    """Update the schema of a store that an older version of assay wrote.

    First backs the store up to a file next to it, verifies the copy and prints its path. A migration that fails or is
    killed leaves the store unchanged. Commands that write, such as `assay run`, migrate automatically.

    \b
    Examples:
      assay store migrate
      assay store migrate --store team.db
    """
    from assay.api.stored import migrate_store, project_location

    click.echo(migrate_store(project_location(store)))


@command.command("sql", short_help="Print the SQL that creates or migrates the store.")
@store_option
def sql(*, store: str | None) -> None:
    """Print the SQL statements that the store still needs, to apply by hand.

    For databases in which only an administrator may create tables. Prints all tables if there is no store yet, and
    nothing if the store is up to date.

    \b
    Examples:
      assay store sql --store postgresql://db/assay | psql postgresql://admin@db/assay
    """
    from assay.api.store_care import pending_sql
    from assay.api.stored import project_location

    click.echo(pending_sql(project_location(store)), nl=False)


@command.command("backup", short_help="Copy the store to a file, also while a run writes.")
@click.argument("file", type=FILE)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@store_option
def backup(*, file: Path, force: bool, store: str | None) -> None:
    """Copy the store to FILE, a SQLite store that every command can read.

    The copy is consistent: it holds what was committed when the command started. It is checked before it gets its name.

    \b
    Examples:
      assay store backup nightly.db
      assay runs --store nightly.db
    """
    from assay.api.store_care import back_up_store
    from assay.api.stored import project_location

    size = back_up_store(project_location(store), file, force=force)
    click.echo(f"{file}: {size / 1e6:,.1f} MB")


@command.command("vacuum", short_help="Free the space of deleted runs.")
@store_option
def vacuum(*, store: str | None) -> None:
    """Free the space of deleted runs.

    A SQLite file becomes smaller; no other process may use it meanwhile. In PostgreSQL the space is used again for new
    runs.

    \b
    Examples:
      assay store vacuum
    """
    from assay.api import store_care
    from assay.api.stored import open_project_store, project_location, store_info

    location = project_location(store)
    before = store_info(location).size_bytes
    opened = open_project_store(store, create=False)
    try:
        store_care.vacuum(opened)
    finally:
        opened.close()
    after = store_info(location).size_bytes
    click.echo(f"{before / 1e6:,.1f} MB before, {after / 1e6:,.1f} MB now")


@command.command("delete", short_help="Delete runs.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--dry-run", is_flag=True, help="Print what would be deleted, and delete nothing.")
@store_option
def delete(*, runs: tuple[str, ...], dry_run: bool, store: str | None) -> None:
    """Delete runs with their samples, scores, votes and replies.

    Samples and replies that other runs share are handed over to those runs. Human labels are kept: they belong to the
    answers, not to a run.

    \b
    Examples:
      assay store delete 3f2a 91bc
      assay store delete v1 --dry-run
    """
    from assay.api.stored import find, open_project_store

    opened = open_project_store(store, create=False)
    try:
        records = list({record.no: record for record in (find(opened, name) for name in runs)}.values())
        _delete(opened, records, dry_run=dry_run)
    finally:
        opened.close()


def age(ctx: click.Context | None, parameter: click.Parameter | None, text: str | None) -> datetime | None:
    """Parse `90d`, `12h`, `4w` or a date into a moment."""
    units = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
    if text is not None and text[:-1].isdigit() and text[-1] in units:
        try:
            return datetime.now(UTC) - int(text[:-1]) * units[text[-1]]
        except OverflowError:
            raise click.BadParameter(f"{text} is too long ago", ctx, parameter) from None
    try:
        return moment(ctx, parameter, text)
    except click.BadParameter:
        words = f'"{text}" is neither an age such as 12h, 90d or 4w nor a date such as 2026-01-31'
        raise click.BadParameter(words, ctx, parameter) from None


@command.command("prune", short_help="Delete runs by age, number, status or tag.")
@click.option("--older-than", callback=age, metavar="AGE", help="Runs that started before 12h, 90d, 4w or a date.")
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Spare the newest N runs of each task and model.")
@click.option(
    "--status",
    "statuses",
    type=click.Choice(["completed", "partial", "failed", "interrupted"]),
    multiple=True,
    help="Runs of this status; repeatable.",
)
@click.option("--tag", metavar="TAG", help="Runs with this tag.")
@click.option("--named", is_flag=True, help="Delete runs that have a name too; they are spared otherwise.")
@click.option("--dry-run", is_flag=True, help="Print what would be deleted, and delete nothing.")
@store_option
def prune(
    *,
    older_than: datetime | None,
    keep: int | None,
    statuses: tuple[str, ...],
    tag: str | None,
    named: bool,
    dry_run: bool,
    store: str | None,
) -> None:
    """Delete the runs that meet every given rule.

    Runs that are being worked on are never deleted, and runs with a name only with --named. Samples and replies that
    other runs share are handed over to those runs.

    \b
    Examples:
      assay store prune --older-than 90d --dry-run
      assay store prune --keep 20
      assay store prune --status failed --status interrupted --older-than 7d
    """
    if older_than is None and keep is None and not statuses and tag is None:
        raise click.UsageError("give at least one of --older-than, --keep, --status and --tag")
    from assay.api.store_care import Selection, selected
    from assay.api.stored import open_project_store

    opened = open_project_store(store, create=False)
    try:
        status = frozenset(cast("tuple[Any, ...]", statuses))
        selection = Selection(before=older_than, keep=keep, status=status, tag=tag, named=named)
        _delete(opened, selected(opened, selection), dry_run=dry_run)
    finally:
        opened.close()


def _delete(store: Store, records: Sequence[RunRecord], *, dry_run: bool) -> None:
    from assay.api.store_care import delete_runs
    from assay.api.stored import state
    from assay.text import counted

    for record in records:
        started = record.started_at[:16].replace("T", " ")
        click.echo(f"{record.id}  {started}  {state(record):<11}  {record.name or record.task}")
    if dry_run or not records:
        click.echo(f"{counted(len(records), 'run')} would be deleted" if dry_run else "no run meets these rules")
        return
    deleted = delete_runs(store, records)
    kept = f"; kept for other runs: {_replies(deleted.n_replies_kept)}" if deleted.n_replies_kept else ""
    click.echo(
        f"deleted {counted(len(records), 'run')}, {counted(deleted.n_samples, 'sample')} and "
        f"{_replies(deleted.n_replies)}{kept}; `assay store vacuum` frees the space"
    )


def _replies(n: int) -> str:
    return f"{n:,} {'reply' if n == 1 else 'replies'}"


@command.command("tag", short_help="Change the name and tags of a run.")
@click.argument("run")
@click.option("--add", multiple=True, metavar="TAG", help="Add a tag; repeatable.")
@click.option("--remove", multiple=True, metavar="TAG", help="Remove a tag; repeatable.")
@click.option("--name", metavar="NAME", help="Name the run.")
@click.option("--no-name", is_flag=True, help="Remove the name of the run.")
@store_option
def tag(
    *, run: str, add: tuple[str, ...], remove: tuple[str, ...], name: str | None, no_name: bool, store: str | None
) -> None:
    """Change the name and tags of RUN; neither is part of its identity.

    \b
    Examples:
      assay store tag latest --add release-4 --name baseline
      assay store tag baseline --remove release-4
    """
    if not add and not remove and name is None and not no_name:
        raise click.UsageError("give at least one of --add, --remove, --name and --no-name")
    if name is not None and no_name:
        raise click.UsageError("--name and --no-name exclude each other")
    from assay.api.store_care import Tagging, tag_run
    from assay.api.stored import find, open_project_store

    opened = open_project_store(store, create=False)
    try:
        record = tag_run(opened, find(opened, run), Tagging(add=add, remove=remove, name=name, unname=no_name))
    finally:
        opened.close()
    click.echo(f"{record.id}  name: {record.name or '-'}  tags: {', '.join(record.tags) or '-'}")


@command.command("copy", short_help="Copy finished runs to another store.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--to", "target", required=True, metavar="STORE", help="The other store: a file or postgresql://...")
@store_option
def copy(*, runs: tuple[str, ...], target: str, store: str | None) -> None:
    """Copy finished runs with their replies and labels to another store, such as from a file to PostgreSQL.

    Every copy is verified by its digest. A run that the other store has already is not copied twice.

    \b
    Examples:
      assay store copy latest --to postgresql://db/assay
      assay store copy v1 v2 --store postgresql://db/assay --to paper.db
    """
    from assay.api.store_care import copy_runs
    from assay.api.stored import project_location

    for copied in copy_runs(project_location(store), target, runs):
        is_new_id = copied.record.id != copied.original
        outcome = "was there already" if copied.was_there else "copied and verified"
        click.echo(f"{copied.original}{f' as {copied.record.id}' if is_new_id else ''}: {outcome}")

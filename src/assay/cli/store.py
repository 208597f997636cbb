"""`assay store`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assay.cli.main import SuggestingGroup
from assay.cli.options import json_option, store_option
from assay.cli.output import print_json

if TYPE_CHECKING:
    from assay.api.stored import StoreInfo


@click.group("store", cls=SuggestingGroup)
def command() -> None:
    """Inspect or migrate the store, the file that holds all runs.

    \b
    Examples:
      assay store info       print its contents and schema version
      assay store migrate    back it up and update its schema
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

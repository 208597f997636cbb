"""`assay show`."""

from __future__ import annotations

import click

from assay.cli.options import find_store, json_option, store_option


@click.command("show")
@click.argument("run", default="latest")
@store_option
@json_option
def command(run: str, *, store: str | None, as_json: bool) -> None:
    """Print the numbers of RUN again: its name, its id or a unique prefix of it, `TASK@latest`, or `latest` (default).

    \b
    Examples:
      assay show
      assay show 3f2a --json
    """
    from assay.api.stored import run_report
    from assay.cli.run import show

    show(run_report(find_store(store), run), as_json=as_json)

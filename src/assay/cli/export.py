"""`assay export`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import FILE, find_store, store_option


@click.command("export")
@click.argument("run", default="latest")
@click.option(
    "--to", "path", type=FILE, required=True, metavar="FILE", help="The file to write: .jsonl, .csv or .parquet."
)
@click.option("--force", is_flag=True, help="Replace FILE if it is there already.")
@store_option
def command(run: str, *, path: Path, force: bool, store: str | None) -> None:
    """Write the samples of RUN (default: latest) with answers, scores and failures to a file for other tools.

    \b
    Examples:
      assay export --to answers.jsonl
      assay export 3f2a --to scores.csv       cells that look like formulas are made harmless
      assay export --to scores.parquet        needs: pip install 'assay[parquet]'
    """
    from assay.api.stored import find
    from assay.interop.export import export

    opened = find_store(store)
    n = export(opened, find(opened, run), path, force=force)
    click.echo(f"wrote {n:,} sample{'s' if n != 1 else ''} to {path}")

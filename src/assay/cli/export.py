"""`assay export`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import FILE, open_runs, store_option


@click.command("export")
@click.argument("run", default="latest")
@click.option(
    "--to",
    "path",
    type=FILE,
    required=True,
    metavar="FILE",
    help="The file to write. Its ending sets the format: .jsonl, .csv, .parquet or .assay.",
)
@click.option("--replies", is_flag=True, help="Include the models' raw replies in an archive.")
@click.option("--labels", is_flag=True, help="Write the labels that people gave, as .csv or .jsonl, and nothing else.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@store_option
def command(run: str, *, path: Path, replies: bool, labels: bool, force: bool, store: str | None) -> None:
    """Write the samples of RUN (default: latest) with their answers, scores and failures to a file.

    JSONL, CSV and Parquet are for other tools. A run archive (.assay) holds the whole run: `assay import` restores it
    exactly, and `compare`, `gate --baseline` and `show` read it directly.

    \b
    Examples:
      assay export --to answers.jsonl         and answers.jsonl.provenance.json
      assay export 3f2a --to scores.csv       cells that look like formulas are escaped
      assay export --to scores.parquet        needs: pip install 'assay[parquet]'
      assay export v1 --to baseline.assay     one file for a colleague or a CI job
      assay export v1 --labels --to people.csv
    """
    from assay.api.stored import report_of
    from assay.interop.export import ExportOptions, export
    from assay.report.provenance import provenance_document
    from assay.text import counted

    opened, [record] = open_runs(store, run)
    if labels:
        from assay.analysis.label_files import export_labels

        if replies:
            raise click.UsageError("--labels writes only labels: leave --replies out")
        click.echo(f"wrote {counted(export_labels(opened, record, path, force=force), 'label')} to {path}")
        return
    provenance = {"run": record.id, **provenance_document(record, report_of(opened, record))}
    n = export(opened, record, path, ExportOptions(force=force, replies=replies, provenance=provenance))
    click.echo(f"wrote {counted(n, 'sample')} to {path}")

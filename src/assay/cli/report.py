"""`assay report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import FILE, find_store, plugin_option, store_option, tell_reading

if TYPE_CHECKING:
    from assay.api.reports import Format


STDOUT = Path("-")


@click.command("report")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="The file to write; - prints it.  [default: report.html, .md or .tex]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md", "latex"]),
    help="The format.  [default: that of the ending of FILE, else html]",
)
@click.option(
    "--figures",
    type=FILE,
    metavar="DIR",
    help="Also write every chart as SVG to this folder, and as PNG and PDF where rsvg-convert is installed.",
)
@plugin_option
@store_option
def command(
    runs: tuple[str, ...], *, output: Path | None, form: Format | None, figures: Path | None, store: str | None
) -> None:
    """Write a report on runs (default: latest) that can be read without assay.

    The HTML file is self-contained: no script, no network, metrics with interval bars, figures, failures, provenance
    and samples; it prints well. Several runs are compared with the first one. The name of an evaluation stands for
    the newest run of each of its specifications.

    \b
    Examples:
      assay report                                  report.html about the latest run
      assay report v1 v2 -o comparison.html         two runs and how they compare
      assay report v2 --format md -o summary.md     for a pull request
      assay report v2 --format latex -o table.tex   tables for a paper
      assay report v2 --figures figures/            every chart as SVG
    """
    from assay.api.reports import format_of, report_content, report_text, write_figures
    from assay.api.stored import find
    from assay.errors import SpecError
    from assay.text import counted

    names = runs or ("latest",)
    written_as = form or ("html" if output is None or output == STDOUT else format_of(output))
    path = output or Path({"html": "report.html", "md": "report.md", "latex": "report.tex"}[written_as])
    opened = find_store(store, *names)
    if len(names) > 1:
        tell_reading([find(opened, name) for name in names])
    content = report_content(opened, names)
    if path == STDOUT:
        click.echo(report_text(content, written_as), nl=False)
        return
    try:
        path.write_text(report_text(content, written_as), encoding="utf-8")
    except OSError as error:
        raise SpecError(f"cannot write {path}: {error.strerror or error}") from error
    click.echo(f"wrote {path} ({counted(len(content.runs), 'run')}, {path.stat().st_size / 1000:,.0f} kB)")
    if figures is not None:
        click.echo(f"wrote {counted(len(write_figures(content, figures)), 'figure')} to {figures}")

"""`assay show`."""

from __future__ import annotations

import click

from assay.cli.options import find_store, json_option, store_option
from assay.cli.output import console, print_json
from assay.cli.run import show_evaluation


@click.command("show")
@click.argument("run", default="latest")
@click.option("--cite", is_flag=True, help="Print a paragraph for the appendix of a paper.")
@store_option
@json_option
def command(run: str, *, cite: bool, store: str | None, as_json: bool) -> None:
    """Print the metrics of RUN and their provenance: models, dataset, settings, versions, times and cost.

    RUN is a name, an id or a unique prefix of an id, TASK@latest, or latest (the default). The key of an evaluation
    prints the newest run of each of its specifications together, also if several processes ran them.

    \b
    Examples:
      assay show
      assay show v2 --json
      assay show v2 --cite
    """
    from assay.api.stored import find, report_of, stored_evaluation
    from assay.errors import SpecError
    from assay.report.provenance import citation, provenance_document, provenance_lines
    from assay.report.table import run_table
    from assay.results.document import run_document

    if cite and as_json:
        raise click.UsageError("give --cite or --json, not both")
    opened = find_store(store, run)
    try:
        record = find(opened, run)
    except SpecError:
        evaluation = stored_evaluation(opened, run)
        if evaluation is None or cite:
            raise
        show_evaluation(evaluation, as_json=as_json)
        return
    report = report_of(opened, record)
    if as_json:
        print_json({**run_document(report), "provenance": provenance_document(record, report)})
    elif cite:
        click.echo(citation(record, report))
    else:
        terminal = console()
        terminal.print(run_table(report))
        terminal.print(provenance_lines(record, report))

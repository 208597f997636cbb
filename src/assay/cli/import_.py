"""`assay import`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.options import FILE, json_option, name_options, shown, store_option


@click.command("import")
@click.argument("path", type=FILE)
@click.option(
    "--format",
    "format_",
    type=click.Choice(
        ["archive", "inspect", "lm_eval", "autorubric", "promptfoo", "deepeval", "ai_go", "answers", "votes"]
    ),
    help="What wrote PATH; found by its name and content unless given.",
)
@click.option("--task", metavar="NAME", help="The name of the task, where the file says another or none.")
@click.option("--model", metavar="NAME", help="The model that answered, where the file says another or none.")
@click.option("--output", metavar="COLUMN", help="The column of a table that holds the answers.")
@click.option("--score", "scores", multiple=True, metavar="COLUMN", help="A column of a table that holds scores.")
@click.option("--column", type=click.IntRange(min=0), metavar="N", help="The column of promptfoo results: 0 or more.")
@click.option("--dataset", type=FILE, metavar="FILE", help="The dataset of an AutoRubric experiment: texts and truth.")
@name_options
@store_option
@json_option
def command(path: Path, *, format_: Any, store: str | None, as_json: bool, **given: Any) -> None:
    """Make the results of another tool a run: an Inspect log (.eval, .json), samples of lm-evaluation-harness
    (samples_*.jsonl), an AutoRubric experiment (its folder), results of promptfoo or DeepEval (.json), or a CSV or
    JSONL of answers or votes.

    Answers, scores and failures are kept as they are; numbers and intervals are made here. `compare`, `gate`,
    `agreement`, `calibrate`, `show`, `samples` and `export` work on the run. The same file again is the same run.
    Figures of the source's own summary that differ here, or that are not imported, are listed by name.

    \b
    Examples:
      assay import logs/2025-01-01_mmlu.eval
      assay import results/model/samples_gsm8k_2025-01-01T10-00-00.jsonl --model my-model
      assay import experiments/brave-otter --dataset essays.json
      assay import results.json --column 1
      assay import answers.csv --output reply --score correct
    """
    from assay.api.stored import open_project_store, run_report
    from assay.cli.run import print_json, show
    from assay.interop.import_files import ImportOptions, import_file
    from assay.results.document import run_document

    opened = open_project_store(store)
    found = import_file(opened, path, ImportOptions(format=format_, **given))
    for note in found.notes:
        click.echo(f"note: {shown(note)}", err=True)
    report = found.report
    if report is None:
        click.echo(f"note: this file is run {found.run} already", err=True)
        report = run_report(opened, found.run)
    if not as_json:
        show(report, as_json=False)
        return
    figures = {} if found.figures is None else {"source_figures": found.figures.document()}
    print_json({**run_document(report), **figures})

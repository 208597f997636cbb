"""`assay import`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.options import FILE, json_option, name_options, store_option
from assay.cli.output import print_json, shown


@click.command("import")
@click.argument("path", type=FILE)
@click.option(
    "--format",
    "format_",
    type=click.Choice(
        ["archive", "inspect", "lm_eval", "autorubric", "promptfoo", "deepeval", "ai_go", "answers", "votes", "labels"]
    ),
    help="The format of PATH.  [default: detected from its name and content]",
)
@click.option("--task", metavar="NAME", help="Name of the task; replaces the one in the file.")
@click.option("--model", metavar="NAME", help="The model that answered; replaces the one in the file.")
@click.option("--output", metavar="COLUMN", help="The table column that holds the answers.")
@click.option(
    "--score", "scores", multiple=True, metavar="COLUMN", help="A table column that holds scores; repeatable."
)
@click.option(
    "--column",
    type=click.IntRange(min=0),
    metavar="N",
    help="The column of promptfoo results to import, counted from 0.",
)
@click.option(
    "--dataset", type=FILE, metavar="FILE", help="The dataset of an AutoRubric experiment: texts and ground truth."
)
@click.option("--run", metavar="RUN", help="The run whose answers the labels in PATH are about.  [default: latest]")
@name_options
@store_option
@json_option
def command(path: Path, *, format_: Any, run: str | None, store: str | None, as_json: bool, **given: Any) -> None:
    """Import the results of another tool as a run.

    PATH is an Inspect log (.eval, .json), samples of lm-evaluation-harness (samples_*.jsonl), the folder of an
    AutoRubric experiment, results of promptfoo or DeepEval (.json), a run archive (.assay), or a CSV or JSONL file of
    answers or votes.

    A table of human labels (sample_id, label[, annotator, criterion, comment]) becomes no run: its labels are kept
    beside the answers of --run, where `agreement`, `calibrate` and the viewer use them.

    Answers, scores and failures are imported unchanged; assay computes the metrics and intervals. `compare`, `gate`,
    `agreement`, `calibrate`, `show`, `samples` and `export` work on the new run. Importing the same file again changes
    nothing. If the source has a summary of its own, the figures that differ or were not imported are listed by name.

    \b
    Examples:
      assay import logs/2025-01-01_mmlu.eval
      assay import results/model/samples_gsm8k_2025-01-01T10-00-00.jsonl --model my-model
      assay import experiments/brave-otter --dataset essays.json
      assay import results.json --column 1
      assay import answers.csv --output reply --score correct
      assay import people.csv --run v2
    """
    from assay.api.stored import find, open_project_store, run_report
    from assay.cli.run import show
    from assay.interop.import_files import ImportOptions, format_of, import_file
    from assay.results.document import run_document
    from assay.text import counted

    opened = open_project_store(store)
    if path.exists() and (format_ or format_of(path)) == "labels":
        from assay.analysis.label_files import import_labels

        record = find(opened, run or "latest")
        n = import_labels(opened, record, path)
        if as_json:
            print_json({"run": record.id, "labels": n})
        else:
            click.echo(f"imported {counted(n, 'label')} of answers of run {record.id}")
        return
    if run is not None:
        raise click.UsageError("--run is for tables of human labels")
    imported = import_file(opened, path, ImportOptions(format=format_, **given))
    for note in imported.notes:
        click.echo(f"note: {shown(note)}", err=True)
    report = imported.report
    if report is None:
        click.echo(f"note: this file was already imported as run {imported.run}", err=True)
        report = run_report(opened, imported.run)
    if not as_json:
        show(report, as_json=False)
        return
    figures = {} if imported.figures is None else {"source_figures": imported.figures.document()}
    print_json({**run_document(report), **figures})

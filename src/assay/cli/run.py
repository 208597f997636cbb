"""`assay run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    FILE,
    code_options,
    config_option,
    executor_options,
    failures_option,
    json_option,
    log_options,
    max_failures_option,
    money,
    name_options,
    named_file,
    plugin_option,
    set_by_hand,
    store_option,
)
from assay.cli.output import console, print_json, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.api.run import Options
    from assay.errors import Problem
    from assay.results.defined import Defined
    from assay.results.evaluation import EvaluationRunReport as EvaluationReport
    from assay.results.rules import FailureMode
    from assay.results.run import RunReport


def shard_of(ctx: click.Context | None, parameter: click.Parameter | None, text: str | None) -> tuple[int, int] | None:
    """Parse `2/8`, the second of eight parts."""
    if text is None:
        return None
    number, slash, total = text.partition("/")
    if not (slash and number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
        raise click.BadParameter(f'"{text}" is not of the form I/N with 1 <= I <= N, such as 2/8', ctx, parameter)
    return int(number), int(total)


@click.command("run")
@click.argument("file", type=FILE)
@click.option(
    "--model",
    metavar="MODEL",
    help="The model that answers: provider/name (openai/gpt-5-mini), a model file or its key, or scripted/FILE.",
)
@click.option(
    "--dataset",
    type=FILE,
    help="A data file (CSV, JSONL, ...) or dataset YAML that replaces the task's own dataset.",
)
@config_option
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Use only the first N samples.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option(
    "--max-cost",
    callback=money,
    metavar="USD",
    help="A hard ceiling on the cost. A run that reaches it is partial; its metrics are valid for the samples done.",
)
@click.option(
    "--max-concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum concurrent requests per model.  [default: 100]",
)
@click.option(
    "--cache-policy",
    type=click.Choice(["reuse", "update", "no-cache"]),
    default="reuse",
    show_default=True,
    help="What to do with stored replies. reuse: use them; update: ask again and replace them; no-cache: ask again and "
    "leave them alone.",
)
@max_failures_option
@failures_option
@click.option(
    "--fresh",
    is_flag=True,
    help="Start a new run and ask models again, instead of reusing or resuming an identical earlier run.",
)
@click.option("--allow-outside", is_flag=True, help="Accept files outside the project folder.")
@name_options
@code_options
@click.option("--only", multiple=True, metavar="KEY", help="Run only this specification of a run file; repeatable.")
@click.option(
    "--shard",
    callback=shard_of,
    metavar="I/N",
    help="Run part I of N of a run file's specifications, so that N processes with one store share the work.",
)
@executor_options
@click.option("--gate", is_flag=True, help="Exit with code 1 if a policy of the run file fails.")
@click.option("--quiet", "-q", is_flag=True, help="Print no progress and no notes.")
@log_options
@store_option
@plugin_option
@json_option
def command(
    file: Path,
    *,
    as_json: bool,
    quiet: bool,
    max_failures: float,
    failures: FailureMode,
    gate: bool,
    only: tuple[str, ...],
    shard: tuple[int, int] | None,
    **given: Any,
) -> int:
    """Run the task, evaluation or run file FILE and print its metrics with intervals.

    FILE is a path or the key of a task or evaluation in the project. Results are stored as they arrive. After Ctrl-C, a
    crash or a power cut, run the same command again to resume; a finished run is reused.

    \b
    Examples:
      assay run task.yaml
      assay run task.yaml --model openai/gpt-5-mini --limit 20 --max-cost 0.50
      assay run task.yaml --dataset answers.jsonl
      assay run task.yaml --config answer_column=label --json
      assay run run.yaml --gate
      assay run run.yaml --shard $SLURM_ARRAY_TASK_ID/8 --store postgresql://db/assay

    If a run file has no evaluation, it is checked and its datasets are generated.
    """
    from assay.api.run import Options, is_evaluation, run_evaluation_file, run_file
    from assay.cli.progress import watch
    from assay.results.rules import FailureRule

    options = Options(**given)
    file = named_file(file)
    several = is_evaluation(file)
    if not several and "failures" in set_by_hand():
        raise click.UsageError(f"--failures applies to the policies of a run file, but {file.name} is not a run file")
    if gate and not several:
        raise click.UsageError(
            f"--gate needs the policies of a run file, but {file.name} is not a run file; see `assay gate`"
        )
    if only and shard:
        raise click.UsageError("--only and --shard exclude each other")
    if (only or shard) and not several:
        raise click.UsageError(f"--only and --shard take specifications of a run file; {file.name} is not a run file")
    if (only or shard) and gate:
        raise click.UsageError("--gate judges the results of all specifications: run all of them for it")
    if several and _only_defines(file, options):
        from assay.api.define import define_file

        if gate:
            raise click.UsageError(f"--gate needs policies, but {file.name} has no evaluation to run")
        with watch(enabled=not quiet) as listener:
            defined, notes = define_file(file, options, listener=listener)
        _show_notes(notes, quiet=quiet)
        show_defined(defined, as_json=as_json)
        return 0
    with watch(enabled=not quiet) as listener:
        if several:
            rule = FailureRule(mode=failures, max_share=max_failures)
            evaluation, notes = run_evaluation_file(
                file,
                options,
                given=set_by_hand(),
                listener=listener,
                failures=rule,
                only=only,
                shard=shard or (1, 1),
            )
        else:
            report, notes = run_file(file, options, listener=listener)
    _show_notes(notes, quiet=quiet)
    if several:
        show_evaluation(evaluation, as_json=as_json)
        return evaluation_verdict(evaluation, max_failures, gate=gate)
    show(report, as_json=as_json)
    return verdict(report, max_failures)


def _only_defines(file: Path, options: Options) -> bool:
    # loads what checks files of all kinds: a task has no need of that
    from assay.api.define import only_defines

    return only_defines(file, options)


def _show_notes(notes: Sequence[Problem], *, quiet: bool) -> None:
    for note in () if quiet else notes:
        click.echo(f"note: {shown(str(note))}", err=True)


def show_defined(defined: Defined, *, as_json: bool) -> None:
    """Print what a run file without an evaluation defines."""
    from assay.report.defined import defined_document, print_defined

    if as_json:
        print_json(defined_document(defined))
    else:
        print_defined(console(), defined)


def evaluation_verdict(evaluation: EvaluationReport, max_failures: float, *, gate: bool) -> int:
    """Return the exit code of an evaluation: 3 if a specification failed, 1 if a policy did and `gate` is set."""
    codes = [3 for specification in evaluation.specifications if specification.error is not None]
    codes += [
        verdict(specification.report, max_failures, name=f"{specification.key}: ")
        for specification in evaluation.specifications
        if specification.report is not None
    ]
    if gate and not evaluation.policies:
        raise click.UsageError("--gate needs policies, but the run file defines none")
    failed = gate and not all(policy.passed for policy in evaluation.policies)
    return 3 if 3 in codes else 1 if failed else 0


def show_evaluation(evaluation: EvaluationReport, *, as_json: bool) -> None:
    """Print the metrics of an evaluation as tables or as one JSON document."""
    if as_json:
        from assay.report.evaluation import evaluation_document

        print_json(evaluation_document(evaluation))
        return
    from assay.report.evaluation import evaluation_table

    console().print(evaluation_table(evaluation))


def verdict(report: RunReport, max_failures: float, *, name: str = "") -> int:
    """Return the exit code of a finished run, and explain on stderr why it is not 0."""
    from assay.api.run import failed_share
    from assay.text import counted

    if report.status == "partial":
        click.echo(
            f"{name}partial: the run reached --max-cost after {counted(report.n_samples, 'sample')}; "
            "to resume, run the same command with a higher limit and without --fresh",
            err=True,
        )
        return 3
    share = failed_share(report)
    if share > max_failures:
        click.echo(
            f"{name}{share:.1%} of the scores failed, more than --max-failures {max_failures:g}: "
            f"`assay samples {report.run} --failed` shows them",
            err=True,
        )
    if report.first_failure is not None and (share > max_failures or share >= 1):
        which = "every sample failed" if share >= 1 else "the first failure"
        click.echo(f"{name}{which}: {shown(report.first_failure)}", err=True)
    return 3 if share > max_failures else 0


def show(report: RunReport, *, as_json: bool) -> None:
    """Print the metrics of a run as tables or as one JSON document."""
    if as_json:
        from assay.results.document import run_document

        print_json(run_document(report))
        return
    from assay.report.table import run_table

    console().print(run_table(report))

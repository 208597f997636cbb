"""`assay grade`."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import FILE, console, json_option, name_options, shown, store_option

if TYPE_CHECKING:
    from assay.results.estimate import Estimate
    from assay.rubric import EvalResult, JudgeSpec

MOST_FAILED = 0.05
"""A batch of which a greater share failed has failed as a whole."""


@click.command("grade")
@click.argument("rubric", type=FILE)
@click.argument("submissions", type=FILE)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    required=True,
    metavar="MODEL[:WEIGHT]",
    help="A model that judges; may be repeated for a panel, each with a weight if wanted.",
)
@click.option("--column", metavar="NAME", help="The column of a table that holds the texts.")
@click.option("--prompt", metavar="TEXT", help="What the texts answer; shown to the judges.")
@click.option("--aggregation", default="majority", show_default=True, help="For criteria without options.")
@click.option("--ordinal-aggregation", default="mean", show_default=True, help="For options on a scale.")
@click.option("--nominal-aggregation", default="mode", show_default=True, help="For options without an order.")
@click.option(
    "--shuffle",
    type=click.Choice(["random", "counterbalanced", "direction", "both_orders"]),
    default="random",
    show_default=True,
    help="How the order of options differs between texts and judges.",
)
@click.option("--seed", type=int, metavar="N", help="Seed of the order of options; the store's own when not set.")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Ask each judge N times about a criterion, with the options in another order each time.",
)
@click.option("--max-concurrency", type=click.IntRange(min=1), metavar="N", help="At most N calls in flight a model.")
@click.option("--fresh", is_flag=True, help="Ask anew instead of using votes that are there.")
@click.option("--plan", "only_plan", is_flag=True, help="Only say what grading would ask and cost; needs no key.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no notes.")
@name_options
@store_option
@json_option
def command(
    rubric: Path,
    submissions: Path,
    *,
    judges: tuple[str, ...],
    column: str | None,
    prompt: str | None,
    as_json: bool,
    quiet: bool,
    only_plan: bool,
    **given: Any,
) -> int:
    """Grade texts by a rubric: SUBMISSIONS is a folder of text files, a CSV, a JSONL or a dataset file.

    Votes are kept in the project's store: the same command goes on where it stopped, and asks only what is missing.

    \b
    Examples:
      assay grade rubric.yaml essays/ --judge openai/gpt-5-mini --plan
      assay grade rubric.yaml essays/ --judge openai/gpt-5-mini
      assay grade rubric.yaml answers.csv --column answer --judge openai/gpt-5-mini:2 --judge ollama/qwen3
    """
    from assay.cli.progress import watch
    from assay.grading.submissions import read_submissions
    from assay.report.grade import grade_document, grade_table
    from assay.rubric import CriterionGrader, EvalConfig, EvalRunner, Rubric, RubricWarning

    loaded = Rubric.from_file(rubric)
    dataset = read_submissions(submissions, loaded, column=column)
    dataset.prompt = prompt if prompt is not None else dataset.prompt
    config = EvalConfig(
        show_progress=False,
        store=given.pop("store"),
        max_concurrency=given.pop("max_concurrency"),
        fresh=given.pop("fresh"),
        experiment_name=f"{rubric.stem}:{submissions.stem}",
        name=given.pop("name"),
        tags=given.pop("tags"),
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RubricWarning)
        grader = CriterionGrader(judges=panel_of(judges), planned=only_plan, **given)
        if only_plan:
            _print_plan(EvalRunner(dataset, grader, config).plan_sync(), as_json=as_json)
            return 0
        with watch(enabled=not quiet) as listener:
            result = EvalRunner(dataset, grader, config, listener=listener).run_sync()
    notes = [str(each.message) for each in told if issubclass(each.category, RubricWarning)]
    if not quiet:
        for note in [*notes, *(result.warnings if as_json else ())]:
            click.echo(f"note: {shown(note)}", err=True)
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(grade_document(result), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        console().print(grade_table(result, loaded.names))
    return _verdict(result)


def _print_plan(plan: Estimate, *, as_json: bool) -> None:
    from assay.report.estimate import estimate_document, print_estimate

    if as_json:
        import orjson

        document = orjson.dumps(estimate_document(None, plan), option=orjson.OPT_INDENT_2, default=float)
        sys.stdout.buffer.write(document + b"\n")
    else:
        print_estimate(console(), plan)


def _verdict(result: EvalResult) -> int:
    """The exit code, with a word about why it is not 0."""
    if not result.failed_items:
        return 0
    (_, reason), *_ = result.errors
    click.echo(
        f"{result.failed_items:,} of {result.total_items:,} items failed: {shown(reason)}\n"
        f"`assay samples {result.run} --failed` shows them",
        err=True,
    )
    return 3 if result.failed_items > MOST_FAILED * result.total_items else 0


def panel_of(written: tuple[str, ...]) -> list[JudgeSpec]:
    """The judges from `MODEL` or `MODEL:WEIGHT`; a model that comes again gets a number.

    >>> [(judge.judge_id, judge.weight) for judge in panel_of(("openai/gpt-5-mini:2", "ollama/qwen2.5:7b"))]
    [('openai/gpt-5-mini', 2.0), ('ollama/qwen2.5:7b', 1.0)]
    """
    from assay.rubric import JudgeSpec, LLMConfig

    specs: list[JudgeSpec] = []
    for text in written:
        model, _, last = text.rpartition(":")
        weight = _weight(last) if model else None
        name = text if weight is None else model
        known = [spec.judge_id for spec in specs]
        again = sum(each == name or each.startswith(f"{name}#") for each in known)
        judge_id = f"{name}#{again + 1}" if again else name
        specs.append(JudgeSpec(LLMConfig(name, temperature=0.0), judge_id, 1.0 if weight is None else weight))
    return specs


def _weight(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None

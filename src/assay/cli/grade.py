"""`assay grade`."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import FILE, json_option, log_options, name_options, store_option
from assay.cli.output import console, print_json, shown

if TYPE_CHECKING:
    from assay.results.estimate import Estimate
    from assay.rubric import EvalResult, JudgeSpec

ESCALATE_BELOW = 0.8
"""Criteria with a lower confidence are escalated by default."""
MOST_FAILED = 0.05
"""If a greater share of the items failed, the whole run counts as failed."""


@click.command("grade")
@click.argument("rubric", type=FILE)
@click.argument("submissions", type=FILE)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    required=True,
    metavar="MODEL[:WEIGHT]",
    help="A model that judges, with an optional weight; repeat it for a panel.",
)
@click.option("--column", metavar="NAME", help="The table column that holds the texts.")
@click.option("--prompt", metavar="TEXT", help="The question that the texts answer; shown to the judges.")
@click.option(
    "--aggregation", default="majority", show_default=True, help="How votes are combined for criteria without options."
)
@click.option(
    "--ordinal-aggregation", default="mean", show_default=True, help="How votes are combined for options on a scale."
)
@click.option(
    "--nominal-aggregation",
    default="mode",
    show_default=True,
    help="How votes are combined for options without an order.",
)
@click.option(
    "--shuffle",
    type=click.Choice(["random", "counterbalanced", "direction", "both_orders"]),
    default="random",
    show_default=True,
    help="How the order of options differs between texts and judges.",
)
@click.option("--seed", type=int, metavar="N", help="Random seed for the order of options.  [default: the store's own]")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Ask each judge N times about each criterion, with the options in a different order each time.",
)
@click.option(
    "--escalate",
    "stronger",
    multiple=True,
    metavar="MODEL[:WEIGHT]",
    help="A stronger model that decides the criteria on which the judges are unsure; repeat it for a panel.",
)
@click.option(
    "--escalate-below",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help=f"Escalate a criterion if the confidence of the judges is below this.  [default: {ESCALATE_BELOW}]",
)
@click.option(
    "--max-concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum concurrent requests per model.  [default: 100]",
)
@click.option("--fresh", is_flag=True, help="Ask again instead of reusing stored votes.")
@click.option(
    "--plan", "only_plan", is_flag=True, help="Only print the calls and the cost of grading; needs no API key."
)
@click.option("--quiet", "-q", is_flag=True, help="Print no progress and no notes.")
@log_options
@name_options
@store_option
@json_option
def command(
    rubric: Path,
    submissions: Path,
    *,
    judges: tuple[str, ...],
    stronger: tuple[str, ...],
    escalate_below: float | None,
    column: str | None,
    prompt: str | None,
    as_json: bool,
    quiet: bool,
    only_plan: bool,
    **given: Any,
) -> int:
    """Grade texts against a rubric. SUBMISSIONS is a folder of text files, a CSV or JSONL file, or a dataset file.

    Votes are stored as they arrive. Run the same command again to resume: only missing votes are asked for.

    \b
    Examples:
      assay grade rubric.yaml essays/ --judge openai/gpt-5-mini --plan
      assay grade rubric.yaml essays/ --judge openai/gpt-5-mini
      assay grade rubric.yaml answers.csv --column answer --judge openai/gpt-5-mini:2 --judge ollama/qwen3
      assay grade rubric.yaml essays/ --judge ollama/qwen3 --repeats 3 --escalate openai/gpt-5 --escalate-below 0.9
    """
    from assay.cli.progress import watch
    from assay.errors import SpecError
    from assay.grading.submissions import read_submissions
    from assay.report.grade import grade_document, grade_table
    from assay.rubric import CriterionGrader, EscalationConfig, EvalConfig, EvalRunner, Rubric, RubricWarning

    if escalate_below is not None and not stronger:
        raise SpecError("--escalate-below needs --escalate, which names the stronger model")
    every = panel_of((*judges, *stronger))
    panel, escalation = every[: len(judges)], None
    if stronger:
        threshold = ESCALATE_BELOW if escalate_below is None else escalate_below
        escalation = EscalationConfig(every[len(judges) :], threshold)
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RubricWarning)
        grader = CriterionGrader(judges=panel, escalation=escalation, planned=only_plan, **given)
        if only_plan:
            _print_plan(EvalRunner(dataset, grader, config).plan_sync(), as_json=as_json)
            return 0
        with watch(enabled=not quiet) as listener:
            result = EvalRunner(dataset, grader, config, listener=listener).run_sync()
    notes = [str(warning.message) for warning in caught if issubclass(warning.category, RubricWarning)]
    if not quiet:
        for note in [*notes, *(result.warnings if as_json else ())]:
            click.echo(f"note: {shown(note)}", err=True)
    if as_json:
        print_json(grade_document(result))
    else:
        console().print(grade_table(result, loaded.names))
    return _verdict(result)


def _print_plan(plan: Estimate, *, as_json: bool) -> None:
    from assay.report.estimate import estimate_document, print_estimate

    if as_json:
        print_json(estimate_document(None, plan))
    else:
        print_estimate(console(), plan)


def _verdict(result: EvalResult) -> int:
    """Return the exit code, and explain on stderr why items failed."""
    if not result.failed_items:
        return 0
    from assay.text import counted

    (_, reason), *_ = result.errors
    # an item from which every judge abstained has votes, so `assay samples --failed` does not list it
    only = "" if all(item.graded is not None for item in result.filter_failed()) else " --failed"
    click.echo(
        f"{result.failed_items:,} of {counted(result.total_items, 'item')} failed: {shown(reason)}\n"
        f"`assay samples {result.run}{only}` shows them",
        err=True,
    )
    return 3 if result.failed_items > MOST_FAILED * result.total_items else 0


def panel_of(written: tuple[str, ...]) -> list[JudgeSpec]:
    """Parse judges written as `MODEL` or `MODEL:WEIGHT`; a repeated model gets a number.

    >>> [(judge.judge_id, judge.weight) for judge in panel_of(("openai/gpt-5-mini:2", "ollama/qwen2.5:7b"))]
    [('openai/gpt-5-mini', 2.0), ('ollama/qwen2.5:7b', 1.0)]
    """
    from assay.rubric import JudgeSpec, LLMConfig

    specs: list[JudgeSpec] = []
    for text in written:
        model, _, last = text.rpartition(":")
        weight = _weight(last) if model else None
        name = text if weight is None else model
        judge_ids = [spec.judge_id for spec in specs]
        again = sum(judge_id == name or judge_id.startswith(f"{name}#") for judge_id in judge_ids)
        judge_id = f"{name}#{again + 1}" if again else name
        specs.append(JudgeSpec(LLMConfig(name, temperature=0.0), judge_id, 1.0 if weight is None else weight))
    return specs


def _weight(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None

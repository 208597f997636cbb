"""`assay grade`."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import FILE, console, json_option, shown, store_option

if TYPE_CHECKING:
    from rich.console import RenderableType

    from assay.rubric import EvalResult, JudgeSpec, Rubric

ITEMS_SHOWN = 40
COLUMNS_WIDTH = 76
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
@click.option("--quiet", "-q", is_flag=True, help="No progress, no notes.")
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
    **given: Any,
) -> int:
    """Grade texts by a rubric: SUBMISSIONS is a folder of text files, a CSV, a JSONL or a dataset file.

    Votes are kept in the project's store: the same command goes on where it stopped, and asks only what is missing.

    \b
    Examples:
      assay grade rubric.yaml essays/ --judge openai/gpt-5-mini
      assay grade rubric.yaml answers.csv --column answer --judge openai/gpt-5-mini:2 --judge ollama/qwen3
    """
    from assay.cli.progress import watch
    from assay.rubric import CriterionGrader, EvalConfig, EvalRunner, Rubric, RubricWarning
    from assay.rubric.submissions import read_submissions

    loaded = Rubric.from_file(rubric)
    dataset = read_submissions(submissions, loaded, column=column)
    dataset.prompt = prompt if prompt is not None else dataset.prompt
    config = EvalConfig(
        store=given.pop("store"),
        max_concurrency=given.pop("max_concurrency"),
        fresh=given.pop("fresh"),
        experiment_name=f"{rubric.stem}:{submissions.stem}",
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RubricWarning)
        grader = CriterionGrader(judges=panel_of(judges), **given)
        with watch(enabled=not quiet) as listener:
            result = EvalRunner(dataset, grader, config, listener=listener).run_sync()
    notes = [str(each.message) for each in told if issubclass(each.category, RubricWarning)]
    if not quiet:
        for note in [*notes, *(result.warnings if as_json else ())]:
            click.echo(f"note: {shown(note)}", err=True)
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(document(result), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        console().print(table(result, loaded))
    return _verdict(result)


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
        specs.append(JudgeSpec(LLMConfig(name), judge_id, 1.0 if weight is None else weight))
    return specs


def _weight(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def document(result: EvalResult) -> dict[str, Any]:
    """The result for machines."""
    mean = result.mean_score
    cost = result.total_completion_cost
    return {
        "run": result.run,
        "n_items": result.total_items,
        "n_failed": result.failed_items,
        "n_cached": result.n_cached,
        "score": None
        if mean is None
        else {
            "value": mean.value,
            "low": mean.interval.low if mean.interval else None,
            "high": mean.interval.high if mean.interval else None,
            "method": mean.interval.method if mean.interval else None,
            "n": mean.n,
        },
        "continuous_score": result.mean_continuous,
        "tie_share": result.tie_share,
        "n_order_sensitive": result.n_order_sensitive,
        "judges": {
            judge: {"n_votes": asked, "n_missing": failed, "missing": dict(result.missing_votes.get(judge, {}))}
            for judge, (failed, asked) in result.judge_failures.items()
        },
        "items": [_item(each) for each in result.item_results],
        "usage": {
            "prompt_tokens": result.total_token_usage.prompt_tokens,
            "completion_tokens": result.total_token_usage.completion_tokens,
        },
        "cost_usd": None if cost is None else float(cost),
        "warnings": list(result.warnings),
    }


def _item(result: Any) -> dict[str, Any]:
    item: dict[str, Any] = {"item": result.item.description, "error": result.error, "score": None}
    if result.report is not None:
        report = result.report
        item |= {
            "score": report.score,
            "raw_score": report.raw_score,
            "coverage": report.coverage,
            "judge_scores": dict(report.judge_scores),
            "criteria": {
                each.criterion.name or each.criterion.requirement: {
                    "label": each.label,
                    "pairwise_agreement": each.pairwise_agreement,
                }
                for each in report.report
            },
        }
    return item


def table(result: EvalResult, rubric: Rubric) -> RenderableType:
    """Items in rows and criteria in columns, with numbers for names where these do not fit."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from assay.report.table import Trimmed, spending_lines
    from assay.report.text import clean, counted, interval, number

    names = rubric.names
    room = max(4, (COLUMNS_WIDTH - 30) // max(len(names), 1) - 2)
    fits = all(len(name) <= room for name in names)
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    made.add_column("item", max_width=22, no_wrap=True)
    made.add_column("score", justify="right", no_wrap=True)
    for place, name in enumerate(names, start=1):
        made.add_column(clean(name) if fits else str(place), no_wrap=True, max_width=room)
    for each in result.item_results[:ITEMS_SHOWN]:
        cells = ["—"] * len(names)
        if each.report is not None and len(each.report.report) == len(names):
            cells = [clean(criterion.label or "—", width=room) for criterion in each.report.report]
        score = each.report.score if each.report is not None else None
        nothing = "failed" if each.report is None else "—"
        made.add_row(clean(each.item.description, width=22), nothing if score is None else number(score), *cells)
    lines = [f"run {result.run} · {counted(result.total_items, 'item')} · {result.failed_items:,} failed"]
    if not fits:
        lines += [f"  {place}  {clean(name, width=70)}" for place, name in enumerate(names, start=1)]
    after = []
    if result.total_items > ITEMS_SHOWN:
        after.append(f"... and {result.total_items - ITEMS_SHOWN:,} more: `assay samples {result.run}`")
    mean = result.mean_score
    if mean is not None:
        after.append(f"mean score {number(mean.value)}  ({interval(mean.interval)}, n {mean.n})")
    if result.n_ties:
        after.append(
            f"{result.tie_share or 0:.1%} of the verdicts were decided by a tie; "
            f"the mean without snapping to options is {number(result.mean_continuous)}"
        )
    if result.n_order_sensitive:
        after.append(f"{result.n_order_sensitive:,} of {result.n_verdicts:,} verdicts hang on the order of the options")
    told = (Text(f"note: {clean(note)}", style="yellow") for note in result.warnings)
    spent = (Text(line, style="dim") for line in spending_lines(result.spending))
    return Group(*(Text(line) for line in lines), Trimmed(made), *(Text(line) for line in after), *told, *spent)

"""`assay gate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import (
    FILE,
    failures_option,
    json_option,
    open_runs,
    plugin_option,
    set_by_hand,
    store_option,
    tell_reading,
)
from assay.cli.output import console, print_json

if TYPE_CHECKING:
    from assay.results.rules import FailureMode, On


@click.command("gate")
@click.argument("run", default="latest")
@click.option(
    "--require",
    "rules",
    multiple=True,
    metavar="RULE",
    help='A rule such as "accuracy >= 0.8"; repeatable. Operators: > >= = < <=.',
)
@click.option(
    "--on",
    type=click.Choice(["point", "bound"]),
    default="point",
    show_default=True,
    help="Check rules against the metric itself (point), or against the less favourable bound of its interval (bound).",
)
@failures_option
@click.option(
    "--max-failures",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="With --failures limit: the largest share of a rule's samples that may have failed.",
)
@click.option("--baseline", metavar="RUN", help="A run that RUN must not be worse than, sample by sample.")
@click.option(
    "--max-drop",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    metavar="D",
    help="The largest drop below the baseline that is allowed.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="ADDRESS",
    help="Compare only this metric with the baseline; repeatable.",
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="COLUMN",
    help="A dataset column that may differ from the baseline; repeatable.",
)
@click.option("--junit", type=FILE, metavar="FILE", help="Write the results as JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write a Markdown summary for a pull request; - means stdout.")
@plugin_option
@store_option
@json_option
def command(
    run: str,
    *,
    rules: tuple[str, ...],
    on: On,
    failures: FailureMode,
    max_failures: float,
    baseline: str | None,
    max_drop: float,
    metrics: tuple[str, ...],
    ignored: tuple[str, ...],
    junit: Path | None,
    markdown: str | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Check the metrics of RUN (default: latest) against rules. Exit code 1 if a rule does not hold.

    A metric is named by its address, scorer/metric/name, or any unique ending of it. A rule on an undefined metric
    fails, and so does a rule of which too many samples failed.

    \b
    Examples:
      assay gate --require "accuracy >= 0.8"
      assay gate latest --require "accuracy >= 0.8" --on bound --failures worst
      assay gate latest --baseline 3f2a --max-drop 0.01 --junit gate.xml --markdown -
    """
    from assay.analysis.gate import GateOptions, gate_run
    from assay.results.rules import FailureRule, parse_rule

    if failures != "limit" and "max_failures" in set_by_hand():
        raise click.UsageError("--max-failures needs --failures limit")
    if baseline is None and (max_drop or metrics or ignored):
        raise click.UsageError("--max-drop, --metric and --ignore need --baseline RUN")
    if as_json and markdown == "-":
        raise click.UsageError("--json and --markdown - both write to stdout; give one of them")
    parsed = tuple(parse_rule(text) for text in rules)
    opened, [record, *others] = open_runs(store, run, *filter(None, [baseline]))
    before = others[0] if others else None
    options = GateOptions(
        rules=parsed,
        on=on,
        failures=FailureRule(mode=failures, max_share=max_failures),
        baseline=before,
        max_drop=max_drop,
        metrics=metrics,
        ignored=ignored,
    )
    tell_reading([record, *others] if others else [])
    gate = gate_run(opened, record, options)
    if junit is not None:
        from assay.report.junit import junit as as_junit

        _write(junit, as_junit(gate))
    if markdown is not None:
        from assay.report.markdown import gate_markdown

        _write(None if markdown == "-" else Path(markdown), gate_markdown(gate))
    if as_json:
        print_json(gate.to_dict())
    elif markdown != "-":
        from assay.report.gate import gate_table

        console().print(gate_table(gate))
    return 0 if gate.passed else 1


def _write(path: Path | None, text: str) -> None:
    """Write the text to a file, or to stdout without one."""
    from assay.errors import SpecError

    if path is None:
        click.echo(text)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecError(f"cannot write {path}: {error.strerror or error}") from error

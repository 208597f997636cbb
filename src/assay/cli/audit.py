"""`assay audit`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import FILE, console, json_option, money, plugin_option, store_option

if TYPE_CHECKING:
    from decimal import Decimal

    from assay.results.audit import AuditPlan, ProbeName

PROBES: tuple[ProbeName, ...] = ("position", "noise", "verbosity", "injection")


@click.command("audit")
@click.argument("target", type=FILE)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="MODEL",
    help="A model to audit; may be repeated. Default: the judges of the task.",
)
@click.option("--submissions", type=FILE, metavar="PATH", help="The texts for a rubric: a folder, CSV, JSONL, dataset.")
@click.option(
    "--column", metavar="NAME", help="The column that holds the texts, in a table or in the samples of a task."
)
@click.option("--prompt", metavar="TEXT", help="What the texts answer; shown to the judges.")
@click.option(
    "--scorer", metavar="KEY", help="The scorer of the task whose judges are audited, where several have judges."
)
@click.option("--run", metavar="RUN", help="Take the answers of this run of the task (default: its latest).")
@click.option(
    "--limit", type=click.IntRange(min=1), default=200, show_default=True, metavar="N", help="The first N texts."
)
@click.option(
    "--probe",
    "probes",
    multiple=True,
    type=click.Choice(PROBES),
    help="Make only this probe; may be repeated. Default: all four.",
)
@click.option(
    "--threshold",
    type=float,
    default=0.05,
    show_default=True,
    metavar="X",
    help="The largest effect that is allowed, on scores from 0 to 1.",
)
@click.option(
    "--max-noise",
    type=float,
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="The largest share of verdicts that may change when asked again.",
)
@click.option(
    "--max-cost", callback=money, metavar="USD", help="Never spend more than this; goes ahead without asking."
)
@click.option("--yes", is_flag=True, help="Go ahead without asking.")
@click.option("--plan", "only_plan", is_flag=True, help="Only say what the audit would ask and cost.")
@click.option("--max-concurrency", type=click.IntRange(min=1), metavar="N", help="At most N calls in flight a model.")
@click.option("--seed", type=int, metavar="N", help="Seed of the order of options; the store's own when not set.")
@click.option("--fresh", is_flag=True, help="Ask anew instead of using replies that are there.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no plan.")
@plugin_option
@store_option
@json_option
def command(target: Path, *, judges: tuple[str, ...], as_json: bool, quiet: bool, **given: Any) -> int:
    """Find out whether a judge can be trusted: does anything change its verdicts that should not?

    TARGET is a rubric with --submissions, or a task with a scorer that asks judges: rubric,
    model_as_a_judge_classifier or model_as_a_judge_scorer. Each judge sees every text as it is, once
    more, padded with empty words, with a request for a good grade in it, and with the options in both orders. Effects
    come with intervals: PASS if the interval lies inside the threshold, FAIL if it lies outside, else INCONCLUSIVE
    with the number of texts that would tell. What it will cost is said first; replies are kept, so that an audit that
    was stopped goes on, and none is paid for twice.

    \b
    Examples:
      assay audit rubric.yaml --submissions essays/ --judge openai/gpt-5-mini --plan
      assay audit rubric.yaml --submissions essays/ --judge openai/gpt-5-mini --max-cost 2
      assay audit task.yaml --probe position --probe noise --yes
    """
    from assay.cli.grade import panel_of
    from assay.cli.progress import watch
    from assay.grading.audit import Audit, AuditOptions
    from assay.grading.audit_targets import Wanted, find_target
    from assay.grading.judge_audit import JudgeAudit, JudgeTarget

    only_plan, yes = given.pop("only_plan"), given.pop("yes")
    places = {name: given.pop(name) for name in ("submissions", "column", "prompt", "scorer", "run", "limit")}
    found = find_target(target, Wanted(store=given["store"], planned=only_plan, **places))
    probes = given.pop("probes") or PROBES
    audit: Audit | JudgeAudit
    if isinstance(found, JudgeTarget):
        audit = JudgeAudit(found, panel_of(judges), AuditOptions(probes=probes, planned=only_plan, **given))
    else:
        panel = panel_of(judges) if judges else found.judges
        if not panel:
            raise click.UsageError("name the judge with --judge, such as --judge openai/gpt-5-mini")
        options = AuditOptions(probes=probes, scorer=found.scorer, planned=only_plan, **given)
        audit = Audit(found.name, found.dataset, panel, options)
    plan = audit.plan()
    if only_plan:
        _print_plan(plan, as_json=as_json)
        return 0
    if not quiet:
        from assay.report.audit import plan_words

        click.echo(f"plan: {plan_words(plan)}", err=True)
    _agree(plan, yes=yes, max_cost=given["max_cost"])
    with watch(enabled=not quiet) as listener:
        result = audit.run(plan, listener)
    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(result.to_dict(), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        from assay.report.audit import audit_table

        console().print(audit_table(result))
    if result.status == "failed" and not quiet:
        click.echo("no verdict of any judge could be had, so nothing is known about them", err=True)
    if result.status != "completed":
        return 3
    return 1 if result.failed else 0


def _print_plan(plan: AuditPlan, *, as_json: bool) -> None:
    from assay.report.audit import plan_document, plan_words

    if as_json:
        import orjson

        sys.stdout.buffer.write(orjson.dumps(plan_document(plan), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        click.echo(plan_words(plan))


def _agree(plan: AuditPlan, *, yes: bool, max_cost: Decimal | None) -> None:
    """Nothing is spent before somebody said so: by a flag, by a limit, or at the terminal."""
    if yes or max_cost is not None or plan.is_free:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("this costs money: say --yes, or how much it may be with --max-cost")
    click.confirm("Go ahead?", abort=True, err=True)

"""`assay audit`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import FILE, json_option, log_options, money, plugin_option, store_option
from assay.cli.output import console, print_json

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
    help="A model to audit; repeatable.  [default: the judges of the task]",
)
@click.option(
    "--submissions",
    type=FILE,
    metavar="PATH",
    help="The texts to grade by the rubric: a folder, CSV, JSONL or dataset.",
)
@click.option(
    "--column", metavar="NAME", help="The column that holds the texts, in a table or in the samples of a task."
)
@click.option("--prompt", metavar="TEXT", help="The question that the texts answer; shown to the judges.")
@click.option(
    "--scorer", metavar="KEY", help="The scorer whose judges are audited, if several scorers of the task have judges."
)
@click.option("--run", metavar="RUN", help="Use the answers of this run of the task.  [default: its latest run]")
@click.option(
    "--limit", type=click.IntRange(min=1), default=200, show_default=True, metavar="N", help="Use the first N texts."
)
@click.option(
    "--probe",
    "probes",
    multiple=True,
    type=click.Choice(PROBES),
    help="Run only this probe; repeatable.  [default: all four]",
)
@click.option(
    "--threshold",
    type=float,
    default=0.05,
    show_default=True,
    metavar="X",
    help="The largest effect on the score (0 to 1) that passes.",
)
@click.option(
    "--max-noise",
    type=float,
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="The largest share of verdicts that may change when a judge is asked again.",
)
@click.option("--max-cost", callback=money, metavar="USD", help="A hard ceiling on the cost. Implies --yes.")
@click.option("--yes", is_flag=True, help="Start without asking for confirmation.")
@click.option("--plan", "only_plan", is_flag=True, help="Only print the calls and the cost of the audit.")
@click.option(
    "--max-concurrency", type=click.IntRange(min=1), metavar="N", help="Maximum concurrent requests per model."
)
@click.option("--seed", type=int, metavar="N", help="Random seed for the order of options.  [default: the store's own]")
@click.option("--fresh", is_flag=True, help="Ask again instead of reusing stored replies.")
@click.option("--quiet", "-q", is_flag=True, help="Print no plan and no progress.")
@log_options
@plugin_option
@store_option
@json_option
def command(target: Path, *, judges: tuple[str, ...], as_json: bool, quiet: bool, **given: Any) -> int:
    """Probe a judge for position bias, verbosity bias, prompt injection and inconsistency.

    TARGET is a rubric with --submissions, or a task with a scorer that asks judges: rubric,
    model_as_a_judge_classifier or model_as_a_judge_scorer. Each judge grades every text unchanged, a second time,
    padded with empty words, with a request for a good grade added, and with the options in both orders. Every effect
    has an interval: PASS if the interval lies within the threshold, FAIL if it lies outside, otherwise INCONCLUSIVE
    with the number of texts that would settle it. The expected cost is printed first. Replies are stored: an audit that
    was stopped resumes, and no reply is paid for twice.

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
    audited = find_target(target, Wanted(store=given["store"], planned=only_plan, **places))
    probes = given.pop("probes") or PROBES
    audit: Audit | JudgeAudit
    if isinstance(audited, JudgeTarget):
        audit = JudgeAudit(audited, panel_of(judges), AuditOptions(probes=probes, planned=only_plan, **given))
    else:
        panel = panel_of(judges) if judges else audited.judges
        if not panel:
            raise click.UsageError("name a judge with --judge, for example --judge openai/gpt-5-mini")
        options = AuditOptions(probes=probes, scorer=audited.scorer, planned=only_plan, **given)
        audit = Audit(audited.name, audited.dataset, panel, options)
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
        print_json(result.to_dict())
    else:
        from assay.report.audit import audit_table

        console().print(audit_table(result))
    if result.status == "failed" and not quiet:
        click.echo("no judge gave a usable verdict, so the audit has no result", err=True)
    if result.status != "completed":
        return 3
    return 1 if result.failed else 0


def _print_plan(plan: AuditPlan, *, as_json: bool) -> None:
    from assay.report.audit import plan_document, plan_words

    if as_json:
        print_json(plan_document(plan))
    else:
        click.echo(plan_words(plan))


def _agree(plan: AuditPlan, *, yes: bool, max_cost: Decimal | None) -> None:
    """Ask for confirmation, unless a flag or a limit gives it or the audit is free."""
    if yes or max_cost is not None or plan.is_free:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("the audit costs money: confirm with --yes, or set a ceiling with --max-cost")
    click.confirm("Continue?", abort=True, err=True)

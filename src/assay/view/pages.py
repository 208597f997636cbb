"""The list of runs, one run, its progress, and how its panel voted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.api import labels, viewing
from assay.api.viewing import RunCard, RunRecord, RunReport
from assay.report.charts import cost_over_time, interval_bar
from assay.report.evaluation import headline
from assay.report.html.figures import correction_charts, distribution_charts, panel_charts
from assay.report.html.run_section import bar_of, run_section, unfinished_section, value_axis
from assay.report.values import interval
from assay.results.calibration import Calibration
from assay.results.costs import known_cost
from assay.text import counted, duration, number
from assay.view.address import Asked, terminal_words
from assay.view.background import Pending
from assay.view.site import IN_THREAD, Elsewhere, Page, Site

RUNS_SHOWN = 25
HEADLINES = 2
DIVIDED_SHOWN = 20


def runs_page(site: Site, asked: Asked) -> Page | Elsewhere:
    """The newest runs with their headline metrics, each with a link to its comparison with the run before it."""
    text, before = asked.text("q"), asked.number("before")
    if any(not value for _, value in asked.pairs):
        return Elsewhere(location=site.url(q=text, before=before))
    cards = viewing.run_cards(site.store, before=before, text=text, limit=RUNS_SHOWN + 1)
    more = len(cards) > RUNS_SHOWN
    cards = cards[:RUNS_SHOWN]
    return site.page(
        "runs.html",
        title="Runs",
        current="runs",
        rows=[_run_row(site, card) for card in cards],
        text=text,
        older=cards[-1].record.no if more else None,
        is_first=before is None,
        commands=["assay runs"],
        after_s=None,
    )


def _run_row(site: Site, card: RunCard) -> dict[str, Any]:
    record, report = card.record, card.report
    values = [] if report is None else list(headline(report))[:HEADLINES]
    return {
        "record": record,
        "state": card.state,
        "title": record.name or record.specification or record.id,
        "task": (report.display_name if report is not None else None) or record.task,
        "settings": card.settings,
        "model": record.model or "",
        "samples": "" if report is None else f"{report.n_samples:,}",
        "n_failed": 0 if report is None else report.n_failed,
        "values": [
            {
                "label": label,
                "value": number(value.value),
                "bounds": interval(value.interval) if value.value is not None else value.reason,
                "bar": interval_bar(bar_of(label, value), value_axis([value])),
            }
            for label, value in values
        ],
        "previous": card.previous if record.summary is not None else None,
        "compare": None
        if card.previous is None or record.summary is None
        else site.url("compare", runs=[card.previous.id, record.id]),
    }


def run_page(site: Site, asked: Asked) -> Page:
    """One run: its metrics with intervals, what is not in them, where it comes from, its figures."""
    record = site.record(asked.parts["run"])
    links: dict[str, Any] = {
        "record": record,
        "current": "run",
        "samples_link": site.url("runs", record.id, "samples"),
        "previous": viewing.previous_run(site.store, record),
        "commands": [f"assay show {record.id}", f"assay report {record.id}"],
    }
    if record.summary is None:
        progress = viewing.progress_of(site.store, record)
        section = unfinished_section(record, progress.rows)
        return site.page(
            "run.html",
            title=section.title,
            run=section,
            progress=_progress(site, record),
            counting=0,
            correcting=False,
            **links,
        )
    report = viewing.report_of(site.store, record)
    index = site.index(record)
    corrected, correcting = _corrected(site, record)
    charts = [] if index is None else distribution_charts(viewing.distributions_of(index, record.spec))
    charts += correction_charts(corrected.values())
    section = run_section(record, report, charts=charts, corrected=corrected)
    return site.page(
        "run.html",
        title=section.title,
        run=section,
        progress=None,
        counting=0 if index is not None else viewing.index_progress(site.store, record) or 1,
        correcting=correcting,
        after_s=2 if correcting else None,
        **links,
    )


def _corrected(site: Site, record: RunRecord) -> tuple[Mapping[str, Calibration], bool]:
    """The metrics that labels in the store correct, and whether they are still being computed."""
    if not labels.corrections(site.store, record):
        return {}, False
    apart = viewing.size_of(record) > IN_THREAD
    key = ("corrected", record.id, record.finished_at, labels.labels_version(site.store))
    try:
        return site.work.result(key, labels.correct_stored, site.reopen, record.id, apart=apart), False
    except Pending:
        return {}, True


def _progress(site: Site, record: RunRecord) -> dict[str, Any]:
    progress = viewing.progress_of(site.store, record)
    running = progress.state == "running"
    parts = [f"{counted(progress.rows, 'row')} stored"]
    if running and progress.per_minute is not None:
        parts.append(f"{progress.per_minute:,.0f} per minute")
    if running:
        parts.append(f"for {duration(progress.elapsed_s)}")
        if progress.heartbeat_age_s is not None and progress.heartbeat_age_s > 5:
            parts.append(f"waiting for replies: nothing was stored in the last {duration(progress.heartbeat_age_s)}")
    return {
        "running": running,
        "state": progress.state,
        "words": " · ".join(parts),
        "failures": [
            {"kind": kind, "detail": detail[:300], "href": site.url("runs", record.id, "samples", position)}
            for position, kind, detail in progress.failures
        ],
    }


def progress_event(site: Site, run_id: str) -> dict[str, Any]:
    """What the page of a running run is told every second."""
    record = site.record(run_id)
    if record.summary is not None:
        return {"finished": True, "words": "finished"}
    progress = _progress(site, record)
    return {
        "finished": not progress["running"],
        "words": progress["words"],
        "failures": [f"{failure['kind']}: {failure['detail']}" for failure in progress["failures"]],
    }


def panel_page(site: Site, asked: Asked) -> Page:
    """How the judges of a run voted: items by criterion, agreement of every two judges, the items that divide them."""
    record = site.record(asked.parts["run"])
    context: dict[str, Any] = {
        "title": "Panel",
        "current": "panel",
        "record": record,
        "commands": [f"assay agreement {record.id}"],
    }
    if not viewing.has_panel(record.spec):
        return site.page("panel.html", pending=False, panels=[], **context)
    apart = viewing.size_of(record) > IN_THREAD
    try:
        summaries = site.work.result(
            ("panel", record.id, record.finished_at),
            viewing.panel_stored,
            site.reopen,
            record.id,
            apart=apart,
        )
    except Pending:
        return site.page("panel.html", pending=True, panels=[], after_s=1, **context)
    panels = [
        {
            "scorer": summary.scorer,
            "charts": list(panel_charts([summary])),
            "divided": summary.divided[:DIVIDED_SHOWN],
            "n_items": summary.n_items,
        }
        for summary in summaries
    ]
    return site.page("panel.html", pending=False, panels=panels, **context)


def costs_page(site: Site, asked: Asked) -> Page:
    """What the runs cost: day by day, by model, and the dearest of them."""
    newest = viewing.run_cards(site.store, before=None, text="", limit=1)
    state = [(card.record.id, card.record.finished_at) for card in newest]
    context: dict[str, Any] = {"title": "Costs", "current": "costs", "commands": ["assay runs --costs"]}
    try:
        costs = site.work.result(("costs", *state), viewing.costs_stored, site.reopen, patience_s=1.0)
    except Pending:
        return site.page("costs.html", pending=True, after_s=1, **context)
    days: dict[str, float] = {}
    runs = []
    for run in costs.runs:
        cost, n_unpriced = known_cost(run.spending)
        days[run.started_at[:10]] = days.get(run.started_at[:10], 0.0) + float(cost)
        runs.append((cost, n_unpriced, run))
    total, unpriced = known_cost(costs.spending)
    dearest = sorted(runs, key=lambda entry: -entry[0])[:RUNS_SHOWN]
    return site.page(
        "costs.html",
        pending=False,
        total="unknown" if unpriced and unpriced == sum(run.n_calls for run in costs.runs) else f"${total:,.4f}",
        unpriced=unpriced,
        n_runs=len(costs.runs),
        chart=cost_over_time(sorted(days.items()), title="Cost per day and in total") if days else None,
        models=sorted(costs.spending, key=lambda spent: -(spent.cost_usd or 0)),
        # null, never 0: a run none of whose calls has a price cost an unknown amount
        runs=[
            ("unknown" if missing == run.n_calls else f"${cost:,.4f}", missing, run) for cost, missing, run in dearest
        ],
        **context,
    )


def run_title(record: RunRecord, report: RunReport | None = None) -> str:
    """What a page calls a run."""
    return record.name or record.specification or (report.display_name if report else None) or record.id


def compare_command(run_ids: list[str]) -> str:
    """The command that compares the same runs."""
    return terminal_words("assay", "compare", *run_ids)

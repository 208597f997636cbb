"""Runs beside one another: the verdict in words, the samples that changed with both answers, and a grid of verdicts."""

from __future__ import annotations

from typing import Any

from assay.api import viewing
from assay.api.viewing import RunRecord, SampleFilter
from assay.report.html.comparison_section import question_of
from assay.report.html.sample_section import verdict_of
from assay.view.address import Asked
from assay.view.background import Pending
from assay.view.pages import compare_command, run_title
from assay.view.site import IN_THREAD, Elsewhere, Missing, Page, Site

MOST_RUNS = 8
CARDS_SHOWN = 10
COMPARE_S = 1.5
"""Most comparisons are done by then, and nobody wants to see a page that only says wait."""
GRID_ROWS = 25


def _records(site: Site, asked: Asked) -> list[RunRecord]:
    names = list(dict.fromkeys(asked.texts("runs")))
    if len(names) < 2:
        raise Missing("A comparison needs two runs: mark them in the list of runs.")
    if len(names) > MOST_RUNS:
        raise Missing(f"A page compares at most {MOST_RUNS} runs.")
    return [site.record(name) for name in names]


def compare_page(site: Site, asked: Asked) -> Page | Elsewhere:
    """How runs differ from the first one, and the samples that changed, losses first."""
    records = _records(site, asked)
    ids = [record.id for record in records]
    if asked.text("order") == "age":
        # the form of the list of runs: the oldest run is the baseline
        oldest_first = [record.id for record in sorted(records, key=lambda record: record.no)]
        return Elsewhere(location=site.url("compare", runs=oldest_first))
    context: dict[str, Any] = {
        "title": f"{run_title(records[-1])} against {run_title(records[0])}",
        "current": "compare",
        "records": records,
        "grid": site.url("grid", runs=ids),
        "commands": [f"{compare_command(ids)} --show-flips 25"],
    }
    apart = sum(map(viewing.size_of, records)) > IN_THREAD
    try:
        compared = site.work.result(
            ("compare", *((record.id, record.finished_at) for record in records)),
            viewing.compare_stored,
            site.reopen,
            ids,
            apart=apart,
            patience_s=COMPARE_S,
        )
    except Pending:
        return site.page("compare.html", pending=True, after_s=1, **context)
    chosen = min(asked.number("metric") or 0, len(compared.metrics) - 1)
    metric = compared.metrics[chosen]
    direction = asked.text("show") if asked.text("show") in ("up", "down") else "all"
    flips = [
        flip
        for flip in (reversed(metric.flips) if direction == "up" else metric.flips)
        if direction == "all" or (flip.after > flip.before) is (direction == "up")
    ]
    start = asked.number("after") or 0
    by_letter = dict(zip((run.letter for run in compared.section.runs), records, strict=True))
    sides = [(record, site.index(record)) for record in (by_letter[metric.against], by_letter[metric.letter])]
    cards = viewing.flip_cards(site.store, sides, metric, flips[start : start + CARDS_SHOWN], compared.names)

    def link(**changes: object) -> str:
        return site.url("compare", **{"runs": ids, "metric": chosen or None, "show": None, **changes})

    shown = None if direction == "all" else direction
    return site.page(
        "compare.html",
        pending=False,
        comparison=compared.section,
        chart=compared.chart,
        metric=metric,
        metrics=[(number, m, link(metric=number or None)) for number, m in enumerate(compared.metrics)],
        chosen=chosen,
        directions=[
            ("all", f"all {metric.up + metric.down:,}", link()),
            ("down", f"{metric.down:,} down", link(show="down")),
            ("up", f"{metric.up:,} up", link(show="up")),
        ],
        direction=direction,
        cards=[
            (card, None if position is None else site.url("runs", sides[1][0].id, "samples", position))
            for card, position in cards
        ],
        next=link(show=shown, after=start + CARDS_SHOWN) if start + CARDS_SHOWN < len(flips) else None,
        first=link(show=shown) if start else None,
        n_listed=len(flips),
        n_all=metric.up + metric.down,
        **context,
    )


def grid_page(site: Site, asked: Asked) -> Page:
    """Samples in rows, runs in columns: how each came out in each run."""
    records = _records(site, asked)
    ids = [record.id for record in records]
    after = asked.number("after")
    listed = viewing.list_samples(
        site.store, records[0], site.index(records[0]), SampleFilter(), after=after, size=GRID_ROWS
    )
    columns = [{(sample.sample_id, sample.trial): sample for sample in listed.samples}]
    wanted = [sample.sample_id for sample in listed.samples]
    for record in records[1:]:
        where = viewing.positions_by_id(site.store, record, site.index(record), wanted)
        samples = viewing.samples_of(site.store, record, [position for of_id in where.values() for position in of_id])
        columns.append({(sample.sample_id, sample.trial): sample for sample in samples})
    rows = []
    for sample in listed.samples:
        cells: list[dict[str, Any] | None] = []
        for record, column in zip(records, columns, strict=True):
            entry = column.get((sample.sample_id, sample.trial))
            if entry is None:
                cells.append(None)
                continue
            verdict, tone = verdict_of(entry, record.spec)
            href = site.url("runs", record.id, "samples", entry.position)
            cells.append({"verdict": verdict or "no score", "tone": tone, "href": href, "answer": entry.output})
        verdicts = {cell["verdict"] if cell else None for cell in cells}
        rows.append(
            {"sample": sample, "question": question_of(sample.sample), "cells": cells, "same": len(verdicts) < 2}
        )
    return site.page(
        "grid.html",
        title=f"{len(records)} runs side by side",
        current="compare",
        records=records,
        heads=[run_title(record) for record in records],
        rows=rows,
        next=None if listed.after is None else site.url("grid", runs=ids, after=listed.after),
        first=site.url("grid", runs=ids) if after is not None else None,
        commands=[compare_command(ids)],
    )

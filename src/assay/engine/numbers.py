"""From stored scores to numbers: every metric is computed from what was committed, nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from assay.metric.compute import compute, fields_of, labels_of
from assay.metric.table import Table, TableBuilder
from assay.spec import LoadedScorer
from assay.spec.fields import MetricSpec
from assay.store import evidence
from assay.store.store import Store
from assay.template import texts
from assay.types import MetricReport, Rows, ScorerReport

_NOTHING: Mapping[str, Any] = {}


def scorer_report(
    store: Store, rows_of: int, slot: int, scorer: LoadedScorer, *, n_failed: int, seed: int
) -> ScorerReport:
    """All metrics of one scorer of a run."""
    specs = [metric.settings for metric in scorer.metrics]
    table = _table(store, rows_of, slot, scorer, specs)
    reports = []
    for metric in scorer.metrics:
        address = f"{scorer.key}/{metric.key}"
        result = compute(metric.kind, metric.settings, table, seed=seed, address=address)
        reports.append(MetricReport(key=metric.key, type=metric.kind.name, result=result))
    return ScorerReport(
        key=scorer.key,
        type=scorer.kind.name,
        display_name=scorer.settings.display_name,
        purpose=scorer.settings.purpose,
        n_scored=table.n,
        n_failed=n_failed,
        n_excluded=0,
        metrics=tuple(reports),
    )


def _table(store: Store, rows_of: int, slot: int, scorer: LoadedScorer, specs: Sequence[MetricSpec]) -> Table:
    fields = {name for settings in specs for name in fields_of(settings).values()}
    labels = {label for settings in specs for label in labels_of(settings)}
    builder = TableBuilder(fields, labels, ranges=scorer.kind.ranges)
    known = scorer.kind.values
    metadata = known is None or not fields <= set(known)
    for page in evidence.score_pages(store, rows_of, slot, metadata=metadata, inputs=bool(labels)):
        values = _loaded(page.values)
        details = _loaded(page.metadata) if metadata else [_NOTHING] * len(values)
        builder.add(values, details, labels=_labels(page, labels))
    return builder.build()


def _loaded(documents: Sequence[str | None]) -> list[Mapping[str, Any]]:
    """Parse JSON objects, each distinct text once."""
    known: dict[str | None, Mapping[str, Any]] = {
        text: _NOTHING if text is None else orjson.loads(text) for text in set(documents)
    }
    return [known[text] for text in documents]


def _labels(page: evidence.ScorePage, templates: set[Any]) -> dict[str, Sequence[str | None]]:
    if not templates:
        return {}
    rows = Rows(positions=page.positions, ids=page.ids, samples=[orjson.loads(text) for text in page.inputs])
    return {template: _label_column(template, rows) for template in templates}


def _label_column(template: str, rows: Rows) -> Sequence[str | None]:
    column = texts(template, rows, stage="metric")
    return [None if place in column.failures else value for place, value in enumerate(column.values)]


def addressed(reports: Sequence[ScorerReport]) -> Iterator[tuple[str, Any]]:
    """Every value of a run with its address, `scorer/metric/name`."""
    for scorer in reports:
        for metric in scorer.metrics:
            for name, value in metric.result.values.items():
                yield f"{scorer.key}/{metric.key}/{name}", value

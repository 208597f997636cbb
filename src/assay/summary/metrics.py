"""Compute every metric from the committed scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import orjson

from assay.errors import Problem, SpecError
from assay.metrics.compute import compute, fields_of, labels_of, undefined
from assay.metrics.context import Context
from assay.metrics.table import Table, TableBuilder, TextAmongNumbers
from assay.registry import Said, StoredMetadata
from assay.results.run import MetricReport, ScorerReport
from assay.spec import LoadedMetric, LoadedScorer
from assay.spec.task import Trials
from assay.store import sample_rows as evidence
from assay.store.decoder import Sample, decoded
from assay.store.row_address import RowLayout
from assay.summary.baseline import with_baseline
from assay.summary.inputs import MetricInputs
from assay.summary.stored_metadata import stored_metadata
from assay.summary.trial_noise import with_noise
from assay.summary.trials import PLUG_IN, aggregate, ranges_of, why_undefined
from assay.templates import texts
from assay.types import MetricResult, MetricValue, Rows

_NOTHING: Mapping[str, Any] = {}


class _Kept:
    """Pages of scores without the rows that are left out, and how many those were."""

    def __init__(self, pages: Iterator[evidence.ScorePage], without: frozenset[int]) -> None:
        self._pages = pages
        self._without = without
        self.dropped = 0

    def __iter__(self) -> Iterator[evidence.ScorePage]:
        if not self._without:
            yield from self._pages
            return
        for page in self._pages:
            places = [i for i, position in enumerate(page.positions) if position not in self._without]
            self.dropped += len(page.positions) - len(places)
            yield page.part(places) if len(places) < len(page.positions) else page


def scorer_report(basis: MetricInputs, slot: int, scorer: LoadedScorer, *, n_failed: int) -> ScorerReport:
    """All metrics of one scorer of a run."""
    table, unlabelled, n_excluded = _table(basis, slot, scorer)
    seed = basis.seed
    metadata = stored_metadata(basis, slot)
    reports = []
    for metric in scorer.metrics:
        address = f"{scorer.key}/{metric.key}"
        try:
            result = compute(metric.kind, metric.settings, table, seed=seed, address=address)
        except TextAmongNumbers as error:
            context = Context(seed=seed, address=address, level=0.95)
            reason = _text_in(basis, slot, error.field)
            result = undefined(metric.kind, metric.settings, context, n=table.n, reason=reason)
        else:
            result = _with_plug_in(metric, table, result, basis.trials, seed=seed, address=address)
            result = _with_unlabelled(metric, result, unlabelled)
            # of several trials some may have failed and others not: no bound is worth its name then
            result = _with_bounds(result, metric, scorer, n_failed if basis.trials is None else 0)
            result = with_noise(
                basis, slot, scorer, metric, with_baseline(scorer, metric, result, metadata, basis.trials)
            )
        display_name = metric.settings.display_name
        reports.append(MetricReport(key=metric.key, type=metric.kind.name, result=result, display_name=display_name))
    return ScorerReport(
        key=scorer.key,
        type=scorer.kind.name,
        display_name=scorer.settings.display_name,
        purpose=scorer.settings.purpose,
        n_scored=table.n,
        n_failed=n_failed,
        n_excluded=n_excluded,
        metrics=tuple(reports),
        detail=_detail(basis, scorer, metadata),
    )


def _text_in(basis: MetricInputs, slot: int, field: str) -> str:
    """Find the sample that has text where a metric needs numbers."""
    for page in _Kept(
        evidence.score_pages(basis.store, basis.rows_of, slot, metadata=True, inputs=True), basis.without
    ):
        for sample_id, *documents in zip(page.ids, page.values, page.metadata, strict=True):
            value = next(
                (v for document in documents if document and (v := orjson.loads(document).get(field)) is not None), None
            )
            if isinstance(value, str):
                return f'the field "{field}" must be a number, but in sample {sample_id} it is the text "{value:.40}"'
    raise AssertionError(f"no sample has text in {field}")


def _detail(basis: MetricInputs, scorer: LoadedScorer, metadata: StoredMetadata) -> Mapping[str, Any] | None:
    """Return the details that some scorers derive from all samples together."""
    parts: list[Mapping[str, Any]] = []
    if scorer.kind.count is not None:
        parts.append(scorer.kind.count(scorer.settings, metadata) or {})
    if scorer.kind.detail is not None:
        samples = decoded(basis.store, basis.rows_of, basis.keys)
        included = (sample for sample in samples if sample.position not in basis.without)
        parts.append(scorer.kind.detail(scorer.settings, _reported(included, scorer.key)) or {})
    merged = {name: value for part in parts for name, value in part.items()}
    warnings = [warning for part in parts for warning in part.get("warnings", ())]
    return {**merged, **({"warnings": warnings} if warnings else {})} or None


def _reported(samples: Iterator[Sample], key: str) -> Iterator[Said]:
    """Return a scorer's report on every sample: the metadata of its score, or its failure."""
    for sample in samples:
        if key in sample.scores:
            yield sample.sample_id, sample.scores[key].metadata, None
        elif key in sample.failures:
            yield sample.sample_id, None, sample.failures[key].detail


def _with_bounds(result: MetricResult, metric: LoadedMetric, scorer: LoadedScorer, n_failed: int) -> MetricResult:
    """Add the bounds of a mean if every failed sample had the lowest, or the highest, possible value."""
    per_sample = metric.per_sample
    if per_sample is None or not per_sample.is_field or per_sample.macro_by is not None or not n_failed:
        return result
    span = scorer.ranges.get(per_sample.fields[0])
    if span is None:
        return result
    bounds = {}
    for name, value in result.values.items():
        if value.value is not None:
            total = value.n + n_failed
            bounds[name] = [(value.value * value.n + n_failed * end) / total for end in span]
    return replace(result, detail={**result.detail, "if_failed": bounds}) if bounds else result


def _with_plug_in(
    metric: LoadedMetric, table: Table, result: MetricResult, trials: Trials | None, *, seed: int, address: str
) -> MetricResult:
    """The result of pass@k or pass^k with the plug-in value in its details, and the reason where k is too large."""
    field = getattr(metric.settings, "field", None)
    if field is None or f"{field}{PLUG_IN}" not in table.seen:
        return result
    settings = metric.settings.model_copy(update={"field": f"{field}{PLUG_IN}", "group_by": None})
    plug_in = compute(metric.kind, settings, table, seed=seed, address=f"{address}{PLUG_IN}")
    pairs = zip(result.values, plug_in.values.values(), strict=True)
    detail = {**result.detail, "plug_in": {name: other.value for name, other in pairs}}
    reason = why_undefined(field, trials)
    if reason is None:
        return replace(result, detail=detail)
    values = {name: replace(value, reason=reason) for name, value in result.values.items()}
    groups = result.groups and {
        name: {key: replace(value, reason=reason) for key, value in group.items()}
        for name, group in result.groups.items()
    }
    return replace(result, values=values, groups=groups, detail=detail)


def _with_unlabelled(metric: LoadedMetric, result: MetricResult, unlabelled: Mapping[str, int]) -> MetricResult:
    """Add the number of samples without a group or cluster to the result, if there are any."""
    templates = {
        "group": metric.settings.group_by,
        "cluster": metric.settings.cluster_by,
        "macro group": getattr(metric.settings, "macro_by", None),
    }
    lacking = {
        name: unlabelled[template]
        for name, template in templates.items()
        if template is not None and unlabelled.get(template)
    }
    return replace(result, detail={**result.detail, "n_without": lacking}) if lacking else result


def _table(basis: MetricInputs, slot: int, scorer: LoadedScorer) -> tuple[Table, dict[str, int], int]:
    """The scores of a scorer, for every template of labels how many samples it gave none, how many were left out."""
    trials = basis.trials
    specs = [metric.settings for metric in scorer.metrics]
    fields = {name for settings in specs for name in fields_of(settings).values()}
    if trials is not None:
        fields |= {f"{name}{PLUG_IN}" for name in fields}
    labels = {label for settings in specs for label in labels_of(settings)}
    unlabelled = dict.fromkeys(labels, 0)
    whole = any(metric.kind.runs_code for metric in scorer.metrics)
    builder = TableBuilder(fields, labels, ranges=ranges_of(scorer.ranges, trials), whole=whole)
    declared = scorer.kind.values
    metadata = trials is None and (whole or declared is None or not fields <= set(declared))
    inputs = bool(labels) or basis.families
    stored = evidence.score_pages(basis.store, basis.rows_of, slot, metadata=metadata, inputs=inputs)
    pages = _Kept(stored, basis.without)
    families: dict[str, int] = {}
    for page in pages if trials is None else _aggregated(iter(pages), trials, basis.layout):
        values = _loaded(page.values)
        details = _loaded(page.metadata) if metadata else [_NOTHING] * len(values)
        named = _labels(page, labels)
        for template, column in named.items():
            unlabelled[template] += sum(label is None for label in column)
        builder.add(values, details, labels=named, clusters=_clusters(basis, page, families))
    table = builder.build()
    for template, n in unlabelled.items():
        if table.n and n == table.n:
            place = getattr(template, "place", None)
            raise SpecError(Problem(message="this template gives no label for any sample", place=place))
    return table, unlabelled, pages.dropped


def _clusters(basis: MetricInputs, page: evidence.ScorePage, families: dict[str, int]) -> list[int] | None:
    """Return the family of each row: rows from one sample, or from one source row of a generator, share a number."""
    if basis.families:
        named = (str(orjson.loads(text).get("source_id", i)) for text, i in zip(page.inputs, page.ids, strict=True))
        return [families.setdefault(name, len(families)) for name in named]
    if basis.layout.fan_out == 1:
        return None
    return [basis.layout.cell(position) for position in page.positions]


def _aggregated(pages: Iterator[evidence.ScorePage], trials: Trials, layout: RowLayout) -> Iterator[evidence.ScorePage]:
    """Combine the trials of each sample into one score, page by page."""
    rows = (
        (position, page.values[i], page.inputs[i : i + 1], page.ids[i : i + 1])
        for page in pages
        for i, position in enumerate(page.positions)
    )
    merged_page = evidence.ScorePage([], [], [], [], [])
    for sample, entries in _by_sample(rows, layout):
        score = aggregate([orjson.loads(text) for _, text, _, _ in entries], trials)
        merged_page.positions.append(sample)
        merged_page.values.append(orjson.dumps(score).decode())
        merged_page.inputs.extend(entries[0][2])
        merged_page.ids.extend(entries[0][3])
        if len(merged_page.values) == evidence.PAGE:
            yield merged_page
            merged_page = evidence.ScorePage([], [], [], [], [])
    yield merged_page


Entry = tuple[int, str, list[str], list[str]]


def _by_sample(rows: Iterator[Entry], layout: RowLayout) -> Iterator[tuple[int, list[Entry]]]:
    """The trials of each sample together, samples in their order."""
    for _, group in groupby(rows, key=lambda row: layout.sample(row[0])):
        parts: dict[int, list[Entry]] = {}
        for entry in group:
            parts.setdefault(layout.sample_row(entry[0]), []).append(entry)
        yield from sorted(parts.items())


def _loaded(documents: Sequence[str | None]) -> list[Mapping[str, Any]]:
    """Parse JSON objects, each distinct text once."""
    by_text: dict[str | None, Mapping[str, Any]] = {
        text: _NOTHING if text is None else orjson.loads(text) for text in set(documents)
    }
    return [by_text[text] for text in documents]


def _labels(page: evidence.ScorePage, templates: set[str]) -> dict[str, Sequence[str | None]]:
    if not templates:
        return {}
    rows = Rows(positions=page.positions, ids=page.ids, samples=[orjson.loads(text) for text in page.inputs])
    return {template: _label_column(template, rows) for template in templates}


def _label_column(template: str, rows: Rows) -> Sequence[str | None]:
    column = texts(template, rows, stage="metric")
    return [None if place in column.failures else value for place, value in enumerate(column.values)]


def addressed(reports: Sequence[ScorerReport]) -> Iterator[tuple[str, MetricValue]]:
    """Every value of a run with its address, `scorer/metric/name`."""
    for scorer in reports:
        for metric in scorer.metrics:
            for name, value in metric.result.values.items():
                yield f"{scorer.key}/{metric.key}/{name}", value

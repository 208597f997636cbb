"""A run as a page shows it: metrics with bars, what is not in them, provenance, figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from assay.report.charts import Bar, Chart, confusion_matrix, interval_bar, interval_bars
from assay.report.confusion import confusion_of
from assay.report.provenance import cost_words, provenance_document
from assay.report.table import GROUPS_SHOWN, SYSTEM, samples_of
from assay.report.values import interval, remark
from assay.results.calibration import Calibration
from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.store.runs import RunRecord, state
from assay.text import counted, duration, number
from assay.types import MetricValue

CLASSES_DRAWN = 25
BARS_DRAWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A metric corrected by human labels, as text."""

    value: str
    bounds: str
    n_labelled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """One line of the table of metrics."""

    label: str
    value: str
    bounds: str
    n: str
    method: str
    bar: str
    note: str = ""
    is_part: bool = False
    corrected: Corrected | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerSection:
    """The metrics of one scorer."""

    title: str
    purpose: str
    counts: str
    level: str
    rows: tuple[ValueRow, ...]
    notes: tuple[str, ...]
    has_reference: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A line about samples that are not in the metrics; `query` is the filter that lists them."""

    text: str
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSection:
    """Everything that a page shows of a run."""

    id: str
    name: str | None
    title: str
    status: str
    model: str | None
    samples: str
    config: Mapping[str, Any]
    tags: tuple[str, ...]
    started: str
    duration: str
    cost: str
    sections: tuple[ScorerSection, ...]
    nothing: str
    missing: tuple[Missing, ...]
    facts: tuple[tuple[str, str], ...]
    charts: tuple[Chart, ...]
    panel: tuple[Chart, ...] = ()
    samples_shown: Sequence[Any] = field(default=())
    samples_note: str = ""


def run_section(
    record: RunRecord,
    report: RunReport,
    *,
    charts: Sequence[Chart] = (),
    panel: Sequence[Chart] = (),
    corrected: Mapping[str, Calibration] | None = None,
) -> RunSection:
    """Everything that a page shows of a run; `corrected` holds calibrations by the address of their metric."""
    trials = "" if report.trials == 1 else f" × {report.trials} trials"
    return RunSection(
        id=record.id,
        name=record.name or record.specification,
        title=report.display_name or report.task,
        status=state(record),
        model=record.model,
        samples=f"{samples_of(report)}{trials}",
        config=record.spec.config,
        tags=record.tags,
        started=record.started_at,
        duration=_duration(record),
        cost=cost_words(record, report),
        sections=tuple(_scorer(scorer, corrected or {}) for scorer in report.scorers),
        nothing="The task has no scorers: the answers are stored, nothing was scored.",
        missing=tuple(_missing(report)),
        facts=tuple(_facts(record, report)),
        charts=(*(run_charts(report)), *charts),
        panel=tuple(panel),
    )


def unfinished_section(record: RunRecord, n_samples: int) -> RunSection:
    """What can be shown of a run that has no metrics yet."""
    return RunSection(
        id=record.id,
        name=record.name or record.specification,
        title=record.task,
        status=state(record),
        model=record.model,
        samples=f"{counted(n_samples, 'sample')} so far",
        config=record.spec.config,
        tags=record.tags,
        started=record.started_at,
        duration="",
        cost="",
        sections=(),
        nothing="The run is not finished: its metrics are computed at the end.",
        missing=(),
        facts=(("task", f"{record.task} ({record.file})"),),
        charts=(),
    )


def _duration(record: RunRecord) -> str:
    if record.finished_at is None:
        return ""
    took = datetime.fromisoformat(record.finished_at) - datetime.fromisoformat(record.started_at)
    return duration(took.total_seconds())


def _scorer(scorer: ScorerReport, corrected: Mapping[str, Calibration]) -> ScorerSection:
    values = [value for metric in scorer.metrics for value in metric.result.values.values()]
    levels = {value.interval.level for value in values if value.interval is not None}
    counts = {
        "scored": scorer.n_scored,
        "failed": scorer.n_failed,
        "INVALID": scorer.n_invalid,
        "excluded": scorer.n_excluded,
    }
    rows = [row for metric in scorer.metrics for row in _rows(scorer, metric, corrected)]
    return ScorerSection(
        title=scorer.display_name or scorer.key,
        purpose=scorer.purpose,
        counts=", ".join(f"{n:,} {word}" for word, n in counts.items() if n and scorer.type != SYSTEM),
        level=" and ".join(f"{level:.0%}" for level in sorted(levels)) or "95%",
        rows=tuple(rows),
        notes=tuple((scorer.detail or {}).get("warnings", ())),
        has_reference=any("baseline" in metric.result.detail for metric in scorer.metrics),
    )


def _rows(scorer: ScorerReport, metric: MetricReport, corrected: Mapping[str, Calibration]) -> Iterator[ValueRow]:
    result = metric.result
    groups = result.groups or {}
    every = [*result.values.values(), *(value for group in groups.values() for value in group.values())]
    axis = value_axis(every)
    baseline = result.detail.get("baseline")
    bounds_if_failed = result.detail.get("if_failed", {})
    for name, value in result.values.items():
        label = metric.display_name if metric.display_name and len(result.values) == 1 else name
        notes = [remark(value)]
        # the baselines are those of an accuracy, which is the first value: precision and F1 have others
        chance = None
        if baseline is not None and name == next(iter(result.values)):
            chance = baseline["chance"]
            notes += [
                f"by chance {number(chance)}",
                f"always {baseline['majority_class'] or '(empty)'} {number(baseline['majority'])}",
            ]
        if name in bounds_if_failed:
            low, high = bounds_if_failed[name]
            notes.append(f"between {number(low)} and {number(high)} whatever the failed samples would have been")
        if result.n_excluded:
            notes.append(f"{result.n_excluded:,} excluded")
        address = f"{scorer.key}/{metric.key}/{name}"
        row = _row(label, value, axis, chance, "; ".join(note for note in notes if note and note != "none"))
        yield row if address not in corrected else _with_correction(row, corrected[address])
    for group, values in list(groups.items())[:GROUPS_SHOWN]:
        for name, value in values.items():
            label = group if len(values) == 1 else f"{group} · {name}"
            yield _row(label or "(empty)", value, axis, None, remark(value), is_part=True)
    if len(groups) > GROUPS_SHOWN:
        more = f"{len(groups) - GROUPS_SHOWN} more groups: assay show --json"
        yield ValueRow(label=more, value="", bounds="", n="", method="", bar="", is_part=True)


def _row(
    label: str,
    value: MetricValue,
    axis: tuple[float, float],
    reference: float | None,
    note: str,
    *,
    is_part: bool = False,
) -> ValueRow:
    found = value.interval if value.value is not None else None
    return ValueRow(
        label=label,
        value=number(value.value),
        bounds=interval(found) if value.value is not None else "",
        n=f"{value.n:,}",
        method="" if found is None else found.method,
        bar=interval_bar(bar_of(label, value, is_part=is_part), axis, reference),
        note=note,
        is_part=is_part,
    )


def _with_correction(row: ValueRow, calibration: Calibration) -> ValueRow:
    from dataclasses import replace

    estimate = calibration.found.estimate
    bounds = interval(estimate.interval) if estimate.value is not None else remark(estimate)
    corrected = Corrected(value=number(estimate.value), bounds=bounds, n_labelled=calibration.found.n_labelled)
    return replace(row, corrected=corrected)


def bar_of(label: str, value: MetricValue, *, is_part: bool = False) -> Bar:
    """A metric's value as a line of a chart."""
    bounds = value.interval if value.value is not None else None
    return Bar(
        label=label,
        value=value.value,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        n=value.n,
        is_part=is_part,
    )


def value_axis(values: Sequence[MetricValue]) -> tuple[float, float]:
    """The range on which values are drawn: 0 to 1 where all of them lie in it, else their own."""
    ends = [value.value for value in values if value.value is not None]
    ends += [b for v in values if v.interval is not None for b in (v.interval.low, v.interval.high) if b is not None]
    if all(0 <= end <= 1 for end in ends):
        return 0.0, 1.0
    return min(ends), max(ends)


def _missing(report: RunReport) -> Iterator[Missing]:
    if report.n_failed:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in sorted(report.failures.items()))
        yield Missing(text=f"{counted(report.n_failed, 'sample')} with failures: {kinds}.", query="show=failed")
    for scorer in report.scorers:
        invalid = (scorer.detail or {}).get("invalid")
        if scorer.n_invalid and invalid:
            yield Missing(
                text=f"{scorer.key}: {invalid['n']:,} of {invalid['of']:,} replies are INVALID "
                f"({invalid['share']:.1%}) and count as wrong. Accuracy among valid replies: "
                f"{number(invalid['accuracy_among_valid'])}.",
                query="show=invalid",
            )
    if report.n_cut:
        yield Missing(text=f"{counted(report.n_cut, 'answer')} cut off at max_tokens.", query="show=cut")
    for rule, n in report.excluded.items():
        yield Missing(text=f"{counted(n, 'sample')} excluded by {rule}.", query="show=excluded")
    for scorer in report.scorers:
        for metric in scorer.metrics:
            if metric.result.n_excluded:
                text = f"{counted(metric.result.n_excluded, 'sample')} excluded from {scorer.key}/{metric.key}."
                yield Missing(text=text, query="")


def _facts(record: RunRecord, report: RunReport) -> Iterator[tuple[str, str]]:
    document = provenance_document(record, report)
    yield "task", f"{document['task']} ({document['file']})"
    for key, model in document["models"].items():
        sampling = ", ".join(f"{name} {value}" for name, value in model["sampling"].items())
        yield ("model" if key == "answers" else f"model {key}"), model["name"] + (f" ({sampling})" if sampling else "")
    if document["dataset"]["path"]:
        digest = document["dataset"]["sha256"]
        yield "dataset", document["dataset"]["path"] + (f", sha256 {digest[:12]}" if digest else "")
    yield "seed", str(document["seed"])
    for name in ("limit", "evaluation", "specification", "source_run"):
        if document[name] is not None:
            yield name.replace("_", " "), str(document[name])
    commit = document["git_commit"]
    yield "software", f"assay {document['assay'] or '?'}" + (f", commit {commit[:12]}" if commit else "")
    yield "time", f"{record.started_at[:19]} to {(record.finished_at or '?')[:19]} UTC"
    if report.n_cached:
        yield "reused", f"{report.n_cached:,} answers of {', '.join(report.reused_from) or 'earlier runs'}"
    for spent in report.spending:
        cost = "unknown" if spent.cost_usd is None else f"${spent.cost_usd:,.4f}"
        yield f"cost of {spent.purpose}", f"{spent.model}: {counted(spent.n_calls, 'call')}, {cost}"


def run_charts(report: RunReport) -> Iterator[Chart]:
    """The figures that follow from the metrics of a run: one forest plot, and its confusion matrices."""
    bars: list[Bar] = []
    for scorer in report.scorers:
        for metric in scorer.metrics:
            for name, value in metric.result.values.items():
                if value.value is not None and value.interval is not None and value_axis([value]) == (0.0, 1.0):
                    bars.append(bar_of(f"{scorer.key} {name}" if len(report.scorers) > 1 else name, value))
            groups = list((metric.result.groups or {}).items())[:GROUPS_SHOWN]
            bars += [
                bar_of(group or "(empty)", value, is_part=True)
                for group, values in groups
                for value in values.values()
                if value.value is not None and value_axis([value]) == (0.0, 1.0)
            ]
    if bars:
        yield interval_bars(bars[:BARS_DRAWN], name="metrics", title="Metrics with their intervals")
    for scorer in report.scorers:
        for metric in scorer.metrics:
            confusion = confusion_of(metric)
            if confusion is not None and len(confusion.names) <= CLASSES_DRAWN:
                yield confusion_matrix(
                    confusion.names,
                    confusion.counts,
                    name=f"confusion-{scorer.key}-{metric.key}",
                    title=f"Confusion matrix of {scorer.key} (ground truth in rows)",
                )

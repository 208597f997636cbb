"""Store a foreign result: samples, scores and failures unchanged, metrics and intervals computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import orjson

from assay.builtin import registry
from assay.errors import SpecError
from assay.interop.imported_values import NO_SCORE, Imported, ImportedSample
from assay.registry import JudgeScorerKind
from assay.results.run import RunReport
from assay.runner.scoring import Solved, score_batch
from assay.runner.writer import RunWriter
from assay.spec import LoadedMetric, LoadedScorer, LoadedTask
from assay.spec.document import Document
from assay.spec.fields import ScorerSpec
from assay.spec.task import Definition, Task, Trials
from assay.store import runs
from assay.store.run_spec import RunSpec, StoredDataset, StoredMetric, StoredScorer, provenance
from assay.store.runs import NewRun, RunRecord
from assay.store.store import Store
from assay.summary.finish import conclude
from assay.types import Ask, Outcome, Rows, Score, Trace

BATCH = 1_000


class ImportedScorer(ScorerSpec):
    """A scorer of another tool: its scores are kept, nothing is scored here."""

    type: Literal["imported"]


def keep(
    imported: Imported, store: Store, path: Path, digest: str, *, name: str | None = None, tags: Sequence[str] = ()
) -> RunReport:
    """Write a foreign result into the store as a finished run, and compute its metrics."""
    _refuse_doubles(imported, path)
    keys = list(dict.fromkeys(key for sample in imported.samples for key in sample.outcomes))
    entries = [{"type": "imported", "key": key, "metrics": _metrics(imported, key)} for key in keys]
    scorers = tuple(_scorer(entry, imported) for entry in entries)
    places = {name: place for place, name in enumerate(dict.fromkeys(s.sample_id for s in imported.samples))}
    new = _new_run(imported, entries, scorers, path, digest)
    record = runs.start(store, replace(new, spec=replace(new.spec, name=name, tags=tuple(tags))))
    try:
        writer = RunWriter(store, record.no)
        for start in range(0, len(imported.samples), BATCH):
            part = imported.samples[start : start + BATCH]
            solved = _solved(part, keys, places, imported.trials)
            writer.write(solved, score_batch(scorers, solved), cursor=start + len(part))
        status: Literal["completed", "partial"] = "partial" if imported.partial else "completed"
        return conclude(_loaded(imported, scorers, path), store, record, n_cached=0, status=status)
    except BaseException:
        runs.finish(store, record.no, status="failed", summary=None, documents=[])
        raise


def found_again(store: Store, identity: str) -> RunRecord | None:
    """The run that the same file became before, if it was finished."""
    before = runs.latest_of(store, identity)
    return before if before is not None and before.summary is not None else None


def _refuse_doubles(imported: Imported, path: Path) -> None:
    seen: set[tuple[str, int]] = set()
    for sample in imported.samples:
        if (sample.sample_id, sample.trial) in seen:
            raise SpecError(f'{path}: the sample "{sample.sample_id}" appears twice')
        seen.add((sample.sample_id, sample.trial))


def _scores(imported: Imported, key: str) -> list[Score]:
    return [score for sample in imported.samples if isinstance(score := sample.outcomes.get(key), Score)]


def _metrics(imported: Imported, key: str) -> list[dict[str, Any]]:
    """Return a mean for every number and shares for every label;

    for a panel only the score, since its parts are criteria.
    """
    scores = _scores(imported, key)
    panel = _has_votes(imported, key)
    fields: dict[str, set[type]] = {}
    for score in scores:
        for name, value in score.values.items():
            fields.setdefault(name, set()).add(type(value))
    metrics: list[dict[str, Any]] = []
    for name, kinds in fields.items():
        # of several trials only numbers become one
        if (panel and name != "score") or (imported.trials > 1 and str in kinds):
            continue
        if str in kinds:
            metrics.append({"type": "frequency", "field": name})
            continue
        rules = [rule.aggregator.score_name for rule in imported.aggregators if rule.score_name == name]
        for field in [rule or name for rule in rules] or [name]:
            # a field of its own stands for the value of a rule that has its name
            if any(entry["field"] == field for entry in metrics):
                continue
            metrics.append({"type": "mean", "field": field, "name": metric_name(field)})
            if (key, name) in imported.deviations:
                metrics.append({"type": "std_dev", "field": field, "name": f"{metric_name(field)}_std"})
    return metrics


def metric_name(field: str) -> str:
    """Return the name of a field's mean: a field of right and wrong gives an accuracy.

    >>> metric_name("is_correct_mode"), metric_name("tone")
    ('accuracy_mode', 'tone')
    """
    return f"accuracy{field.removeprefix('is_correct')}" if field.startswith("is_correct") else field


def _scorer(entry: dict[str, Any], imported: Imported) -> LoadedScorer:
    metric_kinds = registry(plugins=False).metrics
    numbers: dict[str, list[float]] = {}
    for score in _scores(imported, entry["key"]):
        for name, value in score.values.items():
            if not isinstance(value, str):
                numbers.setdefault(name, []).append(float(value))
    panel = _has_votes(imported, entry["key"])
    shares = {name: (0.0, 1.0) for name, values in numbers.items() if _is_share(name, values, panel=panel)}
    kind = JudgeScorerKind(settings=ImportedScorer, score=_score_nothing, ranges=shares)
    metrics = []
    for place, metric in enumerate(entry["metrics"]):
        of_kind = metric_kinds[metric["type"]]
        settings: Any = of_kind.settings.model_validate(metric)
        name = metric["type"] if not place else f"{metric['type']}_{place + 1}"
        metrics.append(LoadedMetric(key=name, kind=of_kind, settings=settings))
    settings_of = ImportedScorer(type="imported", key=entry["key"])
    return LoadedScorer(key=entry["key"], kind=kind, settings=settings_of, metrics=tuple(metrics), place=None)


def _is_share(name: str, numbers: Sequence[float], *, panel: bool) -> bool:
    """Can a field be 0 to 1 only? Right or wrong can, and a panel's score, unless the source did not normalise it."""
    if name == "is_correct" or (panel and name == "score"):
        return all(0 <= number <= 1 for number in numbers)
    return set(numbers) <= {0.0, 1.0}


async def _score_nothing(settings: ImportedScorer, rows: Rows, ask: Ask) -> Outcome:
    """Score nothing: the judges were asked by another tool."""
    return NO_SCORE


def _solved(part: Sequence[ImportedSample], keys: Sequence[str], places: Mapping[str, int], trials: int) -> Solved:
    rows = Rows(
        positions=[places[sample.sample_id] * trials + sample.trial for sample in part],
        ids=[sample.sample_id for sample in part],
        samples=[sample.sample for sample in part],
        answers=[sample.output or "" for sample in part] if any(s.output is not None for s in part) else None,
        traces=[Trace(sample.trace) for sample in part] if any(sample.trace for sample in part) else None,
    )
    judged: dict[int, list[Outcome]] = {
        slot: [sample.outcomes.get(key, NO_SCORE) for sample in part] for slot, key in enumerate(keys, start=1)
    }
    return Solved(
        rows=rows,
        inputs=[orjson.dumps(sample.sample, option=orjson.OPT_NON_STR_KEYS).decode() for sample in part],
        trials=[sample.trial for sample in part],
        failures={place: sample.failure for place, sample in enumerate(part) if sample.failure is not None},
        judged=judged,
    )


def _new_run(
    imported: Imported, entries: Sequence[dict[str, Any]], scorers: Sequence[LoadedScorer], path: Path, digest: str
) -> NewRun:
    rubrics: tuple[Mapping[str, Any], ...] = ()
    if imported.rubric is not None:
        rubrics = ({"criteria": list(imported.rubric)},)
    stored = tuple(
        StoredScorer(
            key=scorer.key,
            type="imported",
            ranges=dict(scorer.kind.ranges),
            metrics=tuple(
                StoredMetric(key=metric.key, type=metric.kind.name, settings=settings)
                for metric, settings in zip(scorer.metrics, entry["metrics"], strict=True)
            ),
            rubrics=rubrics if _has_votes(imported, scorer.key) else (),
        )
        for scorer, entry in zip(scorers, entries, strict=True)
    )
    source = {"type": "imported", "format": imported.format, "file": path.name}
    spec = RunSpec(
        kind="import",
        task=imported.task,
        dataset=StoredDataset(source=source, sha256=digest),
        scorers=stored,
        trials=_trials(imported),
        provenance=provenance(tool=imported.format, file=path.name),
    )
    return NewRun(file=str(path), model=imported.model, spec=spec)


def _trials(imported: Imported) -> Trials | None:
    if imported.trials == 1:
        return None
    return Trials(num_trials=imported.trials, score_aggregators=list(imported.aggregators) or None)


def _has_votes(imported: Imported, key: str) -> bool:
    return any("votes" in score.metadata for score in _scores(imported, key))


def _loaded(imported: Imported, scorers: tuple[LoadedScorer, ...], path: Path) -> LoadedTask:
    task = Task.model_construct(
        key=imported.task, display_name=imported.task, definition=Definition(trials=_trials(imported))
    )
    document = Document(path=path, root=path.parent, data={}, positions={}, sources={})
    return LoadedTask(task=task, document=document, dataset=None, solver=None, scorers=scorers, config={}, resolved={})

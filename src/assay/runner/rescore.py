"""New scorers over stored answers: no model is asked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from assay.datasets.open import FIRST_ROWS
from assay.errors import SpecError
from assay.prepare.columns import column_problems
from assay.prepare.permission import NO_CODE, CodeOptions, code_problems, require_permission, with_sandbox
from assay.registry import BatchScorerKind, Registry
from assay.results.run import RunReport
from assay.runner.all_samples import answered_samples, in_pages, score_whole, stored_rows
from assay.runner.writer import Recorder
from assay.spec import LoadedTask, load_task
from assay.spec.source import problem_in
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.runs import NewRun, RunRecord
from assay.store.store import Store
from assay.summary.finish import conclude
from assay.text import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """A run of stored answers under new scorers, and what differs from before."""

    report: RunReport
    stale: tuple[str, ...]


def rescore(
    path: Path, registry: Registry, store: Store, record: RunRecord, *, code: CodeOptions = NO_CODE, **how: Any
) -> Rescored:
    """Score the stored answers of a run with the scorers of a task file; the answers are copied, never asked for."""
    loaded = load_task(path, registry, strict=True, **how)
    problems = [*loaded.problems, *code_problems(loaded)]
    if problems:
        raise SpecError(problems)
    require_permission(loaded, code)
    repeated = loaded.task.definition.trials
    before = orjson.loads(record.spec)
    if _trials(before) != (repeated.num_trials if repeated else 1):
        raise SpecError(f"run {record.id} has {counted(_trials(before), 'trial')} a sample, the task another number")
    if _fans_out(before) != (loaded.fan_out > 1):
        raise SpecError(f"only one of run {record.id} and the task has a postprocessor: their rows are not the same")
    _refuse_changed_judges(loaded, record, before)
    _refuse_unknown_columns(loaded, store, record)
    made = runs.start(store, _new_run(loaded, record, before))
    with store.begin() as connection:
        evidence.copy_samples(connection, record.rows_of, made.no)
    with with_sandbox(loaded, code) as ready:
        _score_all(ready, store, made)
        _carry_judges_over(loaded, store, record, made)
        report = conclude(ready, store, made, n_cached=evidence.count_samples(store, made.no))
    return Rescored(report=report, stale=tuple(_stale(before, loaded)))


def _new_run(loaded: LoadedTask, record: RunRecord, before: Any) -> NewRun:
    spec = {**before, **_said_now(loaded)}
    text = orjson.dumps(spec, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS, default=str)
    return NewRun(
        identity=hashlib.sha256(b"rescore" + record.id.encode() + text).hexdigest(),
        task=loaded.task.key,
        file=str(loaded.document.path),
        model=record.model,
        seed=record.seed,
        spec=text.decode(),
    )


def _said_now(loaded: LoadedTask) -> dict[str, Any]:
    """The part of a run's spec that its task file says: the task, its scorers' keys, the files they read."""
    return {
        "task": loaded.resolved,
        "scorers": [scorer.key for scorer in loaded.scorers],
        "contents": [scorer.settings.content_digest() for scorer in loaded.scorers],
    }


def _trials(spec: Any) -> int:
    found = spec["task"]["definition"].get("trials")
    return int(found["num_trials"]) if found else 1


def _fans_out(spec: Any) -> bool:
    solver = spec["task"]["definition"].get("solver")
    return isinstance(solver, dict) and solver.get("postprocessor") is not None


def _score_all(loaded: LoadedTask, store: Store, record: RunRecord) -> None:
    """Score every sample that got an answer; the others stay failed whatever scores them."""
    kinds = [(slot, scorer.kind) for slot, scorer in enumerate(loaded.scorers, start=1)]
    slots = [slot for slot, kind in kinds if isinstance(kind, BatchScorerKind)]
    recorder = Recorder(store, record.no, loaded.scorers)
    for group in in_pages(answered_samples(store, record.no)):
        recorder.rescore(stored_rows(group), slots)
    score_whole(store, record.no, loaded.scorers)


def _refuse_changed_judges(loaded: LoadedTask, record: RunRecord, before: Any) -> None:
    """A judge that is not as it was would have to be asked, which is not done here."""
    old, new = _scorers(before), _scorers(_said_now(loaded))
    for scorer in loaded.scorers:
        if scorer.kind.asks_model and old.get(scorer.key) != new[scorer.key]:
            message = f"{scorer.key} asks a model and is not as it was in run {record.id}: use `assay run`"
            raise SpecError(problem_in(loaded.document.sources, message, scorer.place))


def _refuse_unknown_columns(loaded: LoadedTask, store: Store, record: RunRecord) -> None:
    """A column that no stored sample has would fail every one of them."""
    first = evidence.stored_samples(store, record.rows_of, limit=FIRST_ROWS)
    problems = list(column_problems(loaded, [orjson.loads(sample.input) for sample in first], answered=True))
    if problems:
        raise SpecError(problems)


def _carry_judges_over(loaded: LoadedTask, store: Store, record: RunRecord, made: RunRecord) -> None:
    """A judge that is as it was keeps its scores."""
    before = orjson.loads(record.spec)
    for slot, scorer in enumerate(loaded.scorers, start=1):
        if not scorer.kind.asks_model:
            continue
        source = (record.rows_of, before["scorers"].index(scorer.key) + 1)
        with store.begin() as connection:
            evidence.copy_scores(connection, source, (made.no, slot))


def _scorers(spec: Any) -> dict[str, Any]:
    """The scorers of a run by key, with the files they read and without their metrics: those need no model."""
    entries = spec["task"]["definition"].get("scorers") or []
    contents = spec.get("contents") or [None] * len(entries)
    return {
        key: {**{name: value for name, value in entry.items() if name != "metrics"}, "content of its file": content}
        for key, entry, content in zip(spec["scorers"], entries, contents, strict=True)
    }


def _stale(before: Any, loaded: LoadedTask) -> list[str]:
    """What is new about the scorers, in sentences: which are new or changed, and by what, and which are gone."""
    old, new = _scorers(before), _scorers(_said_now(loaded))
    reasons = [f"scored anew: {key}: new scorer" for key in new if key not in old]
    changed = [key for key in new if key in old and old[key] != new[key]]
    reasons += [f"scored anew: {key}: {_difference(old[key], new[key])}" for key in changed]
    return reasons + [f"no longer scored: {key}" for key in old if key not in new]


def _difference(old: Any, new: Any) -> str:
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return f"{', '.join(names)} changed"

"""New scorers over stored answers: no model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.datasets.open import FIRST_ROWS
from assay.errors import SpecError
from assay.prepare.columns import column_problems
from assay.prepare.describe import completed, stored_scorers, task_provenance
from assay.prepare.permission import NO_CODE, CodeOptions, code_problems, require_permission, with_sandbox
from assay.registry import BatchScorerKind, Registry
from assay.results.run import RunReport
from assay.runner.all_samples import answered_samples, in_pages, score_whole, stored_rows
from assay.runner.scoring import score_rows
from assay.runner.writer import RunWriter
from assay.spec import LoadedTask, load_task
from assay.spec.source import problem_in
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.decoder import read_samples
from assay.store.run_spec import VERSION, RunSpec, StoredScorer, changed_settings
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
    path: Path,
    registry: Registry,
    store: Store,
    record: RunRecord,
    *,
    code: CodeOptions = NO_CODE,
    name: str | None = None,
    tags: Sequence[str] = (),
    **load_options: Any,
) -> Rescored:
    """Score the stored answers of a run with the scorers of a task file; the answers are copied, never requested again.

    The new run has the `name` and `tags` it is given, not those of the run that was answered.
    """
    loaded = load_task(path, registry, strict=True, **load_options)
    problems = [*loaded.problems, *code_problems(loaded)]
    if problems:
        raise SpecError(problems)
    require_permission(loaded, code)
    repeated = loaded.task.definition.trials
    before = completed(record.spec, registry)
    _refuse_runs_without_all_answers(record)
    if before.num_trials != (repeated.num_trials if repeated else 1):
        raise SpecError(
            f"run {record.id} has {counted(before.num_trials, 'trial')} per sample, the task another number"
        )
    if before.fans_out != (loaded.fan_out > 1):
        raise SpecError(f"only one of run {record.id} and the task has a postprocessor: their rows are not the same")
    _refuse_changed_judges(loaded, record, before)
    _refuse_unknown_columns(loaded, store, record)
    new = _new_run(loaded, record, before)
    spec = replace(new.spec, name=name, tags=tuple(tags), evaluation=None, specification=None)
    # one transaction: a run that was killed in between would look like one over no samples
    with store.begin() as connection:
        rescored = runs.insert(connection, replace(new, spec=spec))
        evidence.copy_samples(connection, record.rows_of, rescored.no)
    with with_sandbox(loaded, code) as ready:
        _score_all(ready, store, rescored)
        _carry_judges_over(loaded, store, record, rescored)
        report = conclude(
            ready, store, rescored, n_cached=evidence.count_samples(store, rescored.no), runs_used={record.rows_of}
        )
    return Rescored(report=report, stale=tuple(_stale(before, loaded)))


def _refuse_runs_without_all_answers(record: RunRecord) -> None:
    """A generated dataset has no answers, and a run that was interrupted or goes on has only some of them."""
    if record.kind == "generate":
        raise SpecError(f"run {record.id} generated a dataset: it has no answers that could be scored")
    state = runs.state(record)
    if state in runs.UNFINISHED:
        advice = "wait until it is completed" if state == "running" else "run its command again to complete it"
        raise SpecError(f"run {record.id} is {state} and has only some of its answers: {advice}")


def _new_run(loaded: LoadedTask, record: RunRecord, before: RunSpec) -> NewRun:
    carried = {scorer.key: before.scorer(scorer.key) for scorer in loaded.scorers if scorer.kind.asks_model}
    spec = replace(
        record.spec,
        version=VERSION,
        kind="rescore",
        task=loaded.task.key,
        display_name=loaded.task.display_name,
        definition=loaded.resolved.get("definition") or {},
        # scores that are carried over were made by the code of then, whatever its version is today
        scorers=tuple(
            replace(scorer, code=old.code) if (old := carried.get(scorer.key)) is not None else scorer
            for scorer in stored_scorers(loaded)
        ),
        trials=loaded.task.definition.trials,
        actions=tuple(loaded.task.definition.actions),
        provenance=task_provenance(loaded, source_run=record.id),
    )
    return NewRun(spec=spec, file=str(loaded.document.path), model=record.model)


def _score_all(loaded: LoadedTask, store: Store, record: RunRecord) -> None:
    """Score every sample that got an answer; the others stay failed whatever scores them."""
    kinds = [(slot, scorer.kind) for slot, scorer in enumerate(loaded.scorers, start=1)]
    slots = [slot for slot, kind in kinds if isinstance(kind, BatchScorerKind)]
    writer = RunWriter(store, record.no)
    for group in in_pages(answered_samples(store, record.no, [scorer.key for scorer in loaded.scorers])):
        rows = stored_rows(group)
        writer.write_scores(rows, score_rows(loaded.scorers, slots, rows))
    score_whole(store, record.no, loaded.scorers)


def _refuse_changed_judges(loaded: LoadedTask, record: RunRecord, before: RunSpec) -> None:
    """Refuse a changed judge, which would have to be asked."""
    changes = scorer_changes(before, stored_scorers(loaded))
    changed = {change.key for change in changes if change.changed != _ONLY_VERSION}
    for scorer in loaded.scorers:
        if scorer.kind.asks_model and scorer.key in changed:
            message = f"{scorer.key} asks a model and is not as it was in run {record.id}: use `assay run`"
            raise SpecError(problem_in(loaded.document.sources, message, scorer.place))


def _refuse_unknown_columns(loaded: LoadedTask, store: Store, record: RunRecord) -> None:
    """A column that no stored sample has would fail every one of them."""
    first = read_samples(store, record, limit=FIRST_ROWS)
    problems = list(column_problems(loaded, [dict(sample.sample) for sample in first], answered=True))
    if problems:
        raise SpecError(problems)


def _carry_judges_over(loaded: LoadedTask, store: Store, record: RunRecord, rescored: RunRecord) -> None:
    """A judge that is as it was keeps its scores."""
    keys = record.spec.scorer_keys
    for slot, scorer in enumerate(loaded.scorers, start=1):
        if not scorer.kind.asks_model:
            continue
        source = (record.rows_of, keys.index(scorer.key) + 1)
        with store.begin() as connection:
            evidence.copy_scores(connection, source, (rescored.no, slot))


_ONLY_VERSION = ("version",)
"""The description of a scorer whose settings are unchanged but whose kind has a newer version."""


@dataclass(frozen=True, slots=True)
class ScorerChange:
    """A scorer that is new, or whose settings differ from those it had in a run."""

    key: str
    changed: tuple[str, ...] = ()


def scorer_changes(before: RunSpec, now: Sequence[StoredScorer]) -> list[ScorerChange]:
    """The scorers that a run does not have, or has with other settings; metrics need no new scores."""
    changes = []
    for scorer in now:
        old = before.scorer(scorer.key)
        if old is None:
            changes.append(ScorerChange(scorer.key))
        elif names := changed_settings(old, scorer):
            changes.append(ScorerChange(scorer.key, tuple(names)))
    return changes


def _stale(before: RunSpec, loaded: LoadedTask) -> list[str]:
    """Return the scorers that are new or changed, with the changes, and those that were removed."""
    now = stored_scorers(loaded)
    changes = scorer_changes(before, now)
    judges = {scorer.key for scorer in loaded.scorers if scorer.kind.asks_model}
    older = [change for change in changes if change.key in judges and change.changed == _ONLY_VERSION]
    changes = [change for change in changes if change not in older]
    reasons = [f"scored anew: {change.key}: new scorer" for change in changes if not change.changed]
    reasons += [f"scored anew: {c.key}: {', '.join(sorted(c.changed))} changed" for c in changes if c.changed]
    reasons += [
        f"carried over: {change.key}: scored by an earlier version of its scorer; `assay run` scores it anew, "
        "from stored replies"
        for change in older
    ]
    keys = {scorer.key for scorer in now}
    return reasons + [f"no longer scored: {key}" for key in before.scorer_keys if key not in keys]

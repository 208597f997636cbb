"""Load a task file into parts that can run, collecting all problems in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import Place, Problem, SpecError
from assay.registry import Registry
from assay.spec.bound import LoadedTask
from assay.spec.config import resolve_config, substitute
from assay.spec.dataset import TaskData, task_data
from assay.spec.deprecated import modernized
from assay.spec.document import Document, Steps
from assay.spec.environment import with_environment
from assay.spec.kind import kind_of, misspelled_key, not_a_task
from assay.spec.load import read_document
from assay.spec.locate import Checker
from assay.spec.placeholder import PLACEHOLDER, has_placeholder
from assay.spec.read_options import Reading
from assay.spec.task import Definition, SystemDefinition, Task, Trials
from assay.spec.task_parts import load_scorers, load_solver
from assay.spec.walk import strings

_DATA = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".xlsx")
"""The file extensions of data, as opposed to tasks."""
_DEFINITION: Steps = ("definition",)


def load_task(
    path: Path,
    registry: Registry,
    *,
    config: Mapping[str, Any] | None = None,
    strict: bool,
    allow_outside: bool = False,
    environment: Mapping[str, str] | None = None,
) -> LoadedTask:
    """Load a task file and validate every part separately; problems are in `problems`.

    A SpecError is raised only when the file cannot be read at all or is not a task. `strict` (as `run` wants)
    makes unset variables and parameters errors; otherwise (as `check` wants) they are notes.
    """
    reading = Reading(strict=strict, allow_outside=allow_outside, environment=environment)
    document = modernized(read_document(path, strict=strict, allow_outside=allow_outside, environment=environment))
    return task_of(document, registry, config or {}, reading)


def task_of(document: Document, registry: Registry, overrides: Mapping[str, Any], reading: Reading) -> LoadedTask:
    """A task from its document; the same as `load_task` for one that a run file defines."""
    kind = kind_of(document.data)
    if kind != "task":
        wrong = misspelled_key(document.data) if kind is None else None
        if wrong is not None:
            key, suggestion = wrong
            problem = document.problem(f'unknown field "{key}"', (key,), suggestion, key=True)
        elif document.path.suffix.lower() in _DATA:
            words = f"{document.path.name} is data, not a task: name the task, and the data with --dataset"
            problem = document.problem(words, ())
        else:
            problem = document.problem(not_a_task(kind), ())
        raise SpecError([*document.problems, problem])
    checker = Checker(document)
    config = resolve_config(document.data.get("config_spec"), overrides, checker, strict=reading.strict)
    names, named = _dataset_names(document.data["definition"])
    config = replace(config, named=named)
    filled = substitute(document.data["definition"], config, checker, _DEFINITION)
    parts = Checker(document, filled.texts)
    resolved = filled.data if isinstance(filled.data, dict) else {}
    node = with_environment(filled.data, document.environment)
    task = _task(document, node, parts)
    solver, scorers, data, evidence = None, [], TaskData(), None
    if _is_system(node):
        system = parts.validated(SystemDefinition, node, _DEFINITION, "the system task")
        evidence = None if system is None else system.compute_evidence_snippet
    elif isinstance(node, dict):
        if isinstance(node.get("solver"), dict):
            solver = load_solver(node["solver"], (*_DEFINITION, "solver"), registry, parts)
        if isinstance(node.get("scorers"), list):
            renamed = _renamed(task.definition.trials)
            scorers = load_scorers(node["scorers"], (*_DEFINITION, "scorers"), registry, parts, renamed)
        data = task_data(resolved.get("dataset"), (*_DEFINITION, "dataset"), registry, parts, reading, names)
    notes = (*document.notes, *config.notes, *data.notes, *_trial_notes(document, task.definition.trials))
    return LoadedTask(
        task=task,
        document=document,
        dataset=data.dataset,
        datasets=data.datasets,
        result_of=data.result_of,
        solver=solver,
        scorers=tuple(scorers),
        evidence=evidence,
        config=config.values,
        # what may be stored: parameters are filled in, secrets and variables stand by name
        resolved={**document.data, "definition": resolved},
        problems=_in_order(
            [*document.problems, *checker.problems, *parts.problems, *_same_names(document, task.definition.trials)]
        ),
        notes=notes,
        unresolved=frozenset(text for _, text in strings(resolved) if config.open and has_placeholder(text)),
    )


def _is_system(definition: Any) -> bool:
    return isinstance(definition, dict) and definition.get("type") == "system_task"


def _renamed(trials: Trials | None) -> list[str]:
    """Return the names of the combined values of several trials."""
    rules = [] if trials is None else trials.score_aggregators or []
    return [rule.aggregator.score_name for rule in rules if rule.aggregator.score_name is not None]


def _same_names(document: Document, trials: Trials | None) -> Iterator[Problem]:
    """Report every aggregator whose value would hide another; stored runs with such are still readable."""
    names: list[str] = []
    for place, rule in enumerate(trials.score_aggregators or () if trials is not None else ()):
        name = rule.aggregator.score_name or rule.score_name
        if name in names:
            message = f'another aggregator already produces "{name}"; rename this one with aggregator.score_name'
            yield document.problem(message, (*_DEFINITION, "trials", "score_aggregators", place))
        names.append(name)


def _trial_notes(document: Document, trials: Trials | None) -> Iterator[Problem]:
    """Note every aggregator that needs more successes than there are trials."""
    for place, rule in enumerate(trials.score_aggregators or () if trials is not None else ()):
        k = rule.aggregator.k
        if trials is not None and k is not None and k > trials.num_trials:
            function = rule.aggregator.function.replace("k", str(k))
            result = "0 for every sample" if rule.aggregator.function == "at_least_k" else "undefined"
            message = f"{function} needs at least {k} trials, and there are {trials.num_trials}: it will be {result}"
            yield document.problem(message, (*_DEFINITION, "trials", "score_aggregators", place))


def _dataset_names(definition: Any) -> tuple[list[str], frozenset[str]]:
    """Return the names of several datasets in a sample: the parameter that supplies the key, else the key."""
    dataset = definition.get("dataset") if isinstance(definition, dict) else None
    keys = dataset.get("keys") if isinstance(dataset, dict) else None
    matches = [(str(key), PLACEHOLDER.fullmatch(str(key))) for key in (keys if isinstance(keys, list) else []) if key]
    names = [match[2] if match is not None else key for key, match in matches]
    return names, frozenset(match[2] for _, match in matches if match is not None)


def _task(document: Document, definition: Any, checker: Checker) -> Task:
    """Read the task's own fields; where they are invalid, return what further checks need."""
    top = with_environment(document.data, document.environment)
    if _is_system(definition):
        definition = {}
    task = checker.validated(Task, {**top, "definition": definition}, (), "the task")
    if task is not None:
        return task
    key, name = (top.get(field) for field in ("key", "display_name"))
    return Task.model_construct(key=str(key), display_name=str(name), description="", definition=Definition())


def _in_order(problems: list[Problem]) -> tuple[Problem, ...]:
    """Sort by location without duplicates; entries without a location come first."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: problem.place or Place("")))

"""From a task file and options to a run that can start: everything is checked before anything is done."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from assay import __version__
from assay.dataset.open import fingerprint, first_rows
from assay.engine.columns import answer_problems, column_problems
from assay.errors import Place, Problem, SpecError
from assay.registry import Registry
from assay.spec import LoadedDataset, LoadedTask, load_dataset, load_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person may say about a run beside its file."""

    model: str | None = None
    dataset: Path | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    seed: int = 0
    store: str | None = None
    fresh: bool = False
    allow_outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A task that is ready to run, and the digest of all that decides its result."""

    loaded: LoadedTask
    dataset: LoadedDataset
    options: Options
    spec: Mapping[str, Any]
    identity: str

    @property
    def jail(self) -> Path | None:
        """The folder that data files may not leave; None when they may."""
        return None if self.options.allow_outside else self.loaded.document.root


def inspect_task(
    path: Path, registry: Registry, options: Options, *, strict: bool
) -> tuple[LoadedTask, LoadedDataset | None, list[Problem]]:
    """Load a task and its dataset and find everything wrong with them, columns included."""
    loaded = load_task(path, registry, config=options.config, strict=strict, allow_outside=options.allow_outside)
    problems = [*loaded.problems, *answer_problems(loaded)]
    dataset = loaded.dataset
    try:
        if options.dataset is not None:
            dataset = load_dataset(options.dataset, registry, allow_outside=options.allow_outside)
        if dataset is not None:
            jail = None if options.allow_outside else loaded.document.root
            rows = first_rows(dataset.kind, dataset.settings, dataset.folder, root=jail)
            problems += column_problems(loaded, rows)
    except SpecError as error:
        problems += error.problems
    return loaded, dataset, sorted(dict.fromkeys(problems), key=lambda problem: problem.place or Place(""))


def prepare(path: Path, registry: Registry, options: Options) -> Plan:
    """Everything a run needs, or a SpecError with all that is wrong."""
    loaded, dataset, problems = inspect_task(path, registry, options, strict=True)
    if problems:
        raise SpecError(problems)
    if dataset is None:
        raise SpecError(f'the task "{loaded.task.key}" names no dataset: add one, or give --dataset FILE')
    jail = None if options.allow_outside else loaded.document.root
    spec = {
        "assay": __version__,
        "task": loaded.resolved,
        "scorers": [scorer.key for scorer in loaded.scorers],
        "config": dict(loaded.config),
        "dataset": {
            "source": dataset.written,
            "sha256": fingerprint(dataset.kind, dataset.settings, dataset.folder, root=jail),
        },
        "model": options.model,
        "limit": options.limit,
        "seed": options.seed,
    }
    # names and descriptions may change without changing a number
    deciding = {**spec, "task": {name: loaded.resolved.get(name) for name in ("key", "definition")}}
    text = orjson.dumps(deciding, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    return Plan(
        loaded=loaded,
        dataset=dataset,
        options=options,
        spec=spec,
        identity=hashlib.sha256(text).hexdigest(),
    )

"""The dataset of a task: inline, or a file of the project found by its key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from assay.errors import Problem, SpecError
from assay.registry import Registry
from assay.spec.bound import LoadedDataset
from assay.spec.deprecated import modernized
from assay.spec.document import Document, Steps
from assay.spec.environment import with_environment
from assay.spec.fields import Located, SourceSpec
from assay.spec.generator import GeneratedDataset
from assay.spec.kind import kind_of
from assay.spec.load import read_document
from assay.spec.locate import Checker
from assay.spec.lookup import find_document
from assay.spec.messages import described
from assay.spec.nearest import nearest
from assay.spec.placeholder import has_placeholder
from assay.spec.project import YAML
from assay.spec.read_options import Reading
from assay.spec.synthesis import load_generator
from assay.spec.task import DatasetFile, GeneratorSpecification
from assay.spec.task_parts import kind_named

_FIELDS = ("key", "keys", "source")
RESULT = "task_result"
AnyDataset = LoadedDataset | GeneratedDataset


def load_dataset(
    path: Path,
    registry: Registry,
    *,
    strict: bool = True,
    allow_outside: bool = False,
    environment: Mapping[str, str] | None = None,
) -> AnyDataset:
    """A dataset from its YAML file, or from a data file (CSV, JSONL, ...) itself; a SpecError when it is wrong."""
    reading = Reading(strict=strict, allow_outside=allow_outside, environment=environment)
    if path.suffix.lower() not in YAML:
        return _data_file(path, registry)
    document = _read(path, reading)
    document.raise_problems()
    if kind_of(document.data) != "dataset":
        raise SpecError(document.problem('not a dataset; a dataset has "key", "display_name" and "source"', ()))
    return dataset_of(document, registry, reading)


def dataset_of(document: Document, registry: Registry, reading: Reading) -> AnyDataset:
    """A dataset from its document; a SpecError with all that is wrong with it."""
    checker = Checker(document)
    loaded = _from_file(document, registry, checker, reading)
    if loaded is None or checker.problems:
        raise SpecError(checker.problems)
    return loaded


def _read(path: Path, reading: Reading) -> Document:
    return modernized(
        read_document(path, strict=reading.strict, allow_outside=reading.allow_outside, environment=reading.environment)
    )


def _data_file(path: Path, registry: Registry) -> LoadedDataset:
    kind = registry.sources.get("local")
    if kind is None:
        raise SpecError('there is no dataset source "local" to read a data file with')
    if not path.is_file():
        raise SpecError(f"there is no file {path}")
    source = {"type": "local", "file_path": Located(path.name)}
    settings = cast("SourceSpec", kind.settings.model_validate(source))
    key = re.sub(r"[^a-zA-Z0-9_-]+", "_", path.stem) or "dataset"
    return LoadedDataset(key=key, kind=kind, settings=settings, folder=path.parent, place=None, written=source)


def _from_file(document: Document, registry: Registry, checker: Checker, reading: Reading) -> AnyDataset | None:
    file = checker.validated(DatasetFile, with_environment(document.data, document.environment), (), "the dataset")
    if file is not None and file.generator_specification is not None:
        return _generated(file.key, file.generator_specification, document, registry, checker, reading)
    source = document.data.get("source") if isinstance(document.data, dict) else None
    if not isinstance(source, dict):
        return None
    loaded = load_source(source, ("source",), str(document.data.get("key")), registry, checker)
    return None if file is None else loaded


def _generated(
    key: str,
    specification: GeneratorSpecification,
    document: Document,
    registry: Registry,
    checker: Checker,
    reading: Reading,
) -> GeneratedDataset | None:
    """Return the dataset of a generator, found by its key."""
    steps: Steps = ("generator_specification", "dataset_generator_key")
    try:
        generator_file = find_document(
            "dataset generator",
            specification.dataset_generator_key,
            document.root,
            lambda path: _read(path, reading),
            reading.definitions,
        )
    except SpecError as error:
        checker.problems += _placed(error, document, steps)
        return None
    config = specification.dataset_generator_config or {}
    generator, problems = load_generator(generator_file, config, registry, strict=reading.strict)
    checker.problems += [
        problem if problem.place else document.problem(problem.message, steps[:1], problem.suggestion)
        for problem in problems
    ]
    if generator is None:
        return None
    return GeneratedDataset(
        key=key,
        generator=generator,
        num_samples=specification.num_samples,
        debug=specification.debug_options,
        reading=reading,
        place=document.spot(("generator_specification",)).value,
        notes=generator_file.notes,
    )


def _placed(error: SpecError, document: Document, steps: Steps) -> list[Problem]:
    """Locate problems at their own positions, else at the reference that led to them."""
    return [
        problem if problem.place else document.problem(problem.message, steps, problem.suggestion)
        for problem in error.problems
    ]


def load_source(
    node: dict[str, Any], steps: Steps, key: str, registry: Registry, checker: Checker
) -> LoadedDataset | None:
    """A source validated alone, or None and its problems noted."""
    document = checker.document
    kind = kind_named(registry.sources, node, steps, checker)
    filled = with_environment(node, document.environment)
    settings = kind and checker.validated(kind.settings, filled, steps, kind.name)
    if kind is None or settings is None:
        return None
    return LoadedDataset(
        key=key,
        kind=kind,
        settings=cast("SourceSpec", settings),
        folder=document.folder(steps),
        place=document.spot(steps).value,
        written=node,
        notes=(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskData:
    """The source of a task's samples: one dataset, several by name, or another specification's result."""

    dataset: AnyDataset | None = None
    datasets: tuple[tuple[str, AnyDataset], ...] = ()
    result_of: str | None = None

    @property
    def notes(self) -> tuple[Problem, ...]:
        """Return notes on the files that were read."""
        read: list[AnyDataset] = [dataset for _, dataset in self.datasets]
        read += [] if self.dataset is None else [self.dataset]
        return tuple(note for dataset in read for note in dataset.notes)


def task_data(
    node: Any, steps: Steps, registry: Registry, checker: Checker, reading: Reading, names: Sequence[str]
) -> TaskData:
    """The data that a task names, in any of its forms; `names` are those of several datasets in `keys`."""
    if not isinstance(node, dict):
        return TaskData()
    for name in node:
        if name not in _FIELDS:
            checker.report(f'unknown field "{name}" in dataset', (*steps, name), nearest(name, _FIELDS), key=True)
    if node.get("source") == "dataset":
        # the long way to say that `key` and `keys` name datasets
        node = {name: value for name, value in node.items() if name != "source"}
    if "keys" in node:
        return TaskData(datasets=_several(node, steps, registry, checker, reading, names))
    if node.get("source") == RESULT:
        return TaskData(result_of=_result_key(node, steps, checker))
    if isinstance(node.get("source"), dict):
        key = node.get("key")
        name = str(key) if key else "inline"
        return TaskData(dataset=load_source(node["source"], (*steps, "source"), name, registry, checker))
    dataset = _by_key(node, steps, registry, checker, reading)
    return TaskData(dataset=dataset, result_of=dataset.result_of if isinstance(dataset, GeneratedDataset) else None)


def _several(
    node: dict[str, Any], steps: Steps, registry: Registry, checker: Checker, reading: Reading, names: Sequence[str]
) -> tuple[tuple[str, AnyDataset], ...]:
    """Several datasets by their keys."""
    keys = node["keys"]
    if "key" in node or "source" in node:
        other = "key" if "key" in node else "source"
        checker.report(f'"{other}" cannot be combined with "keys"', (*steps, other), key=True)
    if not isinstance(keys, list) or not keys:
        checker.report(f"keys: expected a list of dataset keys, got {described(keys)}", (*steps, "keys"))
        return ()
    called = list(names) if len(names) == len(keys) else [str(key) for key in keys]
    datasets = []
    for i, (key, name) in enumerate(zip(keys, called, strict=True)):
        if not isinstance(key, str):
            checker.report(f"expected the key of a dataset, got {described(key)}", (*steps, "keys", i))
        elif called.index(name) < i:
            checker.report(f'there is already a dataset called "{name}"', (*steps, "keys", i))
        else:
            loaded = _named_dataset(str(key), (*steps, "keys", i), registry, checker, reading)
            datasets += [] if loaded is None else [(name, loaded)]
    return tuple(datasets)


def _result_key(node: dict[str, Any], steps: Steps, checker: Checker) -> str | None:
    key = node.get("key")
    if not isinstance(key, str):
        checker.report('the result of a task as a dataset needs "key": the key of its specification', steps)
        return None
    return None if has_placeholder(key) else str(key)


def _by_key(
    node: dict[str, Any], steps: Steps, registry: Registry, checker: Checker, reading: Reading
) -> AnyDataset | None:
    key = node.get("key")
    if "source" in node:
        checker.report(f"source: expected a mapping, got {described(node['source'])}", (*steps, "source"))
        return None
    if key is None or not isinstance(key, str):
        if not any(nearest(name, ("key",)) for name in node):
            checker.report('a dataset has "key" or "source"', steps)
        return None
    return _named_dataset(str(key), (*steps, "key"), registry, checker, reading)


def _named_dataset(key: str, steps: Steps, registry: Registry, checker: Checker, reading: Reading) -> AnyDataset | None:
    """Return the dataset with a key; otherwise report the problem at the location that names it, and return None."""
    if has_placeholder(key):
        return None
    try:
        loaded, problems, notes = find_dataset(key, checker.document.root, registry, reading)
    except SpecError as error:
        checker.problems += _placed(error, checker.document, steps)
        return None
    checker.problems += problems
    return None if loaded is None else replace(loaded, notes=(*loaded.notes, *notes))


def find_dataset(
    key: str, root: Path, registry: Registry, reading: Reading
) -> tuple[AnyDataset | None, list[Problem], tuple[Problem, ...]]:
    """The dataset with a key among the files of the project; what is wrong in its file; its notes."""
    document = find_document("dataset", key, root, lambda path: _read(path, reading), reading.definitions)
    checker = Checker(document)
    loaded = _from_file(document, registry, checker, reading)
    return loaded, [*document.problems, *checker.problems], document.notes

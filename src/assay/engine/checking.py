"""Checking files of every kind, named one by one or found in folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.dataset.open import first_rows
from assay.engine.prepare import Options, inspect_task
from assay.errors import Problem, SpecError
from assay.registry import Registry
from assay.spec import kind_of, load_dataset
from assay.spec.load import read_document
from assay.spec.model import load_model
from assay.spec.project import project_folder, yaml_files


@dataclass(slots=True)
class Checked:
    """What a check found."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    n_files: int = 0


def check_files(
    paths: Iterable[Path], known: Registry, *, config: Mapping[str, Any] | None = None, allow_outside: bool = False
) -> Checked:
    """Everything wrong with the files, and with all files of ours in the folders, among `paths`."""
    options = Options(config=config or {}, allow_outside=allow_outside)
    found = Checked()
    for path, named in _expanded(paths):
        try:
            _check(path, known, options, found, named=named)
        except SpecError as error:
            found.n_files += 1
            found.problems += error.problems
    return found


def _expanded(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Files as named, and the YAML files of folders; says which were named."""
    for path in paths:
        if path.is_dir():
            yield from ((file, False) for file in yaml_files(path))
        else:
            yield path, True


def _check(path: Path, known: Registry, options: Options, found: Checked, *, named: bool) -> None:
    kind = kind_of(read_document(path, strict=False, allow_outside=options.allow_outside).data)
    if kind is None and not named:
        return
    if kind == "dataset":
        dataset = load_dataset(path, known, strict=False, allow_outside=options.allow_outside)
        root = None if options.allow_outside else project_folder(path)
        first_rows(dataset.kind, dataset.settings, dataset.folder, root=root)
        found.notes += dataset.notes
    elif kind == "model":
        load_model(path, strict=False)
    elif kind in ("task", None) or named:
        loaded, _, problems = inspect_task(path, known, options, strict=False)
        found.problems += problems
        found.notes += loaded.notes
    else:
        return
    found.n_files += 1

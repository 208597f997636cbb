"""Check files of every kind, given one by one or as folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.datasets.open import first_rows
from assay.errors import Problem, SpecError
from assay.evaluation.specifications import inspect_steps, step_model_problems
from assay.judging.rubric import rubric_in
from assay.models.adapter import adapter_named, adapter_problems
from assay.prepare.model_references import model_problems
from assay.prepare.permission import isolation_notes
from assay.prepare.plan import Options, inspect_loaded, inspect_task
from assay.prepare.recipes import collision_notes, materialized, recipe
from assay.registry import Registry
from assay.spec import Document, kind_of, load_dataset
from assay.spec.dataset import AnyDataset, dataset_of
from assay.spec.deprecated import modernized
from assay.spec.generator import GeneratedDataset
from assay.spec.kind import FileKind, platform_file
from assay.spec.load import read_document
from assay.spec.model import adapter_of, model_of
from assay.spec.project import project_folder, yaml_files
from assay.spec.read_options import Reading
from assay.spec.run_file import load_run
from assay.spec.synthesis import load_generator
from assay.spec.task_file import task_of


@dataclass(slots=True)
class Checked:
    """The result of a check."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    n_files: int = 0


def check_files(
    paths: Iterable[Path], registry: Registry, *, config: Mapping[str, Any] | None = None, allow_outside: bool = False
) -> Checked:
    """Return all problems in the given files and in all assay files of the given folders."""
    options = Options(config=config or {}, allow_outside=allow_outside)
    checked = Checked()
    for path in paths:
        before = checked.n_files
        files = [(file, False) for file in yaml_files(path)] if path.is_dir() else [(path, True)]
        for file, named in files:
            try:
                _check(file, registry, options, checked, named=named)
            except SpecError as error:
                checked.n_files += 1
                checked.problems += error.problems
        if checked.n_files == before:
            checked.problems.append(Problem(message=f"no files of assay found in {path}"))
    # a part that several files use is wrong once
    checked.problems = list(dict.fromkeys(checked.problems))
    checked.notes = list(dict.fromkeys(checked.notes))
    return checked


def _check(path: Path, registry: Registry, options: Options, checked: Checked, *, named: bool) -> None:
    document = read_document(path, strict=False, allow_outside=options.allow_outside)
    kind = kind_of(document.data)
    if kind is None and not named:
        return
    if kind == "platform":
        message = f"{platform_file(document.data)} of the AI GO! platform has no counterpart here"
        (checked.problems if named else checked.notes).append(document.problem(message, ()))
    elif kind == "dataset":
        dataset = load_dataset(path, registry, strict=False, allow_outside=options.allow_outside)
        _read_first(dataset, registry, None if options.allow_outside else project_folder(path))
        checked.notes += [*dataset.notes, *_collisions(dataset, registry)]
    elif kind in ("model", "adapter", "rubric", "dataset generator"):
        document = modernized(document)
        checked.notes += document.notes
        checked.problems += _problems_of(
            kind, document, registry, Reading(strict=False, allow_outside=options.allow_outside)
        )
    elif kind in ("evaluation", "run"):
        _check_run(path, registry, options, checked)
    else:
        loaded, _, problems = inspect_task(path, registry, options, strict=False)
        checked.problems += [*problems, *model_problems(loaded)]
        checked.notes += [*loaded.notes, *isolation_notes(loaded)]
    checked.n_files += 1


def _check_run(path: Path, registry: Registry, options: Options, checked: Checked) -> None:
    """A run file or an evaluation: every specification, and everything that it defines whether used or not."""
    run = load_run(path, config=options.config, strict=False, allow_outside=options.allow_outside)
    steps, problems = inspect_steps(run, registry, options)
    checked.notes += run.notes
    problems += [problem for step in steps for problem in step_model_problems(step, run)]
    used = {step.loaded.task.key for step in steps}
    for (kind, key), document in run.definitions.documents.items():
        if kind == "task" and key not in used:
            loaded = task_of(document, registry, {}, run.reading)
            problems += inspect_loaded(loaded, registry, options)[1] if loaded.result_of is None else loaded.problems
            problems += model_problems(loaded, run.definitions)
            checked.notes += loaded.notes
        elif kind != "task":
            problems += _problems_of(kind, document, registry, run.reading)
    checked.problems += dict.fromkeys([*run.problems, *problems])


def _read_first(dataset: AnyDataset, registry: Registry, root: Path | None) -> None:
    """Read the first rows, if the file exists, so that an unreadable file is reported now."""
    ready = materialized(dataset, registry, None, None)
    if ready is not None:
        first_rows(ready.kind, ready.settings, ready.folder, root=root)


def _collisions(dataset: AnyDataset, registry: Registry) -> list[Problem]:
    """Return notes on a generated dataset whose sources all exist."""
    if not isinstance(dataset, GeneratedDataset) or dataset.result_of is not None:
        return []
    try:
        return collision_notes(recipe(dataset, registry, None, None))
    except SpecError:
        # what is wrong with its sources is told elsewhere
        return []


def _problems_of(kind: FileKind, document: Document, registry: Registry, reading: Reading) -> Sequence[Problem]:
    """Return the problems of a file, or of a part of it that is checked separately."""
    try:
        if kind == "model":
            adapter = getattr(model_of(document).config, "adapter", None)
            if adapter is not None:
                _check_adapter(adapter.key, document, reading)
        elif kind == "adapter":
            return adapter_problems(adapter_of(document))
        elif kind == "rubric":
            document.raise_problems()
            rubric_in(document)
        elif kind == "dataset generator":
            return load_generator(document, {}, registry, strict=False)[1]
        else:
            _read_first(dataset_of(document, registry, reading), registry, document.root)
    except SpecError as error:
        return error.problems
    return ()


def _check_adapter(key: str, document: Document, reading: Reading) -> None:
    """A SpecError if a model names an adapter that does not exist, or one that cannot be used."""
    try:
        adapter_named(key, None, document.root, document.environment, definitions=reading.definitions)
    except SpecError as error:
        raise SpecError(
            problem if problem.place else document.problem(problem.message, ("config", "adapter"), problem.suggestion)
            for problem in error.problems
        ) from None

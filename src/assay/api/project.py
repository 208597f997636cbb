"""The contents of a project: models, datasets, tasks and evaluations, by key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.api.check import check_files
from assay.errors import Place, Problem, SpecError
from assay.registry import Registry
from assay.spec import Document, kind_of
from assay.spec.definitions import PROVIDER, entries, model_key
from assay.spec.kind import FileKind
from assay.spec.load import read_document
from assay.spec.project import yaml_files

KINDS: tuple[FileKind, ...] = (
    "evaluation",
    "task",
    "dataset",
    "dataset generator",
    "model",
    "adapter",
    "rubric",
    "run",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A definition in a project and its location; run files and rubrics are identified by their path."""

    kind: FileKind
    key: str
    display_name: str | None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All definitions in a folder, ordered by kind and key, with all problems."""

    found: tuple[Found, ...]
    problems: tuple[Problem, ...]


def list_project(folder: Path, registry: Registry) -> Listing:
    """List the definitions in the files of a folder, with the problems that `assay check` reports."""
    definitions: list[Found] = []
    for path in yaml_files(folder):
        try:
            document = read_document(path, strict=False)
        except SpecError:
            continue
        definitions += _in_file(document, folder)
    ordered = tuple(
        sorted(definitions, key=lambda definition: (KINDS.index(definition.kind), definition.key, definition.place))
    )
    problems = check_files([folder], registry).problems if definitions else []
    return Listing(found=ordered, problems=(*dict.fromkeys([*problems, *_doubles(ordered)]),))


def _in_file(document: Document, folder: Path) -> Iterator[Found]:
    kind, data = kind_of(document.data), document.data
    place = document.spot(()).value
    if kind in (None, "platform"):
        return
    if kind in ("run", "rubric"):
        path = document.path.relative_to(folder) if document.path.is_relative_to(folder) else document.path
        yield Found(kind=kind, key=str(path), display_name=None, place=place)
    elif kind is not None and isinstance(data.get("key"), str):
        yield Found(kind=kind, key=str(data["key"]), display_name=_text(data.get("display_name")), place=place)
    if kind == "run":
        yield from _defined(document)


def _defined(document: Document) -> Iterator[Found]:
    """List the definitions in a run file; parts included by $ref are listed with their own file."""
    here = document.spot(()).value.file
    for kind, steps, entry in entries(document):
        place = document.spot(steps).value
        if isinstance(entry.get(PROVIDER), str):
            provider, _, name = str(entry[PROVIDER]).partition("/")
            yield Found(kind=kind, key=f"{provider}${model_key(name)}", display_name=None, place=place)
        elif isinstance(entry.get("key"), str) and place.file == here:
            yield Found(kind=kind, key=str(entry["key"]), display_name=_text(entry.get("display_name")), place=place)
    evaluation = document.data.get("evaluation")
    if isinstance(evaluation, dict) and isinstance(evaluation.get("key"), str):
        place = document.spot(("evaluation",)).value
        if place.file == here:
            display_name = _text(evaluation.get("display_name"))
            yield Found(kind="evaluation", key=str(evaluation["key"]), display_name=display_name, place=place)


def _doubles(definitions: tuple[Found, ...]) -> Iterator[Problem]:
    """A key that several files have: whoever names it would have to guess."""
    counts = Counter((definition.kind, definition.key) for definition in definitions)
    for definition in definitions:
        if counts[definition.kind, definition.key] > 1:
            yield Problem(
                message=f'the {definition.kind} key "{definition.key}" is in more than one place',
                place=definition.place,
            )


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, str) else None

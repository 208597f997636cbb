"""The definitions inside a run file, which take precedence over the files of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.spec.document import Document, Steps
from assay.spec.kind import FileKind, kind_of

SECTIONS: Mapping[str, FileKind] = {
    "model_adapters": "adapter",
    "models": "model",
    "dataset_generators": "dataset generator",
    "datasets": "dataset",
    "tasks": "task",
}
PROVIDER = "$provider"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """Documents by kind and key, and providers' models by the keys that a run file assigns to them."""

    documents: Mapping[tuple[FileKind, str], Document] = field(default_factory=dict)
    providers: Mapping[str, str] = field(default_factory=dict)

    def find(self, kind: FileKind, key: str) -> Document | None:
        """Return the document defined here under this key, or None."""
        return self.documents.get((kind, key))

    def keys(self, kind: FileKind) -> list[str]:
        """Return the keys of all definitions of one kind."""
        return [key for of, key in self.documents if of == kind]


NOTHING = Definitions()


def part_of(document: Document, steps: Steps) -> Document:
    """Return a value inside a document as its own document; locations stay those of the file."""
    data = document.data
    for step in steps:
        data = data[step]
    depth = len(steps)
    positions = {at[depth:]: spot for at, spot in document.positions.items() if at[:depth] == steps}
    places = {place for spot in positions.values() for place in (spot.value, spot.key)}
    return replace(
        document,
        data=data,
        positions=positions,
        notes=(),
        problems=tuple(problem for problem in document.problems if problem.place in places),
    )


def entries(document: Document) -> Iterator[tuple[FileKind, Steps, Mapping[str, Any]]]:
    """Return every definition in a run file: its kind, its location, its data."""
    data = document.data if isinstance(document.data, dict) else {}
    for section, kind in SECTIONS.items():
        listed = data.get(section)
        for i, entry in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(entry, dict):
                yield kind, (section, i), entry


def inside(document: Document, kind: FileKind, key: str) -> Iterator[Document]:
    """The document itself if it is of that kind and key, and those of a run file that are."""
    if kind_of(document.data) == kind and document.data.get("key") == key:
        yield document
    elif kind_of(document.data) == "run":
        for of, steps, entry in entries(document):
            if of == kind and entry.get("key") == key:
                yield with_secrets(part_of(document, steps), document.data)


def with_secrets(model: Document, run: Mapping[str, Any]) -> Document:
    """Add the secrets of the run file to a model; the model's own take precedence."""
    shared = run.get("secrets")
    if not isinstance(shared, dict) or kind_of(model.data) not in ("model", "dataset generator"):
        return model
    model_secrets = model.data.get("secrets")
    return replace(
        model, data={**model.data, "secrets": {**shared, **(model_secrets if isinstance(model_secrets, dict) else {})}}
    )


def model_key(name: str) -> str:
    """A model's name as part of a key: lower case, every run of other characters a dash.

    >>> model_key("GPT-4.1 nano")
    'gpt-4-1-nano'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")

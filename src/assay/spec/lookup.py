"""Find files of the project by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from assay.errors import Problem, SpecError
from assay.spec.definitions import NOTHING, Definitions, entries, inside
from assay.spec.document import Document
from assay.spec.kind import FileKind, kind_of
from assay.spec.nearest import listing, nearest
from assay.spec.project import yaml_files

Read = Callable[[Path], Document]


def find_document(kind: FileKind, key: str, root: Path, read: Read, definitions: Definitions = NOTHING) -> Document:
    """Return the document of this kind with this key; raise a SpecError with the nearest key if there is none.

    What the run file defines comes first, then the files of the project and what other run files define.
    """
    here = definitions.find(kind, key)
    if here is not None:
        return here
    matches: list[Document] = []
    broken: list[Problem] = []
    for path in yaml_files(root):
        if not _mentions(path, key):
            continue
        try:
            document = read(path)
        except SpecError as error:
            broken += error.problems
            continue
        matches.extend(inside(document, kind, key))
    if not matches:
        raise SpecError([_not_found(kind, key, root, read, definitions, broken=bool(broken)), *broken])
    # a file that a run file takes in by $ref is still one place
    places = {document.spot(()).value: document for document in matches}
    if len(places) > 1:
        files = " and ".join(place.file for place in places)
        raise SpecError(f'the {kind} key "{key}" is in more than one file: {files}')
    # a file of its own says more than the run file that takes it in
    return next((document for document in matches if document.spot(()).value.file == str(document.path)), matches[0])


def keys_of(kind: FileKind, root: Path, read: Read) -> Iterator[str]:
    """The keys of all files of a kind; files that cannot be read are passed over."""
    for path in yaml_files(root):
        try:
            document = read(path)
        except SpecError:
            continue
        if kind_of(document.data) == "run":
            yield from (str(entry["key"]) for of, _, entry in entries(document) if of == kind and "key" in entry)
        elif kind_of(document.data) == kind and isinstance(document.data.get("key"), str):
            yield str(document.data["key"])


def _mentions(path: Path, key: str) -> bool:
    """A look at the bytes spares most files from being parsed."""
    try:
        return key.encode() in path.read_bytes()
    except OSError:
        return False


def _not_found(kind: FileKind, key: str, root: Path, read: Read, definitions: Definitions, *, broken: bool) -> Problem:
    keys = sorted({*keys_of(kind, root, read), *definitions.keys(kind)})
    suggestion = nearest(key, keys)
    hint = "" if suggestion else "; a file could not be read" if broken else f"; known: {listing(keys)}"
    return Problem(message=f'no {kind} has the key "{key}" in {root}{hint}', suggestion=suggestion)

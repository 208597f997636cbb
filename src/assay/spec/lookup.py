"""Files of the project found by their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from assay.errors import Problem, SpecError
from assay.spec.document import Document
from assay.spec.kind import FileKind, kind_of
from assay.spec.nearest import listing, nearest
from assay.spec.project import yaml_files

Read = Callable[[Path], Document]


def find_document(kind: FileKind, key: str, root: Path, read: Read) -> Document:
    """The one file of this kind with this key; a SpecError with the nearest key when there is none."""
    found: list[Document] = []
    broken: list[Problem] = []
    for path in yaml_files(root):
        if not _mentions(path, key):
            continue
        try:
            document = read(path)
        except SpecError as error:
            broken += error.problems
            continue
        if kind_of(document.data) == kind and document.data.get("key") == key:
            found.append(document)
    if not found:
        raise SpecError([_not_found(kind, key, root, read, broken=bool(broken)), *broken])
    if len(found) > 1:
        files = " and ".join(document.spot(()).value.file for document in found)
        raise SpecError(f'the {kind} key "{key}" is in more than one file: {files}')
    return found[0]


def keys_of(kind: FileKind, root: Path, read: Read) -> Iterator[str]:
    """The keys of all files of a kind; files that cannot be read are passed over."""
    for path in yaml_files(root):
        try:
            data = read(path).data
        except SpecError:
            continue
        if kind_of(data) == kind and isinstance(data.get("key"), str):
            yield str(data["key"])


def _mentions(path: Path, key: str) -> bool:
    """A look at the bytes spares most files from being parsed."""
    try:
        return key.encode() in path.read_bytes()
    except OSError:
        return False


def _not_found(kind: FileKind, key: str, root: Path, read: Read, *, broken: bool) -> Problem:
    keys = sorted(set(keys_of(kind, root, read)))
    near = nearest(key, keys)
    hint = "" if near else "; a file could not be read" if broken else f"; there is {listing(keys)}"
    return Problem(message=f'no {kind} has the key "{key}" in {root}{hint}', suggestion=near)

"""Resolve the paths that a file names: existing, inside the project folder, else an error with the nearest name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from assay.errors import Problem, SpecError
from assay.spec.fields import Located
from assay.spec.nearest import nearest_file


def located_path(name: Located, folder: Path, root: Path | None, *, expected: Literal["file", "folder"]) -> Path:
    """Resolve the path that a dataset file names, relative to its own folder and inside `root`."""
    path = folder / name
    stay_inside(path, root, name)
    if expected == "file" and path.is_dir():
        raise _wrong(name, f'"{name}" is a folder; expected a file (or use `type: folder`)')
    if expected == "folder" and path.is_file():
        raise _wrong(name, f'"{name}" is a file; expected a folder (or use `type: local`)')
    if not path.exists():
        # the same file may be read by an absolute path and by a relative one, and its problem is one
        folder = folder.resolve().relative_to(Path.cwd()) if folder.resolve().is_relative_to(Path.cwd()) else folder
        raise _wrong(name, f'there is no {expected} "{name}" in {folder}', _sibling(path, name, expected))
    return path


def stay_inside(path: Path, root: Path | None, name: Located) -> None:
    """Refuse a path that is outside the project folder, symbolic links followed."""
    if root is None:
        return
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise _wrong(name, f'"{name}" is not a usable path: {error}') from error
    if not inside:
        raise _wrong(name, f'"{name}" is outside the project folder {root}; --allow-outside permits it')


def _sibling(path: Path, name: Located, expected: str) -> str | None:
    try:
        names = sorted(p.name for p in path.parent.iterdir() if (p.is_file() if expected == "file" else p.is_dir()))
    except OSError:
        return None
    sibling = nearest_file(path.name, names)
    return None if sibling is None else str(Path(name).with_name(sibling))


def _wrong(name: Located, message: str, suggestion: str | None = None) -> SpecError:
    return SpecError(Problem(message=message, place=name.place, suggestion=suggestion))

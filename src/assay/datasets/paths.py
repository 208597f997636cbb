"""Paths that a file names: inside the project folder, there, and with the nearest name if not."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from assay.errors import Problem, SpecError
from assay.spec.fields import Located
from assay.spec.nearest import nearest_file


def located_path(given: Located, folder: Path, root: Path | None, *, wanted: Literal["file", "folder"]) -> Path:
    """The path that a dataset file names, relative to its own folder; `root` is what it may not leave."""
    path = folder / given
    stay_inside(path, root, given)
    if wanted == "file" and path.is_dir():
        raise _wrong(given, f'"{given}" is a folder; expected a file (or use `type: folder`)')
    if wanted == "folder" and path.is_file():
        raise _wrong(given, f'"{given}" is a file; expected a folder (or use `type: local`)')
    if not path.exists():
        # the same file may be read by an absolute path and by a relative one, and its problem is one
        folder = folder.resolve().relative_to(Path.cwd()) if folder.resolve().is_relative_to(Path.cwd()) else folder
        raise _wrong(given, f'there is no {wanted} "{given}" in {folder}', _sibling(path, given, wanted))
    return path


def stay_inside(path: Path, root: Path | None, given: Located) -> None:
    """Refuse a path that leads out of the project folder, symbolic links followed."""
    if root is None:
        return
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise _wrong(given, f'"{given}" is not a usable path: {error}') from error
    if not inside:
        raise _wrong(given, f'"{given}" leads out of the project folder {root}; --allow-outside permits it')


def _sibling(path: Path, given: Located, wanted: str) -> str | None:
    try:
        names = sorted(p.name for p in path.parent.iterdir() if (p.is_file() if wanted == "file" else p.is_dir()))
    except OSError:
        return None
    found = nearest_file(path.name, names)
    return None if found is None else str(Path(given).with_name(found))


def _wrong(given: Located, message: str, suggestion: str | None = None) -> SpecError:
    return SpecError(Problem(message=message, place=given.place, suggestion=suggestion))

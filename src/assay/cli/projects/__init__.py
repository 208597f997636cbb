"""Projects that ship with assay: the demo, and starters for `assay init`."""

from __future__ import annotations

import shutil
from pathlib import Path

from assay.errors import SpecError

HERE = Path(__file__).parent


def copy_project(name: str, folder: Path) -> list[str]:
    """Copy a project that ships into a folder, never over an existing file; gives the names written."""
    files = sorted(path for path in (HERE / name).iterdir() if path.is_file() and path.suffix != ".py")
    taken = [path.name for path in files if (folder / path.name).exists()]
    if taken:
        raise SpecError(f"{folder} already has {', '.join(taken)}: choose another folder, nothing was written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in files:
            shutil.copyfile(path, folder / path.name)
    except OSError as error:
        raise SpecError(f"cannot write to {folder}: {error.strerror}") from error
    return [path.name for path in files]

"""The project folder: what look-up, the path jail, `.env` and the store go by."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "virtualenv", "site-packages"})
YAML = (".yaml", ".yml")


def project_folder(file: Path) -> Path:
    """The nearest folder above the file with `.assay/`, else with `.git`, else the file's own."""
    folders = list(Path(os.path.abspath(file)).parents)  # noqa: PTH100 - links are kept: the user's own path counts
    for folder in folders:
        if (folder / ".assay").is_dir():
            return folder
    for folder in folders:
        if (folder / ".git").exists():
            return folder
    return folders[0] if folders else Path.cwd()


def yaml_files(folder: Path) -> Iterator[Path]:
    """Every YAML file below a folder, sorted; dot folders, node_modules and virtual environments are skipped."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(here) / name))
        yield from (Path(here) / name for name in sorted(files) if name.lower().endswith(YAML))


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _SKIPPED or (folder / "pyvenv.cfg").is_file()

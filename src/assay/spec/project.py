"""The project folder: what look-up, the path jail, `.env` and the store go by."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "virtualenv", "site-packages"})
_LAYOUT = ("tasks", "datasets", "models", "model_adapters", "dataset_generators", "evaluations")
_LEVELS = 4
"""The number of parent folders searched for a project outside a repository."""
YAML = (".yaml", ".yml")


def project_folder(path: Path) -> Path:
    """Return the project folder of a file or folder; a folder is its own first candidate.

    The nearest one with `.assay/` or `assay.toml`; else the nearest that is laid out like a project, no higher than the
    one with `.git`; else the one with `.git`; else the file's own.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links are kept: the user's own path counts
    folders = [absolute, *absolute.parents] if absolute.is_dir() else list(absolute.parents)
    for folder in folders:
        if (folder / ".assay").is_dir() or (folder / "assay.toml").is_file():
            return folder
    repository = next((i for i, folder in enumerate(folders) if (folder / ".git").exists()), None)
    # without a repository nothing says where to stop: a run.yaml in the home folder must not claim everything below
    highest = _LEVELS if repository is None else repository
    for folder in folders[: highest + 1]:
        if _is_laid_out(folder):
            return folder
    return folders[0 if repository is None else repository]


def _is_laid_out(folder: Path) -> bool:
    if any((folder / name).is_file() for name in ("run.yaml", "run.yml")):
        return True
    return sum((folder / name).is_dir() for name in _LAYOUT) >= 2


def yaml_files(folder: Path) -> Iterator[Path]:
    """Every YAML file below a folder, sorted; dot folders, node_modules and virtual environments are skipped."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(here) / name))
        yield from (Path(here) / name for name in sorted(files) if name.lower().endswith(YAML))


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _SKIPPED or (folder / "pyvenv.cfg").is_file()

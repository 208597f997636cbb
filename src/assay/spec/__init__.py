"""Parse files into typed specs that keep their locations; all problems are reported at once."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.spec.bound import LoadedDataset, LoadedMetric, LoadedScorer, LoadedSolver, LoadedTask
    from assay.spec.dataset import load_dataset
    from assay.spec.document import Document
    from assay.spec.kind import kind_of
    from assay.spec.load import load_document
    from assay.spec.project import project_folder, yaml_files
    from assay.spec.task import Task
    from assay.spec.task_file import load_task

__all__ = [
    "Document",
    "LoadedDataset",
    "LoadedMetric",
    "LoadedScorer",
    "LoadedSolver",
    "LoadedTask",
    "Task",
    "kind_of",
    "load_dataset",
    "load_document",
    "load_task",
    "project_folder",
    "yaml_files",
]

_HOMES = {
    "Document": "document",
    "LoadedDataset": "bound",
    "LoadedMetric": "bound",
    "LoadedScorer": "bound",
    "LoadedSolver": "bound",
    "LoadedTask": "bound",
    "Task": "task",
    "kind_of": "kind",
    "load_dataset": "dataset",
    "load_document": "load",
    "load_task": "task_file",
    "project_folder": "project",
    "yaml_files": "project",
}


def __getattr__(name: str) -> Any:
    """The parts load when they are first named: finding a project folder needs neither YAML nor pydantic."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"assay.spec.{_HOMES[name]}"), name)

"""Which kind a file is, told by its keys."""

from __future__ import annotations

from typing import Any, Literal

from assay.spec.nearest import nearest

FileKind = Literal[
    "dataset generator", "task", "evaluation", "dataset", "adapter", "model", "rubric", "run", "platform"
]

RUN_KEYS = (
    "secrets",
    "model_adapters",
    "models",
    "dataset_generators",
    "datasets",
    "tasks",
    "evaluation",
    "policies",
    "config",
    "run_config",
)
_PLATFORM = frozenset({"app", "ai_app", "apps", "assessment_plan", "assessment_plans", "risk_scorer", "risk_scorers"})
_TASK_KEYS = ("definition", "key", "display_name", "description")
_CRITERION = frozenset({"requirement", "criterion", "weight", "options", "prompt"})


def kind_of(data: Any) -> FileKind | None:
    """The kind of file that the data is, None when it is nothing of ours.

    >>> kind_of({"key": "qa", "definition": {"scorers": []}})
    'task'
    """
    if isinstance(data, list):
        entries = [entry for entry in data if isinstance(entry, dict)]
        return "rubric" if entries and all(_CRITERION & entry.keys() for entry in entries) else None
    if not isinstance(data, dict):
        return None
    if "definition" in data:
        inside = data["definition"]
        has_synthesizers = isinstance(inside, dict) and ("synthesizers" in inside or "synthesizer" in inside)
        return "dataset generator" if has_synthesizers else "task"
    return _by_keys(data)


def _by_keys(data: dict[str, Any]) -> FileKind | None:
    def has(*names: str) -> bool:
        return any(name in data for name in names)

    rules: tuple[tuple[FileKind, bool], ...] = (
        ("evaluation", has("task_specifications")),
        ("dataset", has("source", "generator_specification", "data_source", "file_path")),
        ("adapter", has("process_input")),
        ("model", has("config") and has("key")),
        ("rubric", has("criteria", "sections", "rubric")),
        ("platform", bool(_PLATFORM & data.keys()) or data.get("type") in _PLATFORM),
        ("run", has(*RUN_KEYS)),
    )
    return next((kind for kind, holds in rules if holds), None)


def misspelled_key(data: Any) -> tuple[str, str] | None:
    """The key of a file of no kind that is close to one of a task, and the key that was probably meant."""
    if isinstance(data, dict):
        for key in data:
            near = nearest(str(key), _TASK_KEYS) if key not in _TASK_KEYS else None
            if near is not None and near not in data:
                return key, near
    return None


def not_a_task(kind: FileKind | None) -> str:
    """Why a file of this kind cannot be run or checked as a task."""
    if kind == "platform":
        return "files of the AI GO! platform (apps, assessment plans, risk scorers) have no counterpart here"
    if kind is None:
        return 'not a file of assay; a task has "key", "display_name", "description" and "definition"'
    if kind in ("run", "evaluation"):
        name = "a run file" if kind == "run" else "an evaluation"
        return f"this file is {name}, not a task: `assay run` runs it, and assay.run_evaluation in Python"
    article = "an" if kind == "adapter" else "a"
    return f"this file is {article} {kind}, not a task"

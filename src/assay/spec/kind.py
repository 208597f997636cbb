"""Determine the kind of a file by its keys."""

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
_PLATFORM_FILES: tuple[tuple[str, frozenset[str]], ...] = (
    ("an app", frozenset({"risk_profile"})),
    ("an app", frozenset({"model_under_test_key"})),
    ("an app", frozenset({"judge_model_key"})),
    ("an app", frozenset({"risk_scorers"})),
    ("an assessment plan", frozenset({"evaluation_specifications"})),
    ("a framework", frozenset({"risks"})),
    ("a risk scorer", frozenset({"risk_scoring_methodology_key"})),
    ("a risk scoring methodology", frozenset({"function", "metric_key"})),
)
"""The files of the AI GO! platform, by top-level fields that no assay file has."""
NO_COUNTERPART = (
    "files of the AI GO! platform (apps, assessment plans, frameworks, methodologies, risk scorers) "
    "have no counterpart here"
)
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
        ("platform", platform_file(data) is not None),
        ("evaluation", has("task_specifications")),
        ("dataset", has("source", "generator_specification", "data_source", "file_path")),
        ("adapter", has("process_input")),
        ("model", has("config") and has("key")),
        ("rubric", has("criteria", "sections", "rubric")),
        ("run", has(*RUN_KEYS)),
    )
    return next((kind for kind, holds in rules if holds), None)


def platform_file(data: Any) -> str | None:
    """Describe a file of the AI GO! platform; None for any other file.

    >>> platform_file({"key": "yearly", "evaluation_specifications": []})
    'an assessment plan'
    """
    if not isinstance(data, dict) or "task_specifications" in data or "definition" in data:
        return None
    for name, fields in _PLATFORM_FILES:
        if fields <= data.keys():
            return name
    is_one = bool(_PLATFORM & data.keys()) or data.get("type") in _PLATFORM or data.get("kind") == "framework"
    return "a platform file" if is_one else None


def misspelled_key(data: Any) -> tuple[str, str] | None:
    """The key of a file of no kind that is close to one of a task, and the key that was probably meant."""
    if isinstance(data, dict):
        for key in data:
            suggestion = nearest(str(key), _TASK_KEYS) if key not in _TASK_KEYS else None
            if suggestion is not None and suggestion not in data:
                return key, suggestion
    return None


def not_a_task(kind: FileKind | None) -> str:
    """Explain why a file of this kind cannot be run or checked as a task."""
    if kind == "platform":
        return NO_COUNTERPART
    if kind is None:
        return 'not a file of assay; a task has "key", "display_name", "description" and "definition"'
    if kind in ("run", "evaluation"):
        name = "a run file" if kind == "run" else "an evaluation"
        return f"this file is {name}, not a task: `assay run` runs it, and assay.run_evaluation in Python"
    article = "an" if kind == "adapter" else "a"
    return f"this file is {article} {kind}, not a task"

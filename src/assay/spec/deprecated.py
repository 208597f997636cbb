"""Old spellings: taken as what they became, with one line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from assay.errors import Problem
from assay.spec.document import Document, Steps
from assay.spec.kind import kind_of


def modernized(document: Document) -> Document:
    """The document in today's words, with a note for every old spelling."""
    if not isinstance(document.data, dict):
        return document
    move = _Move(document)
    _policies(move)
    if kind_of(document.data) == "dataset generator":
        _generator(move)
    elif "definition" in document.data:
        _task(move)
    elif "task_specifications" in document.data:
        move.drop(move.data, (), "mode")
    elif "evaluation" in document.data:
        move.drop(move.data["evaluation"], ("evaluation",), "mode")
    else:
        _dataset_file(move)
    return replace(
        document,
        data=move.data,
        positions=move.positions,
        notes=(*document.notes, *move.notes),
    )


class _Move:
    """Modifies a copy of the data and keeps the locations in step."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.data: dict[str, Any] = _copied(document.data)
        self.positions = dict(document.positions)
        self.notes: list[Problem] = []

    def note(self, message: str, steps: Steps, *, key: bool = True) -> None:
        self.notes.append(self.document.problem(f"deprecated: {message}", steps, key=key))

    def drop(self, mapping: Any, steps: Steps, name: str) -> None:
        """Forget a field that means nothing any more."""
        if isinstance(mapping, dict) and name in mapping:
            self.note(f'"{name}" is ignored', (*steps, name))
            del mapping[name]

    def ignore(self, mapping: Any, steps: Steps, name: str, reason: str) -> None:
        """Remove a field that only another tool uses, with a note."""
        if isinstance(mapping, dict) and name in mapping:
            self.notes.append(self.document.problem(f'"{name}" is not used: {reason}', (*steps, name), key=True))
            del mapping[name]

    def rename(self, mapping: Any, steps: Steps, old: str, new: str) -> None:
        """Rename a field, unless both names are present."""
        if isinstance(mapping, dict) and old in mapping and new not in mapping:
            self.note(f'"{old}" is now "{new}"', (*steps, old))
            mapping[new] = mapping.pop(old)
            self.shift((*steps, old), (*steps, new))

    def shift(self, old: Steps, new: Steps) -> None:
        """Move the locations along with a value."""
        moved = {(*new, *at[len(old) :]): spot for at, spot in self.positions.items() if at[: len(old)] == old}
        self.positions.update(moved)


def _copied(data: Any) -> Any:
    """Mappings and lists anew, texts as they are."""
    if isinstance(data, dict):
        return {name: _copied(value) for name, value in data.items()}
    return [_copied(value) for value in data] if isinstance(data, list) else data


def _task(move: _Move) -> None:
    move.drop(move.data, (), "evaluated_entity_type")
    move.drop(move.data, (), "modalities")
    definition = move.data["definition"]
    if not isinstance(definition, dict):
        return
    if definition.get("type") == "declarative_task":
        move.note('"declarative_task" is now "benchmark_task"', ("definition", "type"), key=False)
        definition["type"] = "benchmark_task"
    dataset = definition.get("dataset")
    steps = ("definition", "dataset")
    move.drop(dataset, steps, "fast_subset_size")
    move.rename(dataset, steps, "data_source", "source")
    _dataset_keys(move, dataset, steps)
    for at, old, new in _old_choice_fields(definition):
        move.note(f'"{old}" is now "{new}", a template such as "{{{{ sample.column }}}}"', at)


def _old_choice_fields(definition: dict[str, Any]) -> Iterator[tuple[Steps, str, str]]:
    """The scorer itself still takes these."""
    scorers = definition.get("scorers")
    for i, scorer in enumerate(scorers if isinstance(scorers, list) else []):
        for old in ("ground_truth_choice_field", "choices_field"):
            if isinstance(scorer, dict) and old in scorer:
                yield ("definition", "scorers", i, old), old, old.removesuffix("_field")


def _generator(move: _Move) -> None:
    """A single `synthesizer` is a list of one."""
    definition, steps = move.data["definition"], ("definition",)
    if "synthesizer" in definition and "synthesizers" not in definition:
        move.note('"synthesizer" is now the list "synthesizers"', (*steps, "synthesizer"))
        definition["synthesizers"] = [definition.pop("synthesizer")]
        move.shift((*steps, "synthesizer"), (*steps, "synthesizers", 0))
        move.positions[(*steps, "synthesizers")] = move.positions[(*steps, "synthesizer")]
    move.rename(definition, steps, "data_source", "dataset")
    source = definition.get("dataset")
    _dataset_keys(move, source, (*steps, "dataset"))
    if isinstance(source, dict) and "ai_app_key" in source:
        move.ignore(source, (*steps, "dataset"), "ai_app_key", "there are no apps here")


def _dataset_keys(move: _Move, dataset: Any, steps: Steps) -> None:
    move.rename(dataset, steps, "dataset_key", "key")
    move.rename(dataset, steps, "dataset_keys", "keys")


def _policies(move: _Move) -> None:
    policies = move.data.get("policies")
    for i, policy in enumerate(policies if isinstance(policies, list) else []):
        rules = policy.get("rules") if isinstance(policy, dict) else None
        for j, rule in enumerate(rules if isinstance(rules, list) else []):
            steps = ("policies", i, "rules", j)
            move.ignore(rule, steps, "methodology", "a rule here is a threshold on a metric")


def _dataset_file(move: _Move) -> None:
    move.drop(move.data, (), "modalities")
    move.rename(move.data, (), "data_source", "source")
    if "file_path" in move.data and "source" not in move.data:
        move.note('"file_path" is now "source: {type: local, file_path: ...}"', ("file_path",))
        move.data["source"] = {"type": "local", "file_path": move.data.pop("file_path")}
        move.shift(("file_path",), ("source", "file_path"))
        move.positions[("source",)] = move.positions[("file_path",)]

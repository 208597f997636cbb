"""Samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl`, one line a document and filter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from assay.interop.imported_values import NO_SCORE, Imported, ImportedSample, as_json, key_of, mapping, wrong
from assay.types import Outcome, Score

FORMAT = "lm_eval"
_NAME = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl")
_OWN = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip


def read_lm_eval(path: Path) -> Imported:
    """The documents with their answers; every filter is a scorer of its own, every metric a number of it."""
    found: dict[str, dict[str, Any]] = {}
    filters: dict[str, None] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        row = mapping(path, as_json(path, line, line=number), "a sample", number)
        if "doc_id" not in row:
            raise wrong(path, 'no "doc_id": this is not a samples file of lm-evaluation-harness', number)
        name = str(row.get("filter") or "none")
        filters[name] = None
        entry = found.setdefault(str(row["doc_id"]), {"row": row, "scores": {}})
        if name in entry["scores"]:
            raise wrong(path, f'doc_id {row["doc_id"]} comes twice with the filter "{name}"', number)
        entry["scores"][name] = row
    if not found:
        raise wrong(path, "the file has no samples")
    samples = [_sample(doc_id, entry, list(filters)) for doc_id, entry in found.items()]
    named = _NAME.fullmatch(path.name)
    return Imported(format=FORMAT, task=named["task"] if named else path.stem, model=_model(path), samples=samples)


def _sample(doc_id: str, entry: Mapping[str, Any], filters: Sequence[str]) -> ImportedSample:
    row, by_filter = entry["row"], entry["scores"]
    doc = row.get("doc")
    sample = dict(doc) if isinstance(doc, dict) else {"doc": doc}
    if row.get("target") is not None and "target" not in sample:
        sample["target"] = row["target"]
    outcomes = {_key(name, filters): _outcome(by_filter.get(name), _key(name, filters)) for name in filters}
    return ImportedSample(sample_id=doc_id, sample=sample, output=_output(row), outcomes=outcomes)


def _key(name: str, filters: Sequence[str]) -> str:
    return FORMAT if name == "none" and len(filters) == 1 else key_of(name)


def _outcome(row: Mapping[str, Any] | None, key: str) -> Outcome:
    if row is None:
        return NO_SCORE
    named = row.get("metrics")
    names = named if isinstance(named, list) else [name for name in row if name not in _OWN]
    values = {str(name): float(row[name]) for name in names if isinstance(row.get(name), bool | int | float)}
    if not values:
        return NO_SCORE
    return Score(scorer=key, values=values, metadata={"filtered": _unwrapped(row.get("filtered_resps"))})


def _output(row: Mapping[str, Any]) -> str | None:
    said = _unwrapped(row.get("resps"))
    if isinstance(said, str):
        return said
    return orjson.dumps(said).decode() if said else None


def _unwrapped(value: Any) -> Any:
    """A single reply out of the lists it is wrapped in; several stay a list."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _model(path: Path) -> str | None:
    """The model that the results file beside the samples names."""
    for results in sorted(path.parent.glob("results_*.json"), reverse=True):
        head = as_json(results, results.read_bytes())
        if isinstance(head, dict) and isinstance(head.get("model_name"), str):
            return str(head["model_name"])
    return None

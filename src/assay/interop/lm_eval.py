"""Samples of lm-evaluation-harness: `samples_TASK_TIME.jsonl`, one line a document and filter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from assay.datasets.json_document import as_json, dicts, mapping, wrong
from assay.interop.imported_values import NO_SCORE, Imported, ImportedSample, SourceFigure, key_of
from assay.types import Outcome, Score, ScoreValue

FORMAT = "lm_eval"
_NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl")
_CORPUS = ("bleu", "chrf", "ter")
"""The metrics of the whole corpus, whose lines contain texts instead of a number."""
_MEANS = ("brier_score",)
"""The aggregations that are means of per-sample values."""
_OWN = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip


def read_lm_eval(path: Path) -> Imported:
    """Read the documents with their answers; every filter becomes a scorer, every metric one of its fields."""
    by_document: dict[str, dict[str, Any]] = {}
    filters: dict[str, None] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        row = mapping(path, as_json(path, line, line=number), "a sample", number)
        if "doc_id" not in row:
            raise wrong(path, 'no "doc_id": this is not a samples file of lm-evaluation-harness', number)
        name = str(row.get("filter") or "none")
        filters[name] = None
        entry = by_document.setdefault(str(row["doc_id"]), {"row": row, "scores": {}})
        if name in entry["scores"]:
            raise wrong(path, f'doc_id {row["doc_id"]} appears twice with the filter "{name}"', number)
        entry["scores"][name] = row
    if not by_document:
        raise wrong(path, "the file has no samples")
    samples = [_sample(doc_id, entry, list(filters)) for doc_id, entry in by_document.items()]
    named = _NAME.fullmatch(path.name)
    task = named["task"] if named else path.stem
    summary = _summary(path, task, (named and named["time"]) or "")
    results = (summary.get("results") or {}).get(task)
    notes = []
    if isinstance(results, dict) and isinstance(length := results.get("sample_len"), int) and length != len(samples):
        notes.append(f"the results file counts {length:,} samples, this file has {len(samples):,}")
    return Imported(
        format=FORMAT,
        task=task,
        model=str(summary["model_name"]) if isinstance(summary.get("model_name"), str) else None,
        samples=samples,
        notes=tuple(notes),
        figures=tuple(_figures(results, list(filters), _not_means(summary, task)))
        if isinstance(results, dict)
        else None,
    )


def _summary(path: Path, task: str, time: str) -> Mapping[str, Any]:
    """The results file of the same run, by its time; else the newest beside the samples that can be of this task."""
    summaries = sorted(path.parent.glob("results_*.json"), reverse=True)
    # several runs may share a folder: a file of another task names another model
    for file in sorted(summaries, key=lambda file: not (time and time in file.name)):
        head = as_json(file, file.read_bytes())
        results = head.get("results") if isinstance(head, dict) else None
        if isinstance(results, dict) and task in results:
            return dict(head)
        if isinstance(head, dict) and not results and isinstance(head.get("model_name"), str):
            return dict(head)
    return {}


def _not_means(summary: Mapping[str, Any], task: str) -> set[str]:
    """The metrics of a task that are no means over its samples."""
    configs = summary.get("configs")
    config = configs.get(task) if isinstance(configs, dict) else None
    named = dicts(config.get("metric_list")) if isinstance(config, dict) else []
    others = {str(entry.get("metric")) for entry in named if entry.get("aggregation") not in (None, "mean", *_MEANS)}
    return others | {*_CORPUS, "perplexity"}


def _figures(results: Mapping[str, Any], filters: Sequence[str], not_means: set[str]) -> Iterator[SourceFigure]:
    """The figures of a task in the results file, which are called `metric,filter`."""
    for name, value in results.items():
        metric, comma, filter_ = name.partition(",")
        if comma and isinstance(value, bool | int | float):
            figure = SourceFigure(name=name, value=float(value), scorer=_key(filter_, filters))
            is_mean = metric not in not_means and not metric.endswith("_stderr")
            yield replace(figure, metric=metric) if is_mean else figure


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
    names = [name for name in (named if isinstance(named, list) else row) if isinstance(name, str) and name not in _OWN]
    values: dict[str, ScoreValue] = {}
    for name in names:
        if isinstance(row.get(name), bool | int | float):
            values[name] = float(row[name])
        elif name == "brier_score" and (brier := _brier(row)) is not None:
            values[name] = brier
        elif name in _CORPUS and (sentence := _sentence_score(name, row.get(name))) is not None:
            values[f"{name}_sentence"] = sentence
    if not values:
        return NO_SCORE
    return Score(scorer=key, values=values, metadata={"filtered": _unwrapped(row.get("filtered_resps"))})


def _output(row: Mapping[str, Any]) -> str | None:
    output = _unwrapped(row.get("resps"))
    if isinstance(output, str):
        return output
    return orjson.dumps(output).decode() if output else None


def _unwrapped(value: Any) -> Any:
    """A single reply out of the lists it is wrapped in; several stay a list."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _brier(row: Mapping[str, Any]) -> float | None:
    """The squared distance of the choices' probabilities from the right choice, from `[choice, "[p p ...]"]`."""
    pair = row.get("brier_score")
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], int):
        return None
    printed = pair[1].strip("[]").split() if isinstance(pair[1], str) else pair[1]
    try:
        chances = [float(chance) for chance in printed]
        # the line shows 8 digits of each: the replies have all of them
        weights = [math.exp(float(reply[0])) for reply in row.get("filtered_resps") or ()]
    except (TypeError, ValueError, LookupError, OverflowError):
        return None
    exact = [weight / sum(weights) for weight in weights] if sum(weights) else []
    if len(exact) == len(chances) and all(
        math.isclose(a, b, abs_tol=1e-7) for a, b in zip(exact, chances, strict=True)
    ):
        chances = exact
    if not 0 <= pair[0] < len(chances):
        return None
    return math.fsum((chance - (place == pair[0])) ** 2 for place, chance in enumerate(chances))


def _sentence_score(name: str, pair: Any) -> float | None:
    """Compute BLEU, chrF or TER of one text from `[references, text]`; the source reports the whole corpus."""
    if not isinstance(pair, list) or len(pair) != 2:
        return None
    references, text = (_unwrapped(side) for side in pair)
    expected = references if isinstance(references, list) else [references]
    if not isinstance(text, str) or not expected or not all(isinstance(reference, str) for reference in expected):
        return None
    import sacrebleu

    scores: dict[str, Any] = {
        "bleu": sacrebleu.sentence_bleu,
        "chrf": sacrebleu.sentence_chrf,
        "ter": sacrebleu.sentence_ter,
    }
    return float(scores[name](text, expected).score)

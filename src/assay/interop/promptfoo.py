"""Results of promptfoo: the JSON of `promptfoo eval -o results.json`, one column per prompt and provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson

from assay.datasets.json_document import as_json, mapping, wrong
from assay.interop.imported_values import Imported, ImportedSample, SourceFigure, failed, key_of
from assay.interop.numbers import as_number
from assay.text import shortened
from assay.types import Failure, Score, ScoreValue

FORMAT = "promptfoo"
_CARRIED: Mapping[str, tuple[str | None, Literal["sum", "rest", "failed"]]] = {
    "score": ("score", "sum"),
    "testPassCount": ("accuracy", "sum"),
    "testFailCount": ("accuracy", "rest"),
    "testErrorCount": (None, "failed"),
}
"""Figures of a column that are sums over its tests."""
WANTED = "the JSON that `promptfoo eval -o results.json` writes"
ERROR = 2
"""The `failureReason` of a test whose provider or assertion ended in an error, instead of a wrong answer."""
LABEL_SHOWN = 40


def read_promptfoo(path: Path, column: int | None = None) -> Imported:
    """Read the tests of one column; a file with several prompts or providers needs the number of the column."""
    head = mapping(path, as_json(path, path.read_bytes(), wanted=WANTED), WANTED)
    results = mapping(path, head.get("results"), "the field results")
    rows, prompts = results.get("results"), results.get("prompts") or []
    if not isinstance(rows, list) or not isinstance(prompts, list):
        raise wrong(path, "expected the fields results.results and results.prompts as lists")
    whole = [mapping(path, row, "a result") for row in rows]
    if any(not isinstance(row.get(name), int) for row in whole for name in ("testIdx", "promptIdx")):
        raise wrong(path, "a result lacks testIdx or promptIdx: write the file anew with promptfoo 0.100 or later")
    columns = sorted({row["promptIdx"] for row in whole})
    chosen = _column(path, columns, prompts, column)
    options = head.get("runtimeOptions")
    repeats = options.get("repeat") if isinstance(options, dict) else None
    trials = repeats if isinstance(repeats, int) and repeats > 1 else 1
    samples = [_sample(row, trials) for row in whole if row["promptIdx"] == chosen]
    config = head.get("config")
    described = config.get("description") if isinstance(config, dict) else None
    entry = prompts[chosen] if chosen is not None and chosen < len(prompts) else {}
    summary = entry.get("metrics") if isinstance(entry, dict) else None
    return Imported(
        format=FORMAT,
        task=str(described or path.stem),
        model=str(entry["provider"]) if isinstance(entry, dict) and entry.get("provider") else None,
        samples=samples,
        trials=trials,
        chosen=(f"column {chosen}", ()) if len(columns) > 1 else (None, ()),
        figures=tuple(_figures(summary, samples)) if isinstance(summary, dict) else None,
    )


def _column(path: Path, columns: Sequence[int], prompts: Sequence[Any], column: int | None) -> int | None:
    """The column to read: the one that was named, or the only one."""
    if column is None and len(columns) < 2:
        return columns[0] if columns else None
    if column in columns:
        return column
    lines = []
    for number in columns:
        entry = prompts[number] if number < len(prompts) and isinstance(prompts[number], dict) else {}
        label = shortened(" ".join(str(entry.get("label")).split()), LABEL_SHOWN)
        lines.append(f'{number} ({entry.get("provider")}: "{label}")')
    which = (
        "has no column" if column is not None else "has several columns, and a run holds one: choose it with --column"
    )
    requested = f" {column}" if column is not None else ""
    raise wrong(path, f"the file {which}{requested}; the columns are {', '.join(lines)}")


def _sample(row: Mapping[str, Any], trials: int) -> ImportedSample:
    # promptfoo numbers the repeats of a test one after the other
    test, trial = divmod(row["testIdx"], trials)
    response = row.get("response")
    output = response.get("output") if isinstance(response, dict) else None
    variables = row.get("vars")
    prompt = row.get("prompt")
    text = output if output is None or isinstance(output, str) else orjson.dumps(output).decode()
    # the prompt is no part of the sample: tests of different prompts must stay comparable
    turns = [("user", prompt.get("raw") if isinstance(prompt, dict) else None), ("assistant", text)]
    failure = _failure(row)
    return ImportedSample(
        sample_id=str(test),
        trial=trial,
        sample=dict(variables) if isinstance(variables, dict) else {},
        output=text,
        trace=tuple(
            {"type": "message", "role": role, "content": content} for role, content in turns if isinstance(content, str)
        ),
        failure=failure,
        outcomes={FORMAT: failure or _score(row)},
    )


def _failure(row: Mapping[str, Any]) -> Failure | None:
    if row.get("failureReason") != ERROR:
        return None
    lines = str(row.get("error") or "").strip().splitlines()
    # below the message stands the stack of promptfoo itself
    message = [line for line in lines if not line.lstrip().startswith("at ")]
    return failed("\n".join(message))


def _score(row: Mapping[str, Any]) -> Score:
    values: dict[str, ScoreValue] = {"is_correct": float(bool(row.get("success")))}
    score = as_number(row.get("score"))
    if score is not None:
        values["score"] = score
    named = row.get("namedScores")
    for name, value in named.items() if isinstance(named, dict) else ():
        number = as_number(value)
        if number is not None:
            values[_named(name)] = number
    graded = row.get("gradingResult")
    metadata: dict[str, Any] = {}
    if isinstance(graded, dict):
        metadata = {name: graded[name] for name in ("reason", "componentResults") if graded.get(name)}
    return Score(scorer=FORMAT, values=values, metadata=metadata)


def _named(name: str) -> str:
    """Return the field of a named metric; promptfoo's own metrics keep their names."""
    key = key_of(name)
    return f"{key}_metric" if key in ("is_correct", "score", "accuracy") else key


def _figures(summary: Mapping[str, Any], samples: Sequence[ImportedSample]) -> Iterator[SourceFigure]:
    """The summary of a column: sums over its tests, and what was spent."""
    scored = Counter(s.sample_id for s in samples if s.failure is None)
    # where some repeats of a test failed, the mean over tests of their means gives no sum
    even = len(set(scored.values())) < 2
    for name, value in summary.items():
        if name == "namedScores" and isinstance(value, dict):
            yield from _named_figures(value, summary, samples, even=even)
        elif name in _CARRIED and (number := as_number(value)) is not None:
            metric, of = _CARRIED[name]
            scorer = FORMAT if even or of == "failed" else None
            yield SourceFigure(name=name, value=number, scorer=scorer, metric=metric, of=of)
        elif value and name not in ("namedScoresCount", "namedScoreWeights"):
            yield SourceFigure(name=name, value=as_number(value) or 0.0)


def _named_figures(
    totals: Mapping[str, Any], summary: Mapping[str, Any], samples: Sequence[ImportedSample], *, even: bool
) -> Iterator[SourceFigure]:
    """Return named metrics: sums over the tests, or, if weighted, of products that the tests do not record."""
    weights = summary.get("namedScoreWeights")
    for name, total in totals.items():
        number = as_number(total)
        if number is None:
            continue
        tests = sum(isinstance(o, Score) and _named(name) in o.values for s in samples for o in s.outcomes.values())
        weight = weights.get(name) if isinstance(weights, dict) else None
        plain = weight is None or as_number(weight) == tests
        label = f"namedScores.{name}"
        if plain:
            scorer = FORMAT if even else None
            yield SourceFigure(name=label, value=number, scorer=scorer, metric=_named(name), of="sum")
        else:
            yield SourceFigure(name=f"{label} (weighted by assertions)", value=number)

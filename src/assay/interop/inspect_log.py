"""Logs of Inspect: a JSON document, or the .eval archive of one JSON member a sample."""

from __future__ import annotations

import re
import struct
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import SpecError
from assay.interop.imported_run import metric_name
from assay.interop.imported_values import (
    Imported,
    ImportedSample,
    SourceFigure,
    as_json,
    dicts,
    failed,
    key_of,
    mapping,
    wrong,
)
from assay.interop.numbers import as_number, number_in
from assay.spec.task import Aggregator, ScoreAggregator
from assay.types import Item, Outcome, Score, ScoreValue, content_text

FORMAT = "inspect"
WANTED = "an Inspect log, a zip archive (.eval) or a JSON document"
ZSTD = 93
LARGEST_MEMBER = 1 << 30
ATTACHMENT = "attachment://"
"""Begins a text that stands in the sample's attachments, under what follows."""
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partly correct, incorrect, no answer: what Inspect counts them as."""
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_REDUCER = re.compile(r"mean|median|mode|max|(at_least|pass_at|pass_k)_(\d+)")
_FUNCTIONS = {"at_least": "at_least_k", "pass_at": "pass@k", "pass_k": "pass^k"}


def read_inspect(path: Path) -> Imported:
    """A log with its samples; a sample that ended in an error is a failure, whatever it was scored."""
    head, samples = _archive(path) if zipfile.is_zipfile(path) else _document(path)
    spec = mapping(path, head.get("eval"), "the field eval")
    rows = [_whole(mapping(path, row, "a sample")) for row in samples]
    odd = next((row for row in rows if not isinstance(row.get("epoch") or 1, int) or (row.get("epoch") or 1) < 1), None)
    if odd is not None:
        raise wrong(path, f'the sample "{odd.get("id")}" has the epoch {odd["epoch"]!r}; expected 1, 2 and so on')
    fields = {name: _field(name, rows) for name in _scorers(rows)}
    made = [_sample(row, fields) for row in rows]
    trials = max((sample.trial for sample in made), default=0) + 1
    results = head.get("results")
    entries = dicts(results.get("scores")) if isinstance(results, dict) else []
    reducers = list(dict.fromkeys(str(entry["reducer"]) for entry in entries if trials > 1 and entry.get("reducer")))
    rules = [_aggregator(field, reducer) for field in _numeric_fields(made) for reducer in reducers]
    if reducers:
        made = _with_reductions(
            made, head.get("reductions"), fields, {name for name in fields if _is_coarse(name, rows)}
        )
    names = _numeric_fields(made)
    figures = [figure for entry in entries for figure in _figures(entry, fields, names, trials)]
    status = str(head.get("status") or "started")
    notes = [] if status == "success" else [f"the log says {status}{_reason(head)}: it may lack samples"]
    return Imported(
        format=FORMAT,
        task=str(spec.get("task") or path.stem),
        model=None if spec.get("model") is None else str(spec["model"]),
        samples=made,
        trials=trials,
        partial=status != "success",
        notes=tuple(notes),
        aggregators=tuple(rule for rule in rules if rule is not None),
        figures=tuple(figure for figure, _ in figures) if isinstance(results, dict) else None,
        deviations=frozenset(field for _, field in figures if field is not None),
    )


def _numeric_fields(samples: Iterable[ImportedSample]) -> list[str]:
    """The fields of all scores that hold numbers."""
    scores = [score for sample in samples for score in sample.outcomes.values() if isinstance(score, Score)]
    return list(dict.fromkeys(n for score in scores for n, value in score.values.items() if not isinstance(value, str)))


def _with_reductions(
    samples: Sequence[ImportedSample], reductions: Any, fields: Mapping[str, str | None], coarse: set[str]
) -> list[ImportedSample]:
    """The trials with the log's own value of every reducer that numbers alone cannot reproduce, as one more field.

    Such are reducers without a counterpart here, and the mode of scorers whose numbers are `coarse`.
    """
    taken: dict[tuple[str, str], dict[str, float]] = {}
    for entry in dicts(reductions):
        scorer, reducer = str(entry.get("scorer")), str(entry.get("reducer"))
        field = fields.get(scorer)
        if field in ("is_correct", "value") and (
            (reducer == "mode" and scorer in coarse) or _aggregator("", reducer) is None
        ):
            for reduced in dicts(entry.get("samples")):
                number = _number(_value(reduced))
                if number is not None:
                    key = (str(reduced.get("sample_id")), key_of(scorer))
                    taken.setdefault(key, {})[_reduced(field, reducer)] = number
    return [
        replace(
            sample,
            outcomes={
                key: replace(score, values={**score.values, **taken.get((sample.sample_id, key), {})})
                if isinstance(score, Score)
                else score
                for key, score in sample.outcomes.items()
            },
        )
        for sample in samples
    ]


def _aggregator(field: str, reducer: str) -> ScoreAggregator | None:
    """An epoch reducer as an aggregator of trials; None for those that have no counterpart here."""
    named = _REDUCER.fullmatch(reducer)
    if named is None:
        return None
    counting, k = named.groups()
    function = reducer if counting is None else _FUNCTIONS[counting]
    # Inspect counts scores from 1 on as successes, whatever the scale
    counts = {} if k is None else {"k": int(k), "threshold": 1.0}
    settings = {"function": function, "score_name": _reduced(field, reducer), **counts}
    return ScoreAggregator(score_name=field, aggregator=Aggregator.model_validate(settings))


def _reduced(field: str, reducer: str | None) -> str:
    """The name of a field once epochs have become one score."""
    return field if reducer in (None, "mean") else f"{field}_{key_of(str(reducer))}"


def _figures(
    entry: Mapping[str, Any], fields: Mapping[str, str | None], names: Sequence[str], trials: int
) -> Iterator[tuple[SourceFigure, tuple[str, str] | None]]:
    """The metrics of one entry of the log's summary; beside a standard deviation the scorer and field that it is of."""
    scorer, name, reducer = (entry.get(key) for key in ("scorer", "name", "reducer"))
    own = scorer in fields and name == scorer
    field = fields[str(scorer)] if own else key_of(str(name))
    reduced = _reduced(str(field), reducer if trials > 1 else None)
    carried = reduced in names or (field in names and _aggregator("", str(reducer)) is not None)
    shown = metric_name(reduced)
    metrics = entry.get("metrics")
    for key, metric in metrics.items() if isinstance(metrics, dict) else ():
        value = metric.get("value") if isinstance(metric, dict) else metric
        if not isinstance(value, bool | int | float):
            continue
        label = " ".join([str(name), str(key), *([f"({reducer})"] if reducer else [])])
        figure = SourceFigure(name=label, value=float(value), scorer=key_of(str(scorer)))
        if carried and key in ("accuracy", "mean"):
            yield replace(figure, metric=shown), None
        elif carried and key == "std":
            yield replace(figure, metric=f"{shown}_std"), (key_of(str(scorer)), str(field))
        else:
            yield figure, None


def _whole(row: dict[str, Any]) -> dict[str, Any]:
    """A sample with its long texts in their places, and the single score of old logs among the scores."""
    kept = {name: row.get(name) for name in ("input", "choices", "target", "messages", "output", "metadata")}
    attached = row.get("attachments")
    if isinstance(attached, dict) and attached:
        kept = {name: _attached(value, attached) for name, value in kept.items()}
    scores = row.get("scores") or ({"score": row["score"]} if row.get("score") else {})
    return {**row, **kept, "scores": scores if isinstance(scores, dict) else {}}


def _attached(value: Any, attached: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return attached.get(value.removeprefix(ATTACHMENT), value) if value.startswith(ATTACHMENT) else value
    if isinstance(value, list):
        return [_attached(each, attached) for each in value]
    if isinstance(value, dict):
        return {name: _attached(each, attached) for name, each in value.items()}
    return value


def _reason(head: Mapping[str, Any]) -> str:
    error = head.get("error")
    return f" ({error['message']})" if isinstance(error, dict) and error.get("message") else ""


def _document(path: Path) -> tuple[dict[str, Any], Iterable[Any]]:
    head = mapping(path, as_json(path, path.read_bytes(), wanted=WANTED), "an Inspect log")
    samples = head.get("samples") or []
    if not isinstance(samples, list):
        raise wrong(path, "expected the field samples as a list")
    return head, samples


def _archive(path: Path) -> tuple[dict[str, Any], Iterable[Any]]:
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: info for info in archive.infolist()}
        # a log whose run was cut off has no header yet, only the journal's start
        first = next((name for name in ("header.json", "_journal/start.json") if name in members), None)
        if first is None:
            raise wrong(path, "not an Inspect log: the archive has no header.json")
        head = mapping(path, as_json(path, _read(path, archive, members[first])), "the log's header")
        names = sorted(name for name in members if name.startswith("samples/") and name.endswith(".json"))
        samples = [as_json(path, _read(path, archive, members[name])) for name in names]
        if "reductions.json" in members:
            head["reductions"] = as_json(path, _read(path, archive, members["reductions.json"]))
    samples.sort(key=lambda row: _order(row) if isinstance(row, dict) else (2, "", 0))
    return head, samples


def _order(row: Mapping[str, Any]) -> tuple[int, Any, int]:
    """Numbers before texts, each in their own order, then the epoch."""
    name = row.get("id")
    epoch = row.get("epoch")
    return (
        0 if isinstance(name, int) else 1,
        name if isinstance(name, int) else str(name),
        epoch if isinstance(epoch, int) else 1,
    )


def _read(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > LARGEST_MEMBER:
        raise wrong(path, f"{info.filename} is larger than {LARGEST_MEMBER >> 20} MB")
    try:
        if info.compress_type != ZSTD:
            return archive.read(info)
        return _zstd(_raw(path, info), info.file_size)
    except SpecError:
        raise
    except (zipfile.BadZipFile, OSError, ValueError, struct.error) as error:
        raise wrong(path, f"{info.filename} cannot be read: {error}") from error


def _raw(path: Path, info: zipfile.ZipInfo) -> bytes:
    """The compressed bytes of a member: Python's zipfile knows no zstd before 3.14."""
    with path.open("rb") as file:
        file.seek(info.header_offset)
        fixed = struct.unpack("<4s5H3L2H", file.read(30))
        file.seek(info.header_offset + 30 + fixed[9] + fixed[10])
        return file.read(info.compress_size)


def _zstd(data: bytes, size: int) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    try:
        # one byte more than announced tells a member that is larger than it says from one that is not
        unpacked: bytes = zstd.ZstdDecompressor().decompress(data, size + 1)
    except zstd.ZstdError as error:
        raise ValueError(error) from error
    if len(unpacked) != size:
        raise ValueError(f"{len(unpacked):,} bytes instead of {size:,}")
    return unpacked


def _scorers(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row["scores"]))


def _field(name: str, rows: Iterable[Mapping[str, Any]]) -> str | None:
    """The field of a scorer's single value: right or wrong, a number, or a label; None for several values."""
    values = [_value(row["scores"][name]) for row in rows if name in row["scores"]]
    known = [value for value in values if value is not None]
    if any(isinstance(value, dict | list) for value in known):
        return None
    if any(_number(value) is None for value in known):
        return "label"
    grades = all(
        (value.lower() in WORDS or value in GRADES) if isinstance(value, str) else value in (0, 1) for value in known
    )
    return "is_correct" if grades else "value"


def _is_coarse(name: str, rows: Iterable[Mapping[str, Any]]) -> bool:
    """Has a scorer different values that are one number, as I and N are? Their mode depends on which is counted."""
    values = [_value(row["scores"][name]) for row in rows if name in row["scores"]]
    plain = {value for value in values if isinstance(value, bool | int | float | str)}
    return len({_number(value) for value in plain}) < len(plain)


def _number(value: Any) -> float | None:
    """The number that Inspect's metrics take a value for; None for texts that are none."""
    if isinstance(value, bool | int | float):
        return as_number(float(value))
    if value in GRADES:
        return GRADES[value]
    return WORDS.get(value.lower(), number_in(value)) if isinstance(value, str) else None


def _value(score: Any) -> Any:
    return score.get("value") if isinstance(score, dict) else score


def _sample(row: Mapping[str, Any], fields: Mapping[str, str | None]) -> ImportedSample:
    error = row.get("error")
    failure = None
    if error:
        failure = failed(str(error.get("message") if isinstance(error, dict) else error))
    return ImportedSample(
        sample_id=str(row.get("id")),
        trial=int(row.get("epoch") or 1) - 1,
        sample=_input(row),
        output=_output(row),
        trace=tuple(_messages(row.get("messages"))),
        failure=failure,
        outcomes={key_of(name): _outcome(key_of(name), score, fields[name]) for name, score in row["scores"].items()},
    )


def _input(row: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: row[name] for name in ("input", "choices", "target") if row.get(name) is not None}
    metadata = row.get("metadata")
    return {**(metadata if isinstance(metadata, dict) else {}), **given}


def _output(row: Mapping[str, Any]) -> str | None:
    output = row.get("output")
    if not isinstance(output, dict):
        return None
    choices = dicts(output.get("choices"))
    message = choices[0].get("message") if choices else None
    if isinstance(message, dict):
        return content_text(message.get("content"))
    completion = output.get("completion")
    return completion if isinstance(completion, str) else None


def _messages(messages: Any) -> Iterator[Item]:
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and "role" in message:
            yield {"type": "message", "role": str(message["role"]), "content": content_text(message.get("content"))}


def _outcome(key: str, score: Any, field: str | None) -> Outcome:
    value = _value(score)
    beside = score if isinstance(score, dict) else {}
    metadata = {name: beside[name] for name in ("answer", "explanation", "metadata") if beside.get(name)}
    values = _values(value, field)
    if not values:
        return failed(f"the score {value!r} is neither a number nor a text", "parse")
    return Score(scorer=key, values=values, metadata=metadata)


def _values(value: Any, field: str | None) -> dict[str, ScoreValue]:
    if isinstance(value, dict):
        return {key_of(name): made for name, each in value.items() if (made := _plain(each)) is not None}
    if field in ("is_correct", "value"):
        number = _number(value)
        return {} if number is None else {field: number}
    made = _plain(value)
    return {} if made is None else {"value" if not isinstance(made, str) else "label": made}


def _plain(value: Any) -> ScoreValue | None:
    if isinstance(value, bool | int | float):
        return float(value)
    return value if isinstance(value, str) else None

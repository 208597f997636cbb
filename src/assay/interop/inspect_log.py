"""Logs of Inspect: a JSON document, or the .eval archive of one JSON member a sample."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra
from assay.interop.imported_values import Imported, ImportedSample, as_json, failed, key_of, mapping, wrong
from assay.types import Item, Outcome, Score, ScoreValue, content_text

FORMAT = "inspect"
WANTED = "an Inspect log, a zip archive (.eval) or a JSON document"
ZSTD = 93
LARGEST_MEMBER = 1 << 30
ATTACHMENT = "attachment://"
"""Begins a text that stands in the sample's attachments, under what follows."""
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partly correct, incorrect, no answer: what Inspect counts them as."""


def read_inspect(path: Path) -> Imported:
    """A log with its samples; a sample that ended in an error is a failure, whatever it was scored."""
    head, samples = _archive(path) if zipfile.is_zipfile(path) else _document(path)
    spec = mapping(path, head.get("eval"), "the field eval")
    rows = [_whole(mapping(path, row, "a sample")) for row in samples]
    graded = {name for name in _scorers(rows) if _is_graded(name, rows)}
    made = [_sample(row, graded) for row in rows]
    status = str(head.get("status") or "started")
    notes = [] if status == "success" else [f"the log says {status}{_reason(head)}: it may lack samples"]
    return Imported(
        format=FORMAT,
        task=str(spec.get("task") or path.stem),
        model=None if spec.get("model") is None else str(spec["model"]),
        samples=made,
        trials=max((sample.trial for sample in made), default=0) + 1,
        partial=status != "success",
        notes=tuple(notes),
    )


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
    samples.sort(key=lambda row: _order(row) if isinstance(row, dict) else (2, "", 0))
    return head, samples


def _order(row: Mapping[str, Any]) -> tuple[int, Any, int]:
    """Numbers before texts, each in their own order, then the epoch."""
    name = row.get("id")
    return (0 if isinstance(name, int) else 1, name if isinstance(name, int) else str(name), int(row.get("epoch") or 1))


def _read(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > LARGEST_MEMBER:
        raise wrong(path, f"{info.filename} is larger than {LARGEST_MEMBER >> 20} MB")
    try:
        if info.compress_type != ZSTD:
            return archive.read(info)
        return _zstd(_raw(path, info), info.file_size)
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
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra("parquet", "reading an .eval log that is compressed with zstd") from error
    unpacked: bytes = pyarrow.Codec("zstd").decompress(data, decompressed_size=size, asbytes=True)
    return unpacked


def _scorers(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row["scores"]))


def _is_graded(name: str, rows: Iterable[Mapping[str, Any]]) -> bool:
    """Does a scorer say right or wrong, and nothing else?"""
    values = [_value(row["scores"][name]) for row in rows if name in row["scores"]]
    known = [value for value in values if value is not None]
    return all(isinstance(value, bool | int | float | str) and value in (*GRADES, 0, 1) for value in known)


def _value(score: Any) -> Any:
    return score.get("value") if isinstance(score, dict) else score


def _sample(row: Mapping[str, Any], graded: set[str]) -> ImportedSample:
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
        outcomes={key_of(name): _outcome(key_of(name), score, name in graded) for name, score in row["scores"].items()},
    )


def _input(row: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: row[name] for name in ("input", "choices", "target") if row.get(name) is not None}
    metadata = row.get("metadata")
    return {**(metadata if isinstance(metadata, dict) else {}), **given}


def _output(row: Mapping[str, Any]) -> str | None:
    output = row.get("output")
    if not isinstance(output, dict):
        return None
    choices = output.get("choices") or []
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
    if isinstance(message, dict):
        return content_text(message.get("content"))
    completion = output.get("completion")
    return completion if isinstance(completion, str) else None


def _messages(messages: Any) -> Iterator[Item]:
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and "role" in message:
            yield {"type": "message", "role": str(message["role"]), "content": content_text(message.get("content"))}


def _outcome(key: str, score: Any, graded: bool) -> Outcome:
    value = _value(score)
    beside = score if isinstance(score, dict) else {}
    metadata = {name: beside[name] for name in ("answer", "explanation", "metadata") if beside.get(name)}
    values = _values(value, graded)
    if not values:
        return failed(f"the score {value!r} is neither a number nor a text", "parse")
    return Score(scorer=key, values=values, metadata=metadata)


def _values(value: Any, graded: bool) -> dict[str, ScoreValue]:
    if isinstance(value, dict):
        return {key_of(name): made for name, each in value.items() if (made := _plain(each)) is not None}
    if graded and value is not None:
        return {"is_correct": GRADES[value] if value in GRADES else float(value)}
    made = _plain(value)
    return {} if made is None else {"value" if not isinstance(made, str) else "label": made}


def _plain(value: Any) -> ScoreValue | None:
    if isinstance(value, bool | int | float):
        return float(value)
    return value if isinstance(value, str) else None

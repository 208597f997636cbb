"""The samples of an Inspect log: a JSON document, or the .eval archive with one JSON member per sample."""

from __future__ import annotations

import struct
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from assay.datasets.json_document import as_json, dicts, mapping, wrong
from assay.types import Item, content_text

WANTED = "an Inspect log, a zip archive (.eval) or a JSON document"
ZSTD = 93
LARGEST_MEMBER = 1 << 30
ATTACHMENT = "attachment://"
"""The prefix of a reference to a text in the sample's attachments."""


def read_log(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the header of a log and its samples, with attachments resolved."""
    head, samples = _archive(path) if zipfile.is_zipfile(path) else _document(path)
    return head, [_whole(mapping(path, row, "a sample")) for row in samples]


def _whole(row: dict[str, Any]) -> dict[str, Any]:
    """Resolve a sample's attachments, and move the single score of old logs to the scores."""
    columns = {name: row.get(name) for name in ("input", "choices", "target", "messages", "output", "metadata")}
    attached = row.get("attachments")
    if isinstance(attached, dict) and attached:
        columns = {name: _attached(value, attached) for name, value in columns.items()}
    scores = row.get("scores") or ({"score": row["score"]} if row.get("score") else {})
    return {**row, **columns, "scores": scores if isinstance(scores, dict) else {}}


def _attached(value: Any, attached: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return attached.get(value.removeprefix(ATTACHMENT), value) if value.startswith(ATTACHMENT) else value
    if isinstance(value, list):
        return [_attached(entry, attached) for entry in value]
    if isinstance(value, dict):
        return {name: _attached(entry, attached) for name, entry in value.items()}
    return value


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
    """Sort numbers before texts, each in their own order, then by epoch."""
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
    except (zipfile.BadZipFile, OSError, ValueError, struct.error) as error:
        raise wrong(path, f"{info.filename} cannot be read: {error}") from error


def _raw(path: Path, info: zipfile.ZipInfo) -> bytes:
    """Return the compressed bytes of a member: Python's zipfile does not support zstd before 3.14."""
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


def input_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    inputs = {name: row[name] for name in ("input", "choices", "target") if row.get(name) is not None}
    metadata = row.get("metadata")
    return {**(metadata if isinstance(metadata, dict) else {}), **inputs}


def trace_items(messages: Any) -> Iterator[Item]:
    """Convert the messages of a sample to trace items; function calls and their outputs become separate items."""
    for message in dicts(messages):
        role = message.get("role")
        text = content_text(message.get("content"))
        if role == "tool":
            yield {"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": text}
        elif role is not None:
            yield {"type": "message", "role": str(role), "content": text}
        for call in dicts(message.get("tool_calls")):
            arguments = call.get("arguments")
            yield {
                "type": "function_call",
                "name": str(call.get("function")),
                "arguments": arguments if isinstance(arguments, str) else orjson.dumps(arguments or {}).decode(),
                "call_id": call.get("id"),
            }

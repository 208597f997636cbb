"""Recorded replies instead of a model: for tests, demos and dry runs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from assay.errors import Place, Problem, SpecError
from assay.models.client import CallError
from assay.models.connection import Connection
from assay.models.dialect import billed
from assay.models.price import FREE
from assay.spec.nearest import nearest
from assay.types import Failure, Reply, Request, Usage, content_text

_FIELDS = ("reply", "error", "match", "usage", "logprobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A recorded reply or error; with `match`, used only for messages that contain that text.

    `logprobs` are the tokens of the reply with their log-probabilities, as chat completions have them.
    """

    reply: str | None
    error: str | None = None
    match: str | None = None
    usage: Usage | None = None
    logprobs: Any = None


class Scripted:
    """A client that answers from lines: the first whose `match` is in the last message, else the others in turn."""

    def __init__(self, name: str, lines: Sequence[Line]) -> None:
        self.name = name
        self._matching = [line for line in lines if line.match is not None]
        self._in_turn = [line for line in lines if line.match is None]
        self._next = 0

    async def ask(self, request: Request) -> Reply:
        last = _last_text(request)
        line = (
            next(
                (candidate for candidate in self._matching if candidate.match is not None and candidate.match in last),
                None,
            )
            or self._turn()
        )
        if line.error is not None:
            raise CallError(Failure(stage="solve", kind="http", detail=line.error))
        text = line.reply
        usage = line.usage or Usage(prompt_tokens=len(last.encode()) // 4, completion_tokens=len(text or "") // 4)
        item = {"type": "message", "role": "assistant", "content": text}
        return Reply(text=text, items=(item,), usage=usage, finish_reason="stop", logprobs=line.logprobs)

    def _turn(self) -> Line:
        if not self._in_turn:
            detail = "no line of the script matches, and none is without match"
            raise CallError(Failure(stage="solve", kind="http", detail=detail))
        line = self._in_turn[self._next % len(self._in_turn)]
        self._next += 1
        return line


def connect_scripted(file: str, root: Path) -> Connection:
    """The replies of a JSONL file as a model."""
    path = root / file
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SpecError(f"scripted/{file}: cannot read {path}: {error.strerror}") from None
    name = f"scripted/{file}"
    client = Scripted(name, _lines(content, path))
    digest = hashlib.sha256(content).hexdigest()
    return Connection(name=name, client=client, identity={"provider": "scripted", "content": digest}, prices=FREE)


def _lines(content: bytes, path: Path) -> list[Line]:
    lines: list[Line] = []
    problems: list[Problem] = []
    for number, text in enumerate(content.splitlines(), start=1):
        if not text.strip():
            continue
        try:
            lines.append(_line(orjson.loads(text)))
        except SpecError as error:
            place = Place(str(path), number)
            problems += [Problem(message=p.message, suggestion=p.suggestion, place=place) for p in error.problems]
        except orjson.JSONDecodeError as error:
            problems.append(
                Problem(message=f"not valid JSON: {error.msg}", place=Place(str(path), number, error.colno))
            )
    if not lines and not problems:
        problems.append(Problem(message="the script has no lines", place=Place(str(path))))
    if problems:
        raise SpecError(problems)
    return lines


def _line(fields: Any) -> Line:
    if not isinstance(fields, dict):
        raise SpecError('expected an object such as {"reply": "A"}')
    for name in fields:
        if name not in _FIELDS:
            message = f'unknown field "{name}"; a line has {", ".join(_FIELDS)}'
            raise SpecError(Problem(message=message, suggestion=nearest(name, _FIELDS)))
    if ("reply" in fields) == (fields.get("error") is not None):
        raise SpecError('a line has either "reply" or "error"')
    error, match, usage = fields.get("error"), fields.get("match"), fields.get("usage")
    if match is not None and not isinstance(match, str):
        raise SpecError('"match" is the text to look for')
    if usage is not None and not isinstance(usage, Mapping):
        raise SpecError('"usage" is an object such as {"prompt_tokens": 10, "completion_tokens": 2}')
    return Line(
        reply=_reply_text(fields.get("reply")),
        error=None if error is None else error if isinstance(error, str) else orjson.dumps(error).decode(),
        match=match,
        usage=None if usage is None else _usage(usage),
        logprobs=_logprobs(fields.get("logprobs")),
    )


def _logprobs(tokens: Any) -> Any:
    """The log-probabilities of a reply; the same object wraps them that chat completions have."""
    if tokens is None:
        return None
    if not isinstance(tokens, list) or not all(isinstance(entry, Mapping) and "token" in entry for entry in tokens):
        raise SpecError('"logprobs" is a list of tokens such as {"token": "MET", "logprob": -0.1}')
    return {"content": tokens}


def _reply_text(reply: Any) -> str | None:
    """A reply that is not text is what a judge would write: JSON."""
    return reply if reply is None or isinstance(reply, str) else orjson.dumps(reply).decode()


def _usage(usage: Mapping[str, Any]) -> Usage:
    stated = {"prompt_tokens": 0, "completion_tokens": 0, **usage}
    return billed(stated, ("prompt_tokens",), ("completion_tokens",)) or Usage()


def _last_text(request: Request) -> str:
    if request.messages:
        return content_text(request.messages[-1].get("content"))
    body = request.body
    return body if isinstance(body, str) else orjson.dumps(body).decode()

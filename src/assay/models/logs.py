"""What a run does, event by event, through the standard library's logger "assay"; off unless somebody asks for it.

Every event is a record whose message is the name of the event and whose `fields` hold the rest. Secrets are hidden
before a record exists, so that any handler may write it.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from assay.errors import SpecError
from assay.models.client import CallError, Client
from assay.models.redact import redact
from assay.text import clean
from assay.types import Reply, Request

DEBUG, INFO, WARNING = logging.DEBUG, logging.INFO, logging.WARNING
OFF = logging.CRITICAL + 1
LOGGER = logging.getLogger("assay")
# a program that wants events sets a level and a handler; until then nothing is made, and nothing reaches stderr
LOGGER.setLevel(OFF)
LOGGER.addHandler(logging.NullHandler())

_CONTEXT: ContextVar[Mapping[str, object]] = ContextVar("assay_log_context")
_NOTHING: Mapping[str, object] = {}
_SECRETS: set[str] = set()


def is_on(level: int = DEBUG) -> bool:
    """Return whether events of this level go anywhere; cheap enough to ask before every call."""
    return LOGGER.isEnabledFor(level)


def hide(secrets: Iterable[str]) -> None:
    """Hide these values in all later events."""
    _SECRETS.update(secrets)


def bind(**fields: object) -> None:
    """Add fields to all later events of the current task."""
    _CONTEXT.set({**_CONTEXT.get(_NOTHING), **fields})


@contextmanager
def within(**fields: object) -> Iterator[None]:
    """Add fields to the events of a block."""
    token = _CONTEXT.set({**_CONTEXT.get(_NOTHING), **fields})
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def event(level: int, name: str, **fields: object) -> None:
    """Log an event with its fields and those of its task; fields that are None are left out."""
    if not LOGGER.isEnabledFor(level):
        return
    values = {
        key: redact(value, _SECRETS) if isinstance(value, str) else value
        for key, value in {**_CONTEXT.get(_NOTHING), **fields}.items()
        if value is not None
    }
    LOGGER.log(level, name, extra={"fields": values})


class Logged:
    """A client that logs every attempt: its model, latency, tokens, and how it ended.

    `identity` is that of the connection: it names the provider, and the model as the provider calls it.
    """

    def __init__(self, client: Client, identity: Mapping[str, object] = _NOTHING) -> None:
        self.name = client.name
        self._client = client
        self._fields = {
            "model": client.name,
            "provider": identity.get("provider"),
            "request_model": identity.get("model") or client.name,
            "operation": "embeddings" if identity.get("adapter") == "embeddings" else "chat",
        }

    async def ask(self, request: Request) -> Reply:
        started = time.perf_counter()
        try:
            reply = await self._client.ask(request)
        except CallError as error:
            failure = error.failure
            self._log(request, started, status="failed", http=error.status, failure=failure.kind, detail=failure.detail)
            raise
        except BaseException as error:
            self._log(request, started, status="stopped", failure=type(error).__name__)
            raise
        usage = reply.usage
        tokens = {"input_tokens": usage.prompt_tokens, "output_tokens": usage.completion_tokens}
        self._log(request, started, status="ok", finish_reason=reply.finish_reason, **tokens)
        return reply

    def _log(self, request: Request, started: float, **fields: object) -> None:
        latency_s = round(time.perf_counter() - started, 6)
        event(DEBUG, "call", **self._fields, purpose=request.purpose, latency_s=latency_s, **fields)


class JsonLines(logging.Formatter):
    """Formats an event as one line of JSON that a terminal can show."""

    def format(self, record: logging.LogRecord) -> str:
        document = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", _NOTHING),
        }
        line = json.dumps(document, ensure_ascii=False, default=str)
        # control characters, surrogates and characters that change the direction of text
        return line if line.isprintable() else json.dumps(document, default=str)


class Text(logging.Formatter):
    """Formats an event as one line for people."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", _NOTHING)
        words = [f"{key}={value}" for key, value in fields.items()]
        moment = datetime.fromtimestamp(record.created).astimezone()
        return clean(" ".join((f"{moment:%H:%M:%S}", record.levelname.lower(), record.getMessage(), *words)))


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


class _Lines(logging.StreamHandler[TextIO]):
    """Writes events as lines; a terminal's progress line is erased first, and a full disk does not stop the run."""

    def __init__(self, stream: TextIO, formatter: logging.Formatter, level: int) -> None:
        super().__init__(stream)
        self.setFormatter(formatter)
        self.setLevel(level)
        self._erase = "\r\x1b[2K" if stream.isatty() else ""

    def format(self, record: logging.LogRecord) -> str:
        return self._erase + super().format(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the standard library's
        # said once: the next event would fail in the same way
        self.setLevel(OFF)
        error = sys.exc_info()[1]
        reason = getattr(error, "strerror", None) or error
        sys.stderr.write(f"events are no longer logged: {clean(str(reason))}\n")


@contextmanager
def log_to(file: Path | None, verbose: int) -> Iterator[None]:
    """Write the events of a block to a file, and to stderr: with verbose 1 those of level info or above, with 2 all."""
    handlers: list[logging.Handler] = []
    out = None
    if file is not None:
        out = _opened(file)
        handlers.append(_Lines(out, JsonLines(), DEBUG))
    if verbose:
        handlers.append(_Lines(sys.stderr, Text(), INFO if verbose == 1 else DEBUG))
    before = LOGGER.level
    try:
        for handler in handlers:
            LOGGER.addHandler(handler)
        if handlers:
            LOGGER.setLevel(min(before, *(handler.level for handler in handlers)))
        yield
    finally:
        LOGGER.setLevel(before)
        for handler in handlers:
            LOGGER.removeHandler(handler)
        if out is not None:
            # a full disk was reported when a line could not be written
            with suppress(OSError):
                out.close()


def _opened(file: Path) -> TextIO:
    """Open a log file for appending; a new one is for its owner only, because it holds names and messages."""
    try:
        number = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as error:
        raise SpecError(f"cannot write the log file {clean(str(file))}: {error.strerror}") from None
    return os.fdopen(number, "a", encoding="utf-8")

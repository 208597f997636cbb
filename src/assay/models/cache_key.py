"""The key of a call: a digest of all that decides its reply, so that nothing is paid for twice or mixed up."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from assay.types import Request


def endpoint_prefix(identity: Mapping[str, Any], salt: str = "") -> bytes:
    """Return the endpoint's part of every key: provider, address, model and adapter, never a secret.

    A `salt` sets the calls of one run apart from the same calls of others.
    """
    return orjson.dumps({**identity, "salt": salt} if salt else identity, option=orjson.OPT_SORT_KEYS)


@dataclass(slots=True)
class _Sampling:
    """The sampling of a request as keys have it, in the order of their bytes."""

    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    seed: int | None
    stop: tuple[str, ...] | None
    reasoning_effort: str | None


@dataclass(slots=True)
class _Content:
    """The content of a request as keys have it: the names and the order of these fields are the bytes.

    Replies that were paid for lie under keys of this form. A field that a request gains later joins only where it is
    not at its default, so that every older key stays valid.
    """

    messages: tuple[Mapping[str, Any], ...]
    sampling: _Sampling
    schema: Mapping[str, Any] | None
    purpose: str
    repeat: int
    occurrence: int
    body: Any


def canonical(request: Request) -> bytes:
    """The request as bytes that are the same for the same content, whatever the order of its keys.

    The occurrence joins only when the model answers at random: at temperature 0 the same question has one answer.
    """
    sampling = request.sampling
    content = _Content(
        request.messages,
        _Sampling(
            sampling.temperature,
            sampling.top_p,
            sampling.max_tokens,
            sampling.seed,
            sampling.stop,
            sampling.reasoning_effort,
        ),
        request.schema,
        request.purpose,
        request.repeat,
        0 if sampling.temperature == 0 else request.occurrence,
        request.body,
    )
    if request.sample is None:
        return orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    together = {"request": content, "sample": request.sample}
    return orjson.dumps(together, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)


def call_key(prefix: bytes, content: bytes) -> bytes:
    """Return the key of a call, under which its reply is stored."""
    return hashlib.sha256(prefix + b"\n" + content).digest()

"""The key of a call: a digest of all that decides its reply, so that nothing is paid for twice or mixed up."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from assay.types import Request


def endpoint_prefix(identity: Mapping[str, Any], salt: str = "") -> bytes:
    """What an endpoint adds to every key: provider, address, model, adapter; never a secret.

    A `salt` sets the calls of one run apart from the same calls of others.
    """
    return orjson.dumps({**identity, "salt": salt} if salt else identity, option=orjson.OPT_SORT_KEYS)


def canonical(request: Request) -> bytes:
    """The request as bytes that are the same for the same content, whatever the order of its keys.

    The occurrence joins only when the model answers at random: at temperature 0 the same question has one answer.
    """
    if request.occurrence and request.sampling.temperature == 0:
        request = replace(request, occurrence=0)
    return orjson.dumps(request, option=orjson.OPT_SORT_KEYS)


def call_key(prefix: bytes, content: bytes) -> bytes:
    """The key under which the reply is kept."""
    return hashlib.sha256(prefix + b"\n" + content).digest()

"""The embeddings dialect, which turns a text into a vector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import orjson

from assay.models.dialect import EndpointQuirks, billed, error_message, malformed, read_json
from assay.models.endpoint import Answer, status_error
from assay.types import Reply, Request, Usage, content_text


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Embeddings of one model; the reply's text is the vector as a JSON list."""

    model: str | None

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        text = content_text(request.messages[-1].get("content")) if request.messages else ""
        return orjson.dumps({**({} if self.model is None else {"model": self.model}), "input": text})

    def reply(self, answer: Answer) -> Reply:
        document = read_json(answer)
        if not 200 <= answer.status < 300:
            raise status_error(answer, error_message(document, answer.body))
        try:
            vector = document["data"][0]["embedding"]
        except (KeyError, IndexError, TypeError):
            raise malformed(error_message(document, b"") or "the answer has no data[0].embedding") from None
        if not is_vector(vector):
            raise malformed("data[0].embedding is not a list of finite numbers")
        stated = document.get("usage")
        usage = billed({**stated, "none": 0}, ("prompt_tokens",), ("none",)) if isinstance(stated, dict) else None
        return Reply(
            text=orjson.dumps(vector).decode(),
            usage=usage or Usage(),
            usage_missing=usage is None,
            finish_reason="stop",
            latency_s=answer.latency_s,
        )


def is_vector(value: Any) -> bool:
    """Return whether a value is a non-empty list of finite numbers."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in value)
    )

"""One tiny question to a model, and a failure explained in words."""

from __future__ import annotations

from dataclasses import dataclass

from assay.models.client import CallError
from assay.models.connection import Connection
from assay.types import Request, Sampling

_TOKENS = 16
"""Some endpoints refuse less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PingResult:
    """Whether a model answers; if not, why, and what to do about it."""

    ok: bool
    message: str
    latency_s: float | None = None


async def ping(connection: Connection) -> PingResult:
    """Ask a model for one word, without storing, policies or retries."""
    request = Request(
        messages=({"role": "user", "content": "Say OK."},), sampling=Sampling(max_tokens=_TOKENS), purpose="answer"
    )
    try:
        reply = await connection.client.ask(request)
    except CallError as error:
        return PingResult(ok=False, message=f"{connection.name}: {explained(error, connection)}")
    if reply.text is None and reply.finish_reason == "length":
        answered = "it answers, though all it may write here went into reasoning"
    else:
        answered = f"it answers in {reply.latency_s:.2f} s"
    return PingResult(ok=True, message=f"{connection.name}: {answered}", latency_s=reply.latency_s)


def explained(error: CallError, connection: Connection) -> str:
    """Explain a failed call and its fix."""
    detail = error.failure.detail
    status = error.status
    model = connection.identity.get("model") or connection.name
    if status in (401, 403):
        reason = "the key is wrong" if status == 401 else "the key may not use this model"
        return " ".join(filter(None, (f"{reason} ({detail}).", connection.key_hint)))
    if status == 404:
        endpoint = connection.identity.get("endpoint", "")
        return f'unknown model name "{model}" or wrong address {endpoint} ({detail})'
    if status == 429:
        return f"the key and address are right, but the rate limit or the quota is used up ({detail})"
    if status == 400:
        return f"the endpoint does not understand the request; check the address and the adapter ({detail})"
    if status is not None and status >= 500:
        return f"the endpoint has a problem of its own; try again later ({detail})"
    if error.failure.kind == "timeout":
        return f"{detail}; check the address and the network, or raise `timeout` in the model file"
    return detail

"""A Python function as a model."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from assay.models.callable_identity import VERSION, callable_identity
from assay.models.chat import reply_of
from assay.models.client import CallError
from assay.models.connection import Connection
from assay.models.dialect import EndpointQuirks, parameters, safe
from assay.types import Failure, Reply, Request

_PLAIN = EndpointQuirks()


class FunctionClient:
    """A client that calls a function with the messages and the parameters that are set."""

    def __init__(self, name: str, function: Callable[..., Any], notes: tuple[str, ...] = ()) -> None:
        self.name = name
        self.notes = notes
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object whose call is a coroutine
        )

    async def ask(self, request: Request) -> Reply:
        options: dict[str, Any] = parameters(request.sampling, _PLAIN)
        if request.schema is not None:
            options["schema"] = request.schema
        messages = request.body if request.body is not None else [dict(item) for item in request.messages]
        started = time.monotonic()
        try:
            if self._is_async:
                result = await self._function(messages, **options)
            else:
                result = await asyncio.to_thread(self._function, messages, **options)
        except CallError:
            raise
        # the boundary to user code: whatever it raises is the failure of this sample
        except Exception as error:
            detail = f"{self.name} raised {type(error).__name__}: {error}"
            raise CallError(Failure(stage="solve", kind="code", detail=detail[:500])) from error
        return self._reply(result, time.monotonic() - started)

    def _reply(self, result: Any, latency_s: float) -> Reply:
        if isinstance(result, str) or result is None:
            item = {"type": "message", "role": "assistant", "content": result}
            return safe(Reply(text=result, items=(item,), finish_reason="stop", latency_s=latency_s))
        if isinstance(result, Mapping):
            document = result if "choices" in result else _completion(result)
            # nobody bills for a function: no usage is no usage
            return replace(safe(reply_of(document, latency_s)), usage_missing=False)
        detail = f"{self.name} returned {type(result).__name__}; expected text, a message or a chat completion"
        raise CallError(Failure(stage="solve", kind="code", detail=detail))


def _completion(message: Mapping[str, Any]) -> dict[str, Any]:
    """A bare message, perhaps with `usage` and `finish_reason` beside its content, as a completion."""
    rest = {name: value for name, value in message.items() if name not in ("usage", "finish_reason", "logprobs")}
    choice = {"message": {"role": "assistant", **rest}, "finish_reason": message.get("finish_reason", "stop")}
    if "logprobs" in message:
        choice["logprobs"] = message["logprobs"]
    return {"choices": [choice], "usage": message.get("usage")}


def connect_callable(function: Callable[..., Any]) -> Connection:
    """A function as a model; its source and everything it depends on decide the keys of its replies."""
    # an object with __call__ has no qualified name of its own: its class has
    named = function if hasattr(function, "__qualname__") else type(function)
    name = f"{named.__module__}.{named.__qualname__}"
    source = callable_identity(function)
    identity = {"provider": "callable", "model": name, "adapter": source.digest}
    notes: tuple[str, ...] = ()
    if source.unknown is not None:
        notes = (
            f"replies of {name} are not reused by other processes: its answers may depend on {source.unknown}, which "
            f'cannot be compared; set {VERSION} = "..." on it to say when they may be',
        )
    return Connection(name=name, client=FunctionClient(name, function, notes), identity=identity)

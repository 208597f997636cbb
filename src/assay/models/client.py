"""The interface of a model, and its failures."""

from __future__ import annotations

from typing import Protocol

from assay.errors import RunError
from assay.types import Failure, Reply, Request

REJECTED = frozenset({401, 403, 404})
"""Key, permission, address or model name: the next call would be refused as well."""
HOPELESS_AFTER = 10
"""After so many failures in a row, asking on would only waste time and money."""


class Client(Protocol):
    """A model that can be asked. Policies (limit, retry, price, cache) are clients that wrap a client."""

    name: str

    async def ask(self, request: Request) -> Reply:
        """Return the model's reply; raise CallError if there is none."""
        ...


class CallError(Exception):
    """A call without a usable reply; becomes the failure of a sample unless a retry succeeds."""

    def __init__(self, failure: Failure, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(failure.detail)
        self.failure = failure
        self.status = status
        self.retry_after_s = retry_after_s


class ModelRejected(RunError):
    """The endpoint refuses every call (key, model name, address): asking on would only waste time and money."""

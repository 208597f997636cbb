"""A model that is ready to be asked: its client, what identifies it, and the policies it wants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.models.client import Client
from assay.models.limit import NO_LIMITS, Limits
from assay.models.price import Prices
from assay.models.retry import USUAL_RETRIES, RetryPolicy
from assay.spec.code import Code
from assay.types import Sampling


async def _nothing_to_close() -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A connected model. `client` speaks the wire protocol only; the runner wraps policies around it.

    `identity` decides the keys of calls: it holds everything about the endpoint that can change a reply,
    and never a secret. `key_hint` is a sentence that names the variable to look at when the key is refused.
    `custom_output` says that answers need not be chat replies.
    """

    name: str
    client: Client = field(repr=False)
    identity: Mapping[str, Any]
    limits: Limits = NO_LIMITS
    retry: RetryPolicy = USUAL_RETRIES
    prices: Prices | None = None
    sampling: Sampling = field(default_factory=Sampling)
    key_hint: str = ""
    custom_output: bool = False
    resources: Mapping[str, float] = field(default_factory=dict)
    """What a Ray actor that asks this model needs, such as `num_gpus`."""
    closing: Callable[[], Awaitable[None]] = field(default=_nothing_to_close, repr=False)

    @property
    def codes(self) -> tuple[Code, ...]:
        """The user's code that runs when the model is asked; none but for models that are code."""
        return tuple(getattr(self.client, "codes", ()))

    @property
    def reads_sample(self) -> bool:
        """Return whether the model is a function that reads the sample, so that its reply depends on it."""
        return bool(getattr(self.client, "reads_sample", False))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the values that no message may show."""
        return tuple(getattr(self.client, "secrets", ()))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on adjustments for the endpoint, such as an unsupported parameter."""
        return tuple(getattr(self.client, "notes", ()))

    async def close(self) -> None:
        """Give back connections, threads and memory."""
        await self.closing()

"""The models of a run: resolved by name before anything is spent, then wrapped in every policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from assay.errors import SpecError
from assay.models import logs
from assay.models.cache import Remembered
from assay.models.cache_key import endpoint_prefix
from assay.models.client import Client
from assay.models.connect import Connection
from assay.models.limit import Limited
from assay.models.retry import RetryBudget, Retrying
from assay.runner.budget import Budgeted, SpendingLimit
from assay.runner.reply_cache import ReplyCache


@dataclass(frozen=True, slots=True)
class Policies:
    """The wrapped client of one model, and those of its layers that can be watched."""

    client: Client
    limited: Limited
    retrying: Retrying
    connection: Connection


def _distinct(connections: Mapping[str | None, Connection]) -> list[Connection]:
    return list({id(connection): connection for connection in connections.values()}.values())


class Models:
    """Every model of a run by its key; None is the one that answers. Without a memory every call is asked."""

    def __init__(
        self,
        connections: Mapping[str | None, Connection],
        memory: ReplyCache | None,
        *,
        purse: SpendingLimit | None = None,
        max_concurrency: int | None = None,
        salt: str = "",
    ) -> None:
        self._budget = RetryBudget()
        self._memory = memory
        self._purse = purse
        self._most = max_concurrency
        self._salt = salt
        # the same model may answer and judge: its limits are one endpoint's limits
        policies = {id(connection): self._wrap(connection) for connection in _distinct(connections)}
        self.by_key: dict[str | None, Policies] = {
            key: policies[id(connection)] for key, connection in connections.items()
        }

    def _wrap(self, connection: Connection) -> Policies:
        limits = connection.limits
        if self._most is not None:
            limits = replace(limits, concurrent=min(self._most, limits.concurrent) if limits.declared else self._most)
        proven = self._memory is not None and self._memory.knows(connection.name)
        asked = connection.client
        if logs.is_on():
            logs.hide(connection.secrets)
            asked = logs.Logged(asked, connection.identity)
        limited = Limited(asked, limits, proven=proven)
        retrying = Retrying(limited, connection.retry, self._budget, key_hint=connection.key_hint, proven=proven)
        client: Client = retrying
        if self._purse is not None:
            if connection.prices is None:
                raise SpecError(
                    f"--max-cost cannot be kept: the price of {connection.name} is not known; "
                    "add `prices` to its model file"
                )
            client = Budgeted(client, connection.prices, self._purse)
        if self._memory is not None:
            prefix = endpoint_prefix(connection.identity, self._salt)
            client = Remembered(client, self._memory, prefix, prices=connection.prices)
        return Policies(client, limited, retrying, connection)

    @property
    def in_flight(self) -> int:
        return sum(policies.limited.in_flight for policies in self._distinct())

    @property
    def width(self) -> int:
        """Return the maximum number of calls in flight, over all models."""
        return sum(policies.limited.full for policies in self._distinct())

    def waiting(self, now: float) -> str:
        """Describe what the run is waiting for; empty if nothing."""
        for policies in self._distinct():
            pending = policies.retrying.waiting
            if pending and policies.limited.in_flight == 0:
                reason, until = min(pending.values(), key=lambda entry: entry[1])
                return f"{policies.client.name}: {reason}, next try in {max(0, until - now):.0f} s"
        return ""

    def _distinct(self) -> list[Policies]:
        return list({id(policies): policies for policies in self.by_key.values()}.values())

    async def close(self) -> None:
        for policies in self._distinct():
            await policies.connection.close()

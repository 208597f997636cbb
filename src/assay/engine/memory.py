"""What was paid for, from the moment of the reply: first on its way to the store, then in it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Literal

from assay.store.calls import CallReader
from assay.store.store import Store
from assay.types import PaidCall, Reply

CachePolicy = Literal["reuse", "update", "no-cache"]


class RunMemory:
    """The replies a run may use. `update` sees only what the run itself paid for."""

    def __init__(self, store: Store, run_no: int, policy: CachePolicy = "reuse") -> None:
        self._reader = CallReader(store, only_run=None if policy == "reuse" else run_no)
        self._pending: dict[bytes, PaidCall] = {}
        self._committing: dict[bytes, PaidCall] = {}
        self.spent_usd: Decimal = Decimal(0)
        self.unpriced = False

    def get(self, key: bytes) -> Reply | None:
        call = self._pending.get(key) or self._committing.get(key)
        if call is None:
            return self._reader.get(key)
        return _free(call.reply)

    def keep(self, call: PaidCall) -> None:
        self._pending[call.key] = call
        if call.reply.cost_usd is None:
            self.unpriced = True
        else:
            self.spent_usd += call.reply.cost_usd

    def hand_over(self) -> list[PaidCall]:
        """What waits to be committed; it stays readable until `committed`."""
        self._committing = self._pending
        self._pending = {}
        return list(self._committing.values())

    def committed(self) -> None:
        self._committing = {}

    @property
    def waiting(self) -> int:
        """How many replies are not committed yet."""
        return len(self._pending)

    def close(self) -> None:
        self._reader.close()


def _free(reply: Reply) -> Reply:
    return replace(reply, cached=True, cost_usd=Decimal(0))

"""Paid replies from the moment of arrival: first waiting to be written, then in the store."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from assay.prepare.plan import CachePolicy
from assay.store.calls import CallReader
from assay.store.store import Store
from assay.types import PaidCall, Reply


class KeyFilter:
    """A filter that rules out keys never seen; a positive may be wrong, which the store then shows.

    A look into the store takes a hundred times as long. The table is of fixed size (a Bloom filter), so that memory
    stays flat however many replies there are: a million keys give one wrong yes in about four thousand.
    """

    BITS = 1 << 25

    def __init__(self, keys: Iterable[bytes] = ()) -> None:
        self._table = bytearray(self.BITS // 8)
        for key in keys:
            self.add(key)

    def add(self, key: bytes) -> None:
        table = self._table
        for word in _WORDS(key):
            table[word >> 3 & _LAST] |= 1 << (word & 7)

    def __contains__(self, key: bytes) -> bool:
        table = self._table
        # a key is a sha256: any four bytes of it are as good as a hash of their own
        for word in _WORDS(key):  # noqa: SIM110 - a generator costs more than the look into the table
            if not table[word >> 3 & _LAST] >> (word & 7) & 1:
                return False
        return True


_WORDS = struct.Struct(">5I").unpack_from
_LAST = KeyFilter.BITS // 8 - 1


class ReplyCache:
    """The replies a run may use. `update` sees only what the run itself paid for."""

    def __init__(self, store: Store, run_no: int, policy: CachePolicy = "reuse") -> None:
        self._reader = CallReader(store, only_run=None if policy == "reuse" else run_no)
        self._stored = KeyFilter(self._reader.keys())
        self._pending: dict[bytes, PaidCall] = {}
        self._committing: dict[bytes, PaidCall] = {}
        self.spent_usd: Decimal = Decimal(0)
        self.unpriced = False

    def get(self, key: bytes) -> Reply | None:
        if key not in self._stored:
            return None
        call = self._pending.get(key) or self._committing.get(key)
        # a reply that this run has paid for costs nothing when it is asked for again
        return self._reader.get(key) if call is None else replace(call.reply, cached=True)

    def keep(self, call: PaidCall) -> None:
        self._pending[call.key] = call
        self._stored.add(call.key)
        if call.cost_usd is None:
            self.unpriced = True
        else:
            self.spent_usd += call.cost_usd

    def knows(self, model: str) -> bool:
        """Did this model ever answer?"""
        return self._reader.has_answered(model)

    def hand_over(self) -> list[PaidCall]:
        """Return the replies waiting to be committed; they stay readable until `committed`."""
        self._committing = self._pending
        self._pending = {}
        return list(self._committing.values())

    def committed(self) -> None:
        self._committing = {}

    @property
    def runs_used(self) -> frozenset[int]:
        """Return the numbers of the runs whose replies were used, including this one if it was resumed."""
        return frozenset(self._reader.runs_used)

    @property
    def waiting(self) -> int:
        """Return the number of replies not committed yet."""
        return len(self._pending)

    def close(self) -> None:
        self._reader.close()

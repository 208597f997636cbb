"""Spending stops before the limit is passed, not after."""

from __future__ import annotations

import asyncio
from decimal import Decimal

from assay.models.client import Client
from assay.models.limit import most_usage
from assay.models.price import Prices
from assay.types import Reply, Request

LEARNED_AFTER = 20
"""The number of replies after which their lengths predict the next one better than the usual limit."""
MARGIN = 4
"""A reply may be so many times as long as the longest one so far."""


class BudgetReached(Exception):
    """The next call could pass the spending limit: no more calls are started."""


class SpendingLimit:
    """The budget of a run: spent so far, and reserved for calls in flight.

    A call that may cost more than what is left waits for those in flight, which mostly cost less than they might.
    """

    def __init__(self, limit_usd: Decimal, *, spent_usd: Decimal = Decimal(0)) -> None:
        self._limit = limit_usd
        self._spent = spent_usd
        self._promised = Decimal(0)
        self._in_flight = 0
        self._settled = asyncio.Condition()

    def note_spent(self, paid_usd: Decimal) -> None:
        """Money that an earlier process has paid for the same work."""
        self._spent += paid_usd

    async def promise(self, most_usd: Decimal) -> None:
        """Reserve money for a call; raise BudgetReached if it is not available and will not be returned."""
        async with self._settled:
            while self._spent + self._promised + most_usd > self._limit:
                # nothing in flight means that no promised money can come back: waiting would never end
                if self._in_flight == 0:
                    raise BudgetReached
                await self._settled.wait()
            self._promised += most_usd
            self._in_flight += 1

    async def settle(self, most_usd: Decimal, paid_usd: Decimal) -> None:
        """The call is over and cost what it cost."""
        async with self._settled:
            self._spent += paid_usd
            self._promised -= most_usd
            self._in_flight -= 1
            self._settled.notify_all()


class Budgeted:
    """A client that starts a call only when the purse can bear the most it may cost."""

    def __init__(self, client: Client, prices: Prices, purse: SpendingLimit) -> None:
        self.name = client.name
        self._client = client
        self._prices = prices
        self._purse = purse
        self._n_seen = 0
        self._longest = 0

    async def ask(self, request: Request) -> Reply:
        most_usd = self._prices.cost(most_usage(request, self._reply_tokens))
        await self._purse.promise(most_usd)
        paid_usd = Decimal(0)
        try:
            reply = await self._client.ask(request)
            paid_usd = self._prices.cost(reply.usage)
            if not reply.usage_missing:
                self._n_seen += 1
                self._longest = max(self._longest, reply.usage.completion_tokens)
            return reply
        finally:
            await self._purse.settle(most_usd, paid_usd)

    @property
    def _reply_tokens(self) -> int | None:
        """Return the expected maximum length of a reply without its own limit; None while too little is known."""
        return max(1, MARGIN * self._longest) if self._n_seen >= LEARNED_AFTER else None

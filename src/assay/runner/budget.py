"""Spending stops before the limit is passed, not after."""

from __future__ import annotations

import asyncio
from decimal import Decimal

from assay.models.client import Client
from assay.models.limit import estimate_tokens
from assay.models.price import Prices
from assay.types import Reply, Request, Usage

REPLY_TOKENS = 4_096
"""What a reply is taken to cost at most when the task sets no max_tokens."""


class BudgetReached(Exception):
    """The next call could pass the spending limit: no more calls are started."""


class SpendingLimit:
    """What a run may spend: paid so far, and promised to calls in flight.

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
        """Set money aside for a call; raises BudgetReached when it is not there and will not come back."""
        async with self._settled:
            while self._spent + self._promised + most_usd > self._limit:
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

    async def ask(self, request: Request) -> Reply:
        most_usd = most_cost(request, self._prices)
        await self._purse.promise(most_usd)
        paid_usd = Decimal(0)
        try:
            reply = await self._client.ask(request)
            paid_usd = self._prices.cost(reply.usage)
            return reply
        finally:
            await self._purse.settle(most_usd, paid_usd)


def most_cost(request: Request, prices: Prices) -> Decimal:
    """The most that a call may cost: its prompt, generously counted, and all the tokens it may write."""
    allowed = request.sampling.max_tokens or REPLY_TOKENS
    # a token is at least one byte, so bytes bound the prompt's tokens from above; a few more frame each message
    prompt = (estimate_tokens(request) - (request.sampling.max_tokens or 0)) * 4 + 16 * len(request.messages) + 64
    return prices.cost(Usage(prompt_tokens=int(prompt), completion_tokens=allowed))

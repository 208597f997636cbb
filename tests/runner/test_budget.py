"""Spending stops before the limit is passed, not after."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal

import pytest

from assay.models.client import CallError
from assay.models.limit import most_usage
from assay.models.price import Prices
from assay.runner.budget import Budgeted, BudgetReached, SpendingLimit
from assay.types import Failure, Reply, Request, Sampling, Usage

PRICES = Prices(input_per_million=Decimal(1), output_per_million=Decimal(2))


def question(text="What?", max_tokens=10):
    return Request(messages=({"role": "user", "content": text},), sampling=Sampling(max_tokens=max_tokens))


def test_promises_hold_money_until_they_are_settled():
    async def scenario():
        purse = SpendingLimit(Decimal(10), spent_usd=Decimal(4))
        await purse.promise(Decimal(5))
        waiting = asyncio.create_task(purse.promise(Decimal(3)))
        await asyncio.sleep(0)
        assert not waiting.done(), "5 of the 6 that are left are promised"
        await purse.settle(Decimal(5), Decimal(1))
        await waiting
        await purse.settle(Decimal(3), Decimal(3))
        with pytest.raises(BudgetReached):
            await purse.promise(Decimal("2.01"))
        await purse.promise(Decimal(2))

    asyncio.run(scenario())


def test_nobody_waits_for_money_that_will_not_come_back():
    async def scenario():
        with pytest.raises(BudgetReached):
            await SpendingLimit(Decimal(1), spent_usd=Decimal(1)).promise(Decimal("0.000001"))

    asyncio.run(scenario())


class Model:
    """Bills at random up to what a call may cost, and sometimes fails."""

    name = "model"

    def __init__(self, prices):
        self.draw = random.Random(3)
        self.billed = Decimal(0)
        self.prices = prices

    async def ask(self, request):
        await asyncio.sleep(self.draw.random() / 1_000)
        if self.draw.random() < 0.1:
            raise CallError(Failure(stage="solve", kind="http", detail="500"), status=500)
        usage = Usage(prompt_tokens=self.draw.randint(1, 5), completion_tokens=self.draw.randint(1, 10))
        self.billed += self.prices.cost(usage)
        return Reply(text="x", usage=usage)


def test_however_many_ask_at_once_the_limit_holds():
    async def scenario():
        model = Model(PRICES)
        limit = 50 * PRICES.cost(most_usage(question()))
        client = Budgeted(model, PRICES, SpendingLimit(limit, spent_usd=Decimal(0)))
        outcomes = await asyncio.gather(*(client.ask(question()) for _ in range(2_000)), return_exceptions=True)
        assert any(isinstance(outcome, BudgetReached) for outcome in outcomes)
        assert any(isinstance(outcome, CallError) for outcome in outcomes)
        assert limit - PRICES.cost(most_usage(question())) < model.billed <= limit, "close to the limit, never past it"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("text", "max_tokens", "least"),
    [
        ("x" * 100, 10, 100 + 2 * 10),
        ("x" * 100, None, 100 + 2 * 4_096),
        ("日" * 100, 10, 300 + 2 * 10),
    ],
)
def test_the_most_a_call_may_cost_bounds_its_bytes_and_its_reply(text, max_tokens, least):
    micro = PRICES.cost(most_usage(question(text, max_tokens))) * 1_000_000
    assert least <= micro <= least + 200

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from assay.models.cache import Remembered
from assay.models.client import CallError
from assay.models.price import Prices
from assay.types import Failure, PaidCall, Reply, Request, Usage

ASKED = Request(messages=({"role": "user", "content": "hi"},))


class Memory:
    def __init__(self) -> None:
        self.kept: dict[bytes, PaidCall] = {}

    def get(self, key: bytes) -> Reply | None:
        return self.kept[key].reply if key in self.kept else None

    def keep(self, call: PaidCall) -> None:
        self.kept[call.key] = call


class Slow:
    name = "slow"

    def __init__(self, error: Exception | None = None) -> None:
        self.asked = 0
        self.error = error

    async def ask(self, request: Request) -> Reply:
        self.asked += 1
        await asyncio.sleep(0.02)
        if self.error is not None:
            raise self.error
        return Reply(text=f"reply {self.asked}", usage=Usage(prompt_tokens=3))


def test_twins_in_flight_share_one_call_and_only_one_pays():
    async def go():
        client, memory = Slow(), Memory()
        prices = Prices(input_per_million=Decimal(1), output_per_million=Decimal(1))
        remembered = Remembered(client, memory, b"prefix", prices=prices)
        replies = await asyncio.gather(*(remembered.ask(ASKED) for _ in range(5)))
        later = await remembered.ask(ASKED)
        return client.asked, replies, later, memory

    asked, replies, later, memory = asyncio.run(go())
    assert asked == 1
    assert [reply.cached for reply in replies] == [False] + [True] * 4
    assert {reply.text for reply in (*replies, later)} == {"reply 1"}
    ((key, call),) = memory.kept.items()
    assert replies[0].key == key
    assert (call.model, call.purpose, call.cost_usd) == ("slow", "answer", Decimal("0.000003"))


def test_another_endpoint_or_another_request_is_another_call():
    async def go():
        client, memory = Slow(), Memory()
        one, other = Remembered(client, memory, b"one"), Remembered(client, memory, b"other")
        await asyncio.gather(one.ask(ASKED), other.ask(ASKED), one.ask(Request(body="x")))
        return client.asked

    assert asyncio.run(go()) == 3


def test_an_error_reaches_every_twin_and_is_not_kept():
    async def go():
        client, memory = Slow(CallError(Failure(stage="solve", kind="http", detail="no"))), Memory()
        remembered = Remembered(client, memory, b"")
        outcomes = await asyncio.gather(*(remembered.ask(ASKED) for _ in range(3)), return_exceptions=True)
        assert all(isinstance(outcome, CallError) for outcome in outcomes)
        assert memory.kept == {}
        with pytest.raises(CallError):
            await remembered.ask(ASKED)
        return client.asked

    assert asyncio.run(go()) == 2


def test_when_the_one_that_pays_is_stopped_the_next_in_line_pays():
    async def go():
        client = Slow()
        remembered = Remembered(client, Memory(), b"")
        tasks = [asyncio.create_task(remembered.ask(ASKED)) for _ in range(3)]
        await asyncio.sleep(0.005)
        tasks[0].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True), client.asked

    (first, *others), asked = asyncio.run(go())
    assert isinstance(first, asyncio.CancelledError)
    assert [reply.text for reply in others] == ["reply 2"] * 2
    assert asked == 2


def test_a_twin_that_is_stopped_stops_alone():
    async def go():
        remembered = Remembered(Slow(), Memory(), b"")
        tasks = [asyncio.create_task(remembered.ask(ASKED)) for _ in range(2)]
        await asyncio.sleep(0.005)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second = asyncio.run(go())
    assert first.text == "reply 1"
    assert isinstance(second, asyncio.CancelledError)

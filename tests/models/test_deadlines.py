"""One timer for all calls of an endpoint: late calls are cancelled, and a stopped run stays stopped."""

from __future__ import annotations

import asyncio
import time

import pytest

from assay.models.deadlines import Deadlines


async def call(deadlines: Deadlines, first_byte_s: float, rest_s: float = 0) -> str:
    """A call as the transport makes it; says how it ended."""
    ticket = deadlines.begin(time.monotonic())
    try:
        await asyncio.sleep(first_byte_s)
        ticket.has_first_byte = True
        await asyncio.sleep(rest_s)
        return "answered"
    except asyncio.CancelledError:
        if deadlines.expired(ticket):
            return "late"
        raise
    finally:
        deadlines.end(ticket)


@pytest.mark.parametrize(
    ("first_byte_s", "rest_s", "ended"),
    [(0.0, 0.0, "answered"), (5.0, 0.0, "late"), (0.0, 5.0, "late"), (0.0, 0.1, "answered")],
)
def test_a_call_ends_at_the_limit_of_its_first_byte_or_of_the_whole_answer(
    first_byte_s: float, rest_s: float, ended: str
) -> None:
    async def run() -> str:
        deadlines = Deadlines(0.05, 0.3)
        try:
            return await call(deadlines, first_byte_s, rest_s)
        finally:
            deadlines.close()

    assert asyncio.run(run()) == ended


def test_both_limits_at_once_are_one_cancellation() -> None:
    async def run() -> tuple[str, int]:
        deadlines = Deadlines(0.05, 0.05)
        outcome = await call(deadlines, 5)
        deadlines.close()
        task = asyncio.current_task()
        assert task is not None
        return outcome, task.cancelling()

    assert asyncio.run(run()) == ("late", 0)


def test_every_late_call_is_cancelled_and_later_calls_keep_their_time() -> None:
    async def run() -> list[str]:
        deadlines = Deadlines(0.1, 0.4)
        late = [asyncio.create_task(call(deadlines, 5)) for _ in range(20)]
        await asyncio.sleep(0.06)
        later = asyncio.create_task(call(deadlines, 0.07))
        outcomes = await asyncio.gather(*late, later)
        deadlines.close()
        return outcomes

    assert asyncio.run(run()) == ["late"] * 20 + ["answered"]


def test_a_run_that_is_stopped_while_a_call_is_late_stays_stopped() -> None:
    async def run() -> bool:
        deadlines = Deadlines(0.05, 1.0)
        task = asyncio.create_task(call(deadlines, 5))
        await asyncio.sleep(0)
        # both in one step of the loop: the deadline first, then the run
        await asyncio.sleep(0.045)
        time.sleep(0.02)
        asyncio.get_running_loop().call_soon(task.cancel)
        await asyncio.wait([task])
        deadlines.close()
        return task.cancelled()

    assert asyncio.run(run()) is True

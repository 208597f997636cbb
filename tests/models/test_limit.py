from __future__ import annotations

import asyncio

import pytest

from assay.models import limit
from assay.models.client import HOPELESS_AFTER, CallError
from assay.models.connect import connect
from assay.models.limit import CAUTIOUS, Limited, Limits, Pace, estimate_tokens
from assay.types import Failure, Reply, Request, Sampling, Usage


class Gate:
    """A client whose calls end when they are told to."""

    name = "gate"

    def __init__(self) -> None:
        self.calls: list[asyncio.Future] = []

    async def ask(self, request: Request) -> Reply:
        call = asyncio.get_running_loop().create_future()
        self.calls.append(call)
        return await call

    async def end(self, n: int = 1, error: Exception | None = None) -> None:
        for _ in range(n):
            call = next(each for each in self.calls if not each.done())
            if error is None:
                call.set_result(Reply(text="A", usage=Usage(prompt_tokens=1)))
            else:
                call.set_exception(error)
        await settle()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def refused(status: int = 429) -> CallError:
    return CallError(Failure(stage="solve", kind="http", detail="no", retryable=True), status=status)


def many(client, n: int) -> list[asyncio.Task]:
    return [asyncio.create_task(client.ask(Request())) for _ in range(n)]


def scenario(play):
    """Play with a gate behind limits of 40 calls; what is left over is cancelled."""

    async def go():
        gate = Gate()
        limited = Limited(gate, Limits(concurrent=40))
        tasks = many(limited, 100)
        await settle()
        try:
            return await play(gate, limited, tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert limited.in_flight == 0

    return asyncio.run(go())


def test_ten_calls_go_out_until_the_first_success_then_all_that_are_allowed():
    async def play(gate, limited, tasks):
        before = len(gate.calls)
        await gate.end()
        return before, limited.in_flight

    assert scenario(play) == (CAUTIOUS, 40)


def test_fewer_than_ten_are_allowed_when_the_limit_is_lower():
    async def go():
        gate = Gate()
        tasks = many(Limited(gate, Limits(concurrent=3)), 5)
        await settle()
        sent = len(gate.calls)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return sent

    assert asyncio.run(go()) == 3


def test_a_refusal_halves_the_limit_and_successes_raise_it_one_by_one(monkeypatch):
    async def play(gate, limited, tasks):
        await gate.end()
        await gate.end(5, refused())  # one overload, however many notice it
        halved = limited.allowed
        await gate.end(3)
        risen = limited.allowed
        monkeypatch.setattr(limit, "HALVE_EVERY_S", 0.0)
        await gate.end(6, refused())
        return halved, risen, limited.allowed

    assert scenario(play) == (20, 23, 1)


def test_other_errors_do_not_lower_the_limit():
    async def play(gate, limited, tasks):
        await gate.end()
        await gate.end(3, refused(500))
        return limited.allowed, limited.in_flight

    assert scenario(play) == (40, 40)


@pytest.mark.parametrize(
    ("status", "proven", "closed"),
    [
        (401, False, True),
        (403, False, True),
        (404, False, True),
        (401, True, True),
        (403, True, False),
        (400, False, False),
    ],
)
def test_a_refusal_of_all_calls_lets_nobody_else_in(status, proven, closed):
    async def play(gate, limited, tasks):
        if proven:
            await gate.end()
        before = len(gate.calls)
        await gate.end(1, refused(status))
        return len(gate.calls) == before

    assert scenario(play) is closed


def test_who_waits_for_an_endpoint_that_refuses_all_calls_is_told_so_and_nobody_asks_again():
    async def play(gate, limited, tasks):
        await gate.end(1, refused(401))
        told = [task for task in tasks if task.done()]
        sent = len(gate.calls)
        with pytest.raises(CallError) as late:
            await limited.ask(Request())
        assert all(task.exception().status == 401 for task in told)
        await gate.end()
        return len(told), sent, len(gate.calls), late.value.status, limited.allowed

    told, sent, after, status, allowed = scenario(play)
    assert told > 30
    assert (sent, after, status, allowed) == (CAUTIOUS, CAUTIOUS, 401, 0)


def test_refusals_in_a_row_close_an_endpoint_that_did_answer():
    async def play(gate, limited, tasks):
        await gate.end()
        await gate.end(HOPELESS_AFTER - 1, refused(404))
        before = limited.allowed
        await gate.end()
        await gate.end(HOPELESS_AFTER, refused(404))
        return before, limited.allowed

    before, after = scenario(play)
    assert before > 0
    assert after == 0


def test_a_cancelled_call_frees_its_slot_whether_it_waits_or_runs():
    async def play(gate, limited, tasks):
        waiting, running = tasks[50], tasks[0]
        waiting.cancel()
        running.cancel()
        await settle()
        return limited.in_flight, len(gate.calls), waiting.cancelled(), running.cancelled()

    assert scenario(play) == (CAUTIOUS, CAUTIOUS + 1, True, True)


@pytest.mark.parametrize("moment", range(5))
def test_a_call_cancelled_around_its_admission_gives_the_slot_on(moment):
    async def play(gate, limited, tasks):
        gate.calls[0].set_result(Reply(text="A"))
        for _ in range(moment):
            await asyncio.sleep(0)
        for task in tasks[10:55]:
            task.cancel()
        await settle()
        return limited.in_flight, sum(task.cancelled() for task in tasks)

    assert scenario(play) == (40, 45)


def test_a_pace_lets_a_second_s_worth_go_at_once_and_spreads_the_rest():
    clock = [0.0]
    pace = Pace(120, lambda: clock[0])
    waits = [pace.take(1) for _ in range(5)]
    assert waits == pytest.approx([0, 0, 0.5, 1, 1.5])
    clock[0] = 100.0
    assert pace.take(1) == 0
    pace.give_back(1)
    assert [pace.take(1) for _ in range(3)] == [0, 0, 0.5]


@pytest.mark.parametrize("per_minute", [1, 7, 60, 600, 5_000])
def test_no_minute_sees_more_than_the_limit_and_a_second_s_worth(per_minute):
    pace = Pace(per_minute, lambda: 0.0)
    sent = [pace.take(1) for _ in range(per_minute * 2)]
    for first in range(0, len(sent), max(1, per_minute // 50)):
        within = sum(sent[first] <= moment < sent[first] + 60 - 1e-6 for moment in sent[first:])
        assert within <= per_minute + per_minute / 60


def test_a_call_larger_than_a_second_s_worth_goes_at_once_and_the_next_one_waits_for_it():
    pace = Pace(6_000, lambda: 0.0)
    assert [pace.take(500) for _ in range(3)] == pytest.approx([0, 5, 10])


def test_requests_a_minute_are_kept_to():
    async def go():
        class Quick:
            name = "quick"

            async def ask(self, request):
                return Reply(text="A")

        limited = Limited(Quick(), Limits(requests_per_minute=1200))
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.gather(*many(limited, 26))  # 20 at once, 20 a second after that
        return loop.time() - started

    assert 0.25 < asyncio.run(go()) < 2


def test_tokens_a_minute_are_guessed_before_and_corrected_after():
    async def go():
        class Quick:
            name = "quick"

            async def ask(self, request):
                return Reply(text="A", usage=Usage(prompt_tokens=1))

        limited = Limited(Quick(), Limits(tokens_per_minute=6000))
        request = Request(messages=({"content": "x"},), sampling=Sampling(max_tokens=500))
        loop = asyncio.get_running_loop()
        started = loop.time()
        for _ in range(4):  # each may use five seconds' worth, but uses one
            await limited.ask(request)
        quick = loop.time() - started
        waiting = asyncio.create_task(limited.ask(Request(sampling=Sampling(max_tokens=60_000))))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.wait_for(limited.ask(request), 1)  # what was never asked is given back
        return quick

    assert asyncio.run(go()) < 0.5


def test_a_call_cancelled_while_it_keeps_pace_gives_its_turn_back():
    async def go():
        limited = Limited(Gate(), Limits(requests_per_minute=10))
        tasks = many(limited, 3)
        await settle()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return limited._requests.take(0), limited.in_flight

    assert asyncio.run(go()) == (0, 0)


def test_tokens_are_guessed_from_bytes_and_what_may_be_written():
    request = Request(messages=({"content": "äbc"},), sampling=Sampling(max_tokens=10))
    assert estimate_tokens(request) == 11
    assert estimate_tokens(Request(body="12345678")) == 2


def test_no_more_calls_are_in_flight_at_the_server_than_allowed(loopback, environment, tmp_path, question):
    loopback.configure(latency_ms=20)

    async def go():
        connection = connect("openai/gpt-4.1", root=tmp_path, environment=environment)
        limited = Limited(connection.client, Limits(concurrent=25))
        await asyncio.gather(*(limited.ask(question(str(i))) for i in range(150)))
        await connection.close()

    asyncio.run(go())
    stats = loopback.stats()
    assert stats["ok"] == 150
    assert CAUTIOUS < stats["peak_inflight"] <= 25

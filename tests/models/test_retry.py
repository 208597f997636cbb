from __future__ import annotations

import asyncio
import time

import pytest

from assay.models.client import CallError, ModelRejected
from assay.models.connect import connect
from assay.models.limit import Limited, Limits
from assay.models.retry import HOPELESS_AFTER, RetryBudget, Retrying, RetryPolicy
from assay.types import Failure, Reply, Request

QUICK = RetryPolicy(first_wait_s=0.001, longest_wait_s=0.01)
MODEL = "openai/gpt-4.1"


class Flaky:
    """A client that fails as it is told, then answers."""

    name = "flaky"

    def __init__(self, *errors: CallError | None) -> None:
        self.errors = list(errors)
        self.asked = 0

    async def ask(self, request: Request) -> Reply:
        self.asked += 1
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return Reply(text="A")


def failed(status: int | None = 500, *, retryable: bool = True, after: float | None = None) -> CallError:
    failure = Failure(stage="solve", kind="http", detail=f"HTTP {status}", retryable=retryable)
    return CallError(failure, status=status, retry_after_s=after)


def run(client, n: int = 1, policy: RetryPolicy = QUICK, budget: RetryBudget | None = None, hint: str = ""):
    """Ask n times in a row; what came of each."""

    async def go():
        retrying = Retrying(client, policy, budget or RetryBudget(), key_hint=hint)
        outcomes = []
        for _ in range(n):
            try:
                outcomes.append((await retrying.ask(Request())).text)
            except CallError as error:
                outcomes.append(error.status)
        assert retrying.waiting == {}
        return outcomes

    return asyncio.run(go())


def test_a_failure_that_may_pass_is_asked_again_until_it_does():
    client = Flaky(failed(429), failed(500), failed(None))
    assert run(client) == ["A"]
    assert client.asked == 4


def test_one_request_is_tried_only_as_often_as_agreed():
    client = Flaky(*[failed()] * 50)
    assert run(client, policy=RetryPolicy(max_retries=3, first_wait_s=0.001)) == [500]
    assert client.asked == 4


def test_a_failure_that_cannot_pass_is_not_asked_again():
    client = Flaky(failed(400, retryable=False))
    assert run(client) == [400]
    assert client.asked == 1


@pytest.mark.parametrize(("head_start", "calls"), [(0, 4), (3, 4), (7, 6)])
def test_retries_of_the_whole_run_never_pass_the_budget(head_start, calls):
    client = Flaky(None, *[failed()] * 1000)
    run(client, 1 + calls, budget=RetryBudget(head_start), policy=RetryPolicy(max_retries=9, first_wait_s=0.0001))
    assert client.asked - (1 + calls) <= head_start + 1 + calls


def test_a_spent_budget_recovers_with_new_calls():
    budget = RetryBudget(1)
    assert [budget.consume() for _ in range(5)] == [True, False, False, False, False]
    budget.call_started()
    assert budget.consume()


def test_the_wait_that_the_server_asks_for_is_kept():
    started = time.monotonic()
    assert run(Flaky(failed(429, after=0.2))) == ["A"]
    assert time.monotonic() - started >= 0.2


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for():
    client = Flaky(failed(429, after=3600))
    assert run(client) == [429]
    assert client.asked == 1


@pytest.mark.parametrize(("status", "named"), [(401, True), (403, True), (404, False)])
def test_a_refused_key_or_model_stops_the_run_and_names_the_variable(status, named):
    said = Failure(stage="solve", kind="http", detail=f"HTTP {status}: you have no access to it.")
    client = Flaky(*[CallError(said, status=status)] * 5)
    with pytest.raises(ModelRejected) as caught:
        run(client, 5, hint="Check OPENAI_API_KEY.")
    assert ("Check OPENAI_API_KEY." in str(caught.value)) is named
    assert ("Check the name of the model and the address of its endpoint." in str(caught.value)) is (status == 404)
    assert f"HTTP {status}" in str(caught.value)
    assert ".." not in str(caught.value), "what the provider says may end with a full stop"
    assert client.asked == 1


def test_a_refusal_of_one_request_after_others_succeeded_is_its_own_failure():
    client = Flaky(None, failed(403, retryable=False), None, failed(404, retryable=False))
    assert run(client, 5) == ["A", 403, "A", 404, "A"]


def test_refusals_in_a_row_stop_the_run_even_after_a_success():
    client = Flaky(None, *[failed(403, retryable=False)] * 50)
    with pytest.raises(ModelRejected):
        run(client, 50)
    assert client.asked == 1 + HOPELESS_AFTER


def test_a_key_that_is_withdrawn_stops_the_run():
    client = Flaky(None, failed(401, retryable=False))
    with pytest.raises(ModelRejected):
        run(client, 3)


def test_when_nothing_ever_succeeds_the_run_stops():
    client = Flaky(*[failed(400, retryable=False)] * 50)
    with pytest.raises(ModelRejected, match=f"none of the first {HOPELESS_AFTER} calls"):
        run(client, 50)
    assert client.asked == HOPELESS_AFTER


def test_what_is_waited_for_can_be_watched():
    async def go():
        retrying = Retrying(Flaky(failed(429, after=5)), QUICK, RetryBudget())
        task = asyncio.create_task(retrying.ask(Request()))
        await asyncio.sleep(0.01)
        ((reason, until),) = retrying.waiting.values()
        assert until > asyncio.get_running_loop().time() + 4
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return reason, retrying.waiting

    assert asyncio.run(go()) == ("429", {})


def over_http(environment, tmp_path, question, n, *, limits: Limits, policy: RetryPolicy = QUICK):
    """Ask the loopback server n different things through limits and retries."""

    async def go():
        connection = connect(MODEL, root=tmp_path, environment=environment)
        limited = Limited(connection.client, limits)
        retrying = Retrying(limited, policy, RetryBudget(), key_hint=connection.key_hint)
        try:
            return await asyncio.gather(*(retrying.ask(question(str(i))) for i in range(n)), return_exceptions=True)
        finally:
            await connection.close()

    return asyncio.run(go())


def test_a_slot_is_free_while_its_call_waits_for_another_try(loopback, environment, tmp_path, question):
    loopback.configure(fail_first=1, fail_status=429, retry_after=0.5)

    async def go():
        connection = connect(MODEL, root=tmp_path, environment=environment)
        limited = Limited(connection.client, Limits(concurrent=1))
        retrying = Retrying(limited, QUICK, RetryBudget())
        first = asyncio.create_task(retrying.ask(question("first")))
        await asyncio.sleep(0.1)
        started = time.monotonic()
        await retrying.ask(question("second"))
        quick = time.monotonic() - started
        await first
        await connection.close()
        return quick

    assert asyncio.run(go()) < 0.3


def test_every_kind_of_trouble_passes(loopback, environment, tmp_path, question):
    shares = dict.fromkeys(("fail_429", "fail_500", "fail_malformed", "fail_disconnect"), 0.05)
    loopback.configure(**shares, fault_key="body", retry_after=0.01, retry_after_share=0.5)
    replies = over_http(environment, tmp_path, question, 200, limits=Limits(concurrent=20))
    assert [reply for reply in replies if isinstance(reply, Exception)] == []
    assert {reply.text for reply in replies} == {"A"}
    stats = loopback.stats()
    assert set(stats["faults"]) == {"429", "500", "malformed", "disconnect"}
    assert stats["max_repeats"] <= 1 + QUICK.max_retries


def test_a_wrong_key_ends_within_ten_calls(loopback, environment, tmp_path, question):
    loopback.configure(api_key="another", latency_ms=5)
    outcomes = over_http(environment, tmp_path, question, 10, limits=Limits(concurrent=100))
    assert all(isinstance(outcome, ModelRejected) for outcome in outcomes)
    assert "OPENAI_API_KEY" in str(outcomes[0])
    assert loopback.stats()["served"] == 10


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_the_server_sees_one_call_for_what_cannot_pass(loopback, environment, tmp_path, question, status):
    loopback.configure(fail_first=100, fail_status=status)
    over_http(environment, tmp_path, question, 1, limits=Limits())
    assert loopback.stats()["served"] == 1

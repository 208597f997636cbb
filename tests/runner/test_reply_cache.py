"""What was paid for is remembered from the moment of the reply."""

from __future__ import annotations

import hashlib
from decimal import Decimal

import pytest

from assay.runner.reply_cache import KeyFilter, ReplyCache
from assay.store import runs
from assay.store.calls import write_calls
from assay.store.run_spec import RunSpec
from assay.store.runs import NewRun
from assay.store.store import open_store
from assay.types import PaidCall, Reply, Usage


def key(n):
    return hashlib.sha256(str(n).encode()).digest()


def test_the_filter_forgets_nothing_and_hardly_ever_takes_the_unknown_for_known():
    seen = KeyFilter(key(n) for n in range(20_000))
    assert all(key(n) in seen for n in range(20_000))
    wrong = sum(key(n) in seen for n in range(20_000, 60_000))
    assert wrong <= 5
    assert key(-1) not in seen
    seen.add(key(-1))
    assert key(-1) in seen


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "store.db"))
    yield opened
    opened.close()


def new_run(store):
    return runs.start(store, NewRun(spec=RunSpec(kind="run", task="t"), file="f", model=None)).no


def paid(n, cost="0.5"):
    reply = Reply(text=f"reply {n}", usage=Usage(prompt_tokens=1, completion_tokens=1), key=key(n))
    cost_usd = None if cost is None else Decimal(cost)
    return PaidCall(key=key(n), model="m", purpose="answer", request=b"{}", reply=reply, cost_usd=cost_usd)


def test_a_reply_can_be_used_before_during_and_after_its_commit(store):
    run = new_run(store)
    memory = ReplyCache(store, run)
    assert memory.get(key(1)) is None
    memory.keep(paid(1))
    for step in ("pending", "committing", "stored"):
        found = memory.get(key(1))
        assert (found.text, found.cached) == ("reply 1", True), step
        if step == "pending":
            assert memory.waiting == 1
            handed = memory.hand_over()
            assert [call.key for call in handed] == [key(1)]
            assert memory.waiting == 0
        elif step == "committing":
            with store.begin() as connection:
                write_calls(connection, run, handed)
            memory.committed()
    assert memory.get(key(2)) is None
    memory.close()


def test_money_adds_up_and_an_unknown_price_is_noted(store):
    memory = ReplyCache(store, new_run(store))
    memory.keep(paid(1, "0.1"))
    memory.keep(paid(2, "0.2"))
    assert (memory.spent_usd, memory.unpriced) == (Decimal("0.3"), False)
    memory.keep(paid(3, None))
    assert (memory.spent_usd, memory.unpriced) == (Decimal("0.3"), True)
    memory.close()


@pytest.mark.parametrize(("policy", "seen"), [("reuse", True), ("update", False), ("no-cache", False)])
def test_policies_decide_whose_replies_are_seen(store, policy, seen):
    first, second = new_run(store), new_run(store)
    with store.begin() as connection:
        write_calls(connection, first, [paid(1)])
        write_calls(connection, second, [paid(2)])
    memory = ReplyCache(store, second, policy)
    assert (memory.get(key(1)) is not None) is seen
    assert memory.get(key(2)).text == "reply 2", "what the run itself paid for is always its own"
    memory.close()

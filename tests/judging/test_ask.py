from __future__ import annotations

import asyncio

import pytest

from assay.judging.ask import ask_judge
from assay.judging.response_format import choice_form, score_form
from assay.models.client import CallError
from assay.types import Failure, Reply, Request, Sampling

YES_NO = choice_form(("yes", "no"))


class Judge:
    """An Ask that gives the replies it was made of, and keeps what it was asked."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []
        self.models = []

    async def __call__(self, request, model=None):
        self.requests.append(request)
        self.models.append(model)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Reply(text=reply) if isinstance(reply, str) or reply is None else reply


def ask(judge, form=YES_NO, **more):
    request = Request(messages=form.messages("Be strict.", "Polite?", explained=False), **more)
    return asyncio.run(ask_judge(judge, request, model="judge", read=form.read))


def test_a_readable_reply_is_the_verdict():
    judge = Judge('{"reasoning": "kind words", "prediction": "Yes", "confidence": 0.9}')
    verdict = ask(judge, sampling=Sampling(temperature=0.0), schema=YES_NO.schema, repeat=2)
    assert (verdict.value, verdict.written, verdict.reasoning, verdict.confidence) == ("yes", "Yes", "kind words", 0.9)
    assert verdict.turns == 1
    assert verdict.text.startswith('{"reasoning"')
    (request,) = judge.requests
    assert judge.models == ["judge"]
    assert (request.purpose, request.repeat, request.sampling.temperature) == ("judge", 2, 0.0)
    assert request.schema == YES_NO.schema


def test_the_models_own_reasoning_stands_in_for_none():
    assert ask(Judge(Reply(text="yes", reasoning="thought"))).reasoning == "thought"


@pytest.mark.parametrize(
    ("first", "problem", "shown"),
    [
        ("perhaps", '"perhaps" is none of the labels "yes", "no"', "perhaps"),
        ("", "the reply is empty", "(no reply)"),
        (" \n", "the reply is empty", "(no reply)"),
        (None, "the reply has no content", "(no reply)"),
        (Reply(text=None, finish_reason="length"), "no content (finish reason length)", "(no reply)"),
        (Reply(text='{"predi', finish_reason="length"), "(finish reason length)", '{"predi'),
        (Reply(text=None, refusal="I cannot do that"), "the judge refused: I cannot do that", "I cannot do that"),
        (Reply(text="Sorry.", refusal="a filter"), "the judge refused: a filter", "a filter"),
        ('{"label": "yes"}', 'no field "prediction"', '{"label": "yes"}'),
    ],
)
def test_a_reply_that_cannot_be_used_is_asked_for_once_more_with_the_problem_named(first, problem, shown):
    judge = Judge(first, '{"prediction": "no"}')
    verdict = ask(judge)
    assert (verdict.value, verdict.turns) == ("no", 2)
    before, after = judge.requests
    assert after.messages[: len(before.messages)] == before.messages
    reply, again = after.messages[len(before.messages) :]
    assert (reply["role"], reply["content"]) == ("assistant", shown)
    assert again["role"] == "user"
    assert problem in again["content"]
    assert after.purpose == "judge"


def test_a_reply_comes_back_with_all_that_was_in_it():
    item = {"type": "message", "role": "assistant", "content": "perhaps", "signature": "s"}
    judge = Judge(Reply(text="perhaps", items=(item,)), "yes")
    ask(judge)
    assert judge.requests[1].messages[-2] == item


@pytest.mark.parametrize(
    ("replies", "kind", "detail"),
    [
        (("perhaps", "perhaps"), "parse", '"perhaps" is none of the labels'),
        ((None, ""), "parse", "the reply is empty"),
        ((Reply(text=None, refusal="no"), Reply(text=None, refusal="never")), "refusal", "the judge refused: never"),
        (("perhaps", Reply(text=None, refusal="never")), "refusal", "never"),
        ((Reply(text=None, refusal="never"), "perhaps"), "parse", "perhaps"),
    ],
)
def test_a_judge_that_cannot_be_read_twice_has_no_verdict(replies, kind, detail):
    judge = Judge(*replies)
    failure = ask(judge)
    assert isinstance(failure, Failure)
    assert (failure.stage, failure.kind, failure.retryable) == ("score", kind, False)
    assert detail in failure.detail
    assert len(judge.requests) == 2


def test_the_failure_shows_what_the_judge_wrote_but_not_all_of_it():
    failure = ask(Judge("perhaps", "Hmm. " * 1000))
    assert "Hmm. Hmm." in failure.detail
    assert len(failure.detail) < 700


def test_a_score_out_of_range_is_asked_for_again_and_never_clipped():
    form = score_form(0, 100)
    assert ask(Judge("101", "99"), form).value == 99.0
    assert "101 is not between 0 and 100" in ask(Judge("101", '{"score": 101}'), form).detail


def test_a_call_that_fails_passes_through():
    error = CallError(Failure(stage="solve", kind="http", detail="HTTP 500"))
    with pytest.raises(CallError, match="HTTP 500"):
        ask(Judge(error))
    with pytest.raises(CallError, match="HTTP 500"):
        ask(Judge("perhaps", error))

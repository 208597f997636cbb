"""The probability of an answer from the log-probabilities of its tokens."""

from __future__ import annotations

import math

import pytest

from assay.judging.token_probability import answer_probability


def tokens(*pairs):
    return [{"token": token, "logprob": math.log(p)} for token, p in pairs]


REPLY = tokens(
    ('{"explanation":"', 0.9), ("It is MET", 0.5), ('","criterion_status":"', 0.9), ("UN", 0.8), ("MET", 0.5), ('"}', 1)
)


@pytest.mark.parametrize("logprobs", [REPLY, {"content": REPLY}])
def test_only_the_tokens_of_the_answer_count(logprobs):
    assert answer_probability(logprobs, "UNMET", field="criterion_status") == pytest.approx(0.4)


def test_a_token_that_holds_more_than_the_answer_counts_whole():
    reply = tokens(('{"selected_option":', 0.2), (' "B"}', 0.7))
    assert answer_probability(reply, "B", field="selected_option") == pytest.approx(0.7)


def test_a_bare_answer_has_the_probability_of_the_whole_reply():
    assert answer_probability(tokens(("MET", 0.6)), "MET", field="criterion_status") == pytest.approx(0.6)


def test_an_answer_among_several_is_that_of_its_own_criterion():
    reply = tokens(
        ('{"criterion_1": {"criterion_status": "', 1), ("MET", 0.9),
        ('"}, "criterion_2": {"criterion_status": "', 1), ("MET", 0.3), ('"}}', 1),
    )  # fmt: skip
    values = [
        answer_probability(reply, "MET", field="criterion_status", within=f"criterion_{number}") for number in (1, 2, 3)
    ]
    assert values == [pytest.approx(0.9), pytest.approx(0.3), None]


@pytest.mark.parametrize("logprobs", [None, [], {}, "MET", [{"token": "MET"}], [{"token": "MET", "logprob": math.nan}]])
def test_without_readable_logprobs_there_is_no_probability(logprobs):
    assert answer_probability(logprobs, "MET", field="criterion_status") is None


def test_an_answer_that_is_not_among_the_tokens_has_no_probability():
    assert answer_probability(tokens(("something else", 0.5)), "MET", field="criterion_status") is None

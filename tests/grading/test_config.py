"""Configs: what they say, what they hide, what they refuse."""

from __future__ import annotations

import pytest

from assay.errors import SpecError
from assay.rubric import CannotAssessConfig, FewShotConfig, LLMConfig


def test_the_key_is_never_shown():
    assert "sk-secret" not in repr(LLMConfig("openai/gpt-5-mini", api_key="sk-secret"))


def test_parameters_become_sampling():
    sampling = LLMConfig("m/x", temperature=0.5, max_tokens=9, top_p=0.9, seed=3, thinking="low").sampling
    assert (sampling.temperature, sampling.max_tokens, sampling.top_p) == (0.5, 9, 0.9)
    assert (sampling.seed, sampling.reasoning_effort) == (3, "low")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"extra_headers": {"a": "b\r\nc: d"}}, "the header 'a' must be one line"),
        ({"extra_headers": {"a": 1}}, "the header 'a' must be one line"),
        ({"extra_params": {"a": object()}}, "extra_params must be valid JSON"),
        ({"extra_params": {"messages": []}}, 'must not hold "messages"'),
        ({"thinking": "hard"}, "thinking is one of"),
        ({"timeout": 0}, "timeout must be positive"),
        ({"max_parallel_requests": -1}, "max_parallel_requests must be positive"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, message):
    with pytest.raises(SpecError, match=message):
        LLMConfig("openai/x", **arguments)


def test_a_strategy_that_is_not_known_is_refused():
    with pytest.raises(SpecError, match='unknown cannot_assess "sometimes"'):
        CannotAssessConfig("sometimes")


def test_examples_that_cannot_be_had_are_refused():
    with pytest.raises(SpecError, match="must not be negative"):
        FewShotConfig(n_examples=-1)


def test_what_is_sent_beside_the_question_is_not_shown():
    config = LLMConfig("openai/x", extra_headers={"x-trace": "sk-secret"}, extra_params={"user": "sk-secret"})
    assert "sk-secret" not in repr(config)


def test_headers_are_copied_when_they_are_given():
    headers = {"x-team": "a"}
    config = LLMConfig("openai/x", extra_headers=headers)
    headers["x-team"] = "b"
    assert config.extra_headers == {"x-team": "a"}

"""Configs: what they say, what they hide, what they refuse."""

from __future__ import annotations

import pytest

from assay.errors import SpecError
from assay.rubric import FewShotConfig, LLMConfig


def test_the_key_is_never_shown():
    assert "sk-secret" not in repr(LLMConfig("openai/gpt-5-mini", api_key="sk-secret"))


def test_parameters_become_sampling():
    sampling = LLMConfig("m/x", temperature=0.5, max_tokens=9, top_p=0.9, seed=3, thinking="low").sampling
    assert (sampling.temperature, sampling.max_tokens, sampling.top_p) == (0.5, 9, 0.9)
    assert (sampling.seed, sampling.reasoning_effort) == (3, "low")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"extra_headers": {"a": "b"}}, "extra_headers"),
        ({"extra_params": {"a": 1}}, "extra_params"),
        ({"thinking": "hard"}, "thinking is one of"),
        ({"timeout": 0}, "timeout must be positive"),
        ({"max_parallel_requests": -1}, "max_parallel_requests must be positive"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, message):
    with pytest.raises(SpecError, match=message):
        LLMConfig("openai/x", **arguments)


def test_examples_that_cannot_be_had_are_refused():
    for wrong, message in (({"n_examples": -1}, "must not be negative"), ({"include_reason": True}, "without reasons")):
        with pytest.raises(SpecError, match=message):
            FewShotConfig(**wrong)

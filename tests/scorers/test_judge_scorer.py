from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.scorers.judge_scorer import KIND, JudgeScale
from assay.types import Failure, Reply, Rows

ROWS = Rows(positions=[0], ids=["0"], samples=[{}], answers=["Hi."])


def _settings(**more):
    return JudgeScale.model_validate(
        {"type": "model_as_a_judge_scorer", "model_key": "j", "user_prompt": "How good is {{ model_output }}?", **more}
    )


def _judged(*replies, **more):
    left = list(replies)

    async def ask(request, model=None):
        return Reply(text=left.pop(0))

    return asyncio.run(KIND.score(_settings(**more), ROWS, ask))


@pytest.mark.parametrize(
    ("low", "high", "reply", "score", "raw"),
    [
        (0, 100, '{"reasoning": "r", "score": 80, "confidence": 1}', 0.8, 80),
        (0, 100, "80", 0.8, 80),
        (0, 1, '{"score": 0.25}', 0.25, 0.25),
        (1, 5, '{"score": "3"}', 0.5, 3),
        (1, 5, '{"score": 5}', 1.0, 5),
        (-1, 1, "-1", 0.0, -1),
        (0, 10, "8/10", 0.8, 8),
    ],
)
def test_the_score_is_the_place_of_the_number_on_the_scale(low, high, reply, score, raw):
    judged = _judged(reply, score_min=low, score_max=high)
    assert judged.values == {"score": score}
    assert judged.metadata["raw_score"] == raw


def test_the_scale_goes_from_0_to_1_unless_told_otherwise():
    assert _judged("1").values == {"score": 1.0}
    assert isinstance(_judged("2", "2"), Failure)


def test_a_number_out_of_range_is_asked_for_again_and_then_a_failure():
    scale = {"score_min": 0, "score_max": 100}
    assert _judged("101", "99", **scale).values == {"score": 0.99}
    failure = _judged("101", "101", **scale)
    assert failure.kind == "parse"
    assert "101 is not between 0 and 100" in failure.detail


def test_reasons_are_kept():
    judged = _judged('{"reasoning": "fine", "score": 1, "confidence": 0.5}')
    assert judged.metadata == {"raw_score": 1.0, "reasoning": "fine", "confidence": 0.5}


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_a_score_never_leaves_its_range(low, span, place):
    high = low + span
    raw = min(max(low + place * span, low), high)
    score = _judged(f'{{"score": {raw!r}}}', score_min=low, score_max=high).values["score"]
    assert 0 <= score <= 1


@pytest.mark.parametrize(
    "bad",
    [
        {"score_min": 1},
        {"score_min": 5, "score_max": 1},
        {"score_max": 0},
        {"score_max": float("inf")},
        {"score_min": float("nan")},
        {"score_min": -1.7e308, "score_max": 1.7e308},
        {"score_max": "10"},
        {"score_max": True},
    ],
)
def test_a_scale_goes_up_from_one_number_to_another(bad):
    with pytest.raises(ValidationError):
        _settings(**bad)


def test_the_default_metric_is_the_mean():
    assert _settings().default_metrics() == [{"type": "mean", "field": "score", "name": "score_mean"}]

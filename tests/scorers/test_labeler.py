from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from assay.scorers.labeler import KIND, Labeler
from assay.types import Failure, Reply, Rows

ROWS = Rows(positions=[0], ids=["0"], samples=[{"text": "Goal!"}])


def _settings(**more):
    return Labeler.model_validate(
        {"type": "labeler_via_model", "model_key": "j", "user_prompt": "Topic of {{ sample.text }}", **more}
    )


def _judged(*replies, **more):
    left = list(replies)

    async def ask(request, model=None):
        return Reply(text=left.pop(0))

    return asyncio.run(KIND.score(_settings(**more), ROWS, ask))


@pytest.mark.parametrize(
    ("valid", "reply", "label"),
    [
        (["Sports", "Politics"], '{"prediction": "sports"}', "Sports"),
        (["Sports", "Politics"], "politics.", "Politics"),
        ([], '{"prediction": " Ball games "}', "Ball games"),
        ([], "Ball games", "Ball games"),
    ],
)
def test_a_label_is_one_of_the_valid_ones_or_any(valid, reply, label):
    assert _judged(reply, valid_labels=valid).values == {"label": label}


def test_what_the_judge_wrote_is_kept():
    judged = _judged('{"reasoning": "a ball", "prediction": "SPORTS", "confidence": 1}', valid_labels=["Sports"])
    assert judged.metadata == {"raw_label": "SPORTS", "reasoning": "a ball", "confidence": 1.0}


@pytest.mark.parametrize(
    ("valid", "replies"),
    [(["Sports"], ["Weather", "Weather"]), ([], ["", " "]), ([], ['{"prediction": ""}', '{"prediction": null}'])],
)
def test_no_valid_label_twice_is_a_failure(valid, replies):
    failure = _judged(*replies, valid_labels=valid)
    assert isinstance(failure, Failure)
    assert failure.kind == "parse"


@pytest.mark.parametrize("labels", [["a", "a"], ["a", ""], [1], "a"])
def test_labels_are_checked_when_the_file_is_loaded(labels):
    with pytest.raises(ValidationError):
        _settings(valid_labels=labels)


def test_the_default_metric_is_the_share_of_each_label():
    assert _settings().default_metrics() == [{"type": "frequency", "field": "label"}]

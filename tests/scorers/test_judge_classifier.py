from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from assay.scorers.judge_classifier import KIND, JudgeClassifier
from assay.types import Failure, Reply, Rows, Score


def _settings(**more):
    return JudgeClassifier.model_validate(
        {
            "type": "model_as_a_judge_classifier",
            "model_key": "judge",
            "user_prompt": "Response: {{ model_output.choices[0].message.content }}",
            "correct_labels": ["yes"],
            "incorrect_labels": ["no", "unclear"],
            **more,
        }
    )


def _judged(*replies, sample=None, **more):
    left = list(replies)

    async def ask(request, model=None):
        return Reply(text=left.pop(0))

    rows = Rows(positions=[0], ids=["0"], samples=[sample or {}], answers=["Hi."])
    return asyncio.run(KIND.score(_settings(**more), rows, ask))


@pytest.mark.parametrize(
    ("reply", "label", "correct"),
    [
        ('{"reasoning": "r", "prediction": "yes", "confidence": 0.9}', "yes", 1.0),
        ("Yes", "yes", 1.0),
        ("no.", "no", 0.0),
        ("UNCLEAR", "unclear", 0.0),
    ],
)
def test_a_label_is_correct_or_not_in_its_declared_spelling(reply, label, correct):
    score = _judged(reply)
    assert score.values == {"is_correct": correct, "predicted_label": label}


def test_what_the_judge_wrote_is_kept_beside_the_label():
    score = _judged('{"reasoning": "kind", "prediction": "Yes", "confidence": 0.9}')
    assert score == Score(
        scorer="model_as_a_judge_classifier",
        values={"is_correct": 1.0, "predicted_label": "yes"},
        metadata={"raw_label": "Yes", "reasoning": "kind", "confidence": 0.9},
    )


@pytest.mark.parametrize(
    ("sample", "template", "truth"),
    [
        ({"ground_truth_label": "no"}, None, "no"),
        ({"ground_truth_label": "no", "gt": "yes"}, "{{ sample.gt }}", "yes"),
        ({"gt": 1}, "{{ sample.gt }}", "1"),
        ({}, "yes", "yes"),
    ],
)
def test_the_true_label_comes_from_ground_truth_or_from_the_column_of_that_name(sample, template, truth):
    score = _judged("yes", sample=sample, ground_truth=template)
    assert score.values["ground_truth_label"] == truth
    assert score.values["is_correct"] == 1.0, "which labels are correct is said by the file"


@pytest.mark.parametrize(
    ("sample", "template"),
    [
        ({}, None),
        ({"ground_truth_label": None}, None),
        ({"ground_truth_label": ""}, None),
        ({"gt": None}, "{{ sample.gt }}"),
        ({"gt": ""}, "{{ sample.gt }}"),
    ],
)
def test_an_unknown_true_label_is_left_out(sample, template):
    assert "ground_truth_label" not in _judged("yes", sample=sample, ground_truth=template).values


def test_a_missing_ground_truth_is_a_failure_before_anybody_is_asked():
    failure = _judged(ground_truth="{{ sample.gt }}")
    assert (failure.stage, failure.kind) == ("score", "missing_field")


def test_an_undeclared_label_twice_is_a_failure_and_never_a_zero():
    failure = _judged("perhaps", "perhaps")
    assert isinstance(failure, Failure)
    assert failure.kind == "parse"
    assert '"perhaps" is none of the labels "yes", "no", "unclear"' in failure.detail


def test_the_second_answer_counts():
    assert _judged("perhaps", "Yes").values["predicted_label"] == "yes"


def test_labels_that_differ_in_case_are_told_apart_exactly():
    labels = {"correct_labels": ["Yes"], "incorrect_labels": ["yes"]}
    assert _judged("Yes", **labels).values["is_correct"] == 1.0
    assert _judged("yes", **labels).values["is_correct"] == 0.0
    assert isinstance(_judged("YES", "YES", **labels), Failure)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ({"correct_labels": ["yes", "yes"]}, "appears twice"),
        ({"incorrect_labels": ["no", "yes"]}, "appears twice"),
        ({"incorrect_labels": [""]}, "empty"),
        ({"correct_labels": [], "incorrect_labels": []}, "no label to choose"),
        ({"correct_labels": [True]}, "string"),
        ({"correct_labels": "yes"}, "list"),
    ],
)
def test_labels_are_checked_when_the_file_is_loaded(bad, problem):
    with pytest.raises(ValidationError, match=problem):
        _settings(**bad)


def test_both_lists_of_labels_are_required():
    with pytest.raises(ValidationError, match="incorrect_labels"):
        JudgeClassifier(type="model_as_a_judge_classifier", model_key="j", user_prompt="x", correct_labels=["a"])


def test_the_default_metric_is_accuracy():
    assert _settings().default_metrics() == [{"type": "mean", "field": "is_correct", "name": "accuracy"}]

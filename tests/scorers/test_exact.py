from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.errors import SpecError
from assay.scorers.exact import KIND, StringEquals


def _settings(**more):
    return StringEquals(**{"type": "string_equals", "ground_truth": "{{ sample.gt }}", **more})


@pytest.mark.parametrize(
    ("truth", "reply", "score"),
    [
        ("Paris", "Paris", 1.0),
        ("Paris", "paris", 0.0),
        ("Paris", "Paris ", 0.0),
        ("Paris", "", 0.0),
        (3, "3", 1.0),
        ("None", "None", 1.0),
        (True, "True", 1.0),
        ("é", "e\u0301", 0.0),
        ("{{ 1 }}", "{{ 1 }}", 1.0),
    ],
)
def test_equality_is_exact(make_rows, truth, reply, score):
    scored = KIND.score(_settings(), make_rows([reply], {"gt": [truth]}))
    assert scored.values == {"is_correct": [score]}
    assert (scored.metadata["answer_gt"], scored.metadata["answer_pred"]) == ([str(truth)], [reply])
    assert scored.failures == {}


@pytest.mark.parametrize(
    ("steps", "truth", "reply"),
    [
        (["strip"], "Paris", " Paris\n"),
        (["lower"], "PARIS", "paris"),
        (["unicode"], "é", "e\u0301"),
        (["unicode"], "fi", "ﬁ"),
        (["punctuation"], "Paris", "«Par-is».!"),
        (["punctuation", "strip", "lower"], "Paris", "  PARIS . "),
    ],
)
def test_normalize_evens_out_what_it_names_and_keeps_the_texts(make_rows, steps, truth, reply):
    rows = make_rows([reply], {"gt": [truth]})
    scored = KIND.score(_settings(normalize=steps), rows)
    assert scored.values["is_correct"] == [1.0]
    assert scored.metadata["answer_pred"] == [reply]
    assert KIND.score(_settings(), rows).values["is_correct"] == [0.0]


def test_value_is_looked_at_in_place_of_the_reply(make_rows):
    settings = _settings(value="{{ sample.other }}")
    assert KIND.score(settings, make_rows(None, {"gt": ["x"], "other": ["x"]})).values["is_correct"] == [1.0]
    whole = _settings(value="{{ solver_output.output }}!", ground_truth="a!")
    assert KIND.score(whole, make_rows(["a"])).values["is_correct"] == [1.0]


def test_a_row_without_its_ground_truth_is_a_failure_and_never_a_zero(make_rows):
    rows = make_rows(["x", "x"], {"gt": ["x", "x"]})
    del rows.samples[0]["gt"]
    for steps in ([], ["strip"]):
        scored = KIND.score(_settings(normalize=steps), rows)
        assert scored.values["is_correct"] == [None, 1.0]
        assert scored.metadata["answer_gt"] == [None, "x"]
        assert {place: f.kind for place, f in scored.failures.items()} == {0: "missing_field"}
        assert scored.failures[0].stage == "score"


def test_a_task_without_solver_and_value_is_an_error_that_says_so(make_rows):
    with pytest.raises(SpecError, match="no solver"):
        KIND.score(_settings(), make_rows(None, {"gt": ["x"]}))


@pytest.mark.parametrize(
    "bad", [{"normalize": ["upper"]}, {"normalise": []}, {"ground_truth": 3}, {"normalize": "strip"}]
)
def test_settings_are_strict(bad):
    with pytest.raises(ValidationError):
        _settings(**bad)


def test_the_default_metric_is_accuracy():
    assert _settings().default_metrics() == [{"type": "mean", "field": "is_correct", "name": "accuracy"}]


@pytest.mark.parametrize(
    ("truth", "reply", "steps"),
    [
        ("Paris", "Paris ", "strip"),
        ("Paris", "\nParis", "strip"),
        ("é", "e\u0301", "unicode"),
        ("é", " e\u0301", "unicode, strip"),
        ("é", "é ", "strip"),
        ("Paris", "paris", None),
        ("é", "e", None),
    ],
)
def test_a_difference_of_form_alone_is_wrong_and_says_what_would_make_it_equal(make_rows, truth, reply, steps):
    scored = KIND.score(_settings(), make_rows([reply, truth], {"gt": [truth, truth]}))
    assert scored.values["is_correct"] == [0.0, 1.0]
    assert scored.metadata.get("equal_after") == (None if steps is None else [steps, None])


def test_what_is_evened_out_already_is_not_named(make_rows):
    rows = make_rows(["Paris ", "x", "PARIS "], {"gt": ["Paris", None, "Paris"]})
    assert "equal_after" not in KIND.score(_settings(normalize=["strip", "unicode"]), rows).metadata
    assert KIND.score(_settings(normalize=["lower"]), rows).metadata["equal_after"] == ["strip", None, "strip"]

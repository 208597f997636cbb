from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.scorers.ground_truth import ground_truths
from assay.scorers.kinds import KINDS
from assay.spec.fields import Template

SETTINGS = {
    "string_equals": {"ground_truth": "{{ sample.gt }}"},
    "contains": {"substring": "{{ sample.gt }}"},
    "numeric_equals": {"ground_truth": "{{ sample.gt }}"},
    "bleu": {"ground_truth": "{{ sample.gt }}"},
    "string_equals_mcqa": {"ground_truth_choice": "{{ sample.gt }}", "choices": ["1", "2"]},
}
CHANGED = {*SETTINGS, "model_as_a_judge_classifier", "rubric"}


def _scored(name, rows, **more):
    kind = next(kind for kind in KINDS if kind.name == name)
    return kind.score(kind.settings(type=name, **{**SETTINGS[name], **more}), rows)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("absent", [None, ""], ids=["null", "empty"])
def test_a_sample_without_ground_truth_fails_instead_of_being_wrong(make_rows, name, absent):
    scored = _scored(name, make_rows(["1", "1", "1", ""], {"gt": ["1", absent, "2", absent]}))
    values = next(iter(scored.values.values()))
    assert [values[place] is None for place in range(4)] == [False, True, False, True]
    assert {place: failure.kind for place, failure in scored.failures.items()} == {
        1: "missing_field",
        3: "missing_field",
    }
    assert '"gt" is ' + ("null" if absent is None else "empty") in scored.failures[1].detail


@pytest.mark.parametrize("name", SETTINGS)
def test_a_sample_without_the_column_fails_as_before(make_rows, name):
    rows = make_rows(["1"], {"other": ["1"]})
    assert _scored(name, rows).failures[0].kind == "missing_field"


@pytest.mark.parametrize("name", ["string_equals", "bleu"])
def test_allow_empty_says_that_the_empty_text_is_an_answer(make_rows, name):
    scored = _scored(name, make_rows(["", "x", "x"], {"gt": ["", "", None]}), allow_empty=True)
    assert next(iter(scored.values.values())) == [1.0, 0.0, None]
    assert scored.failures[2].kind == "missing_field"


@pytest.mark.parametrize("name", ["string_equals", "bleu"])
def test_a_fixed_empty_ground_truth_is_found_when_the_file_is_loaded(make_rows, name):
    with pytest.raises(ValidationError, match="allow_empty: true"):
        _scored(name, make_rows(["x"]), ground_truth="")
    assert _scored(name, make_rows([""]), ground_truth="", allow_empty=True).failures == {}


@pytest.mark.parametrize(
    ("template", "missing"),
    [
        ("{{ sample.gt | trim }}", True),
        ("{{ sample.gt | upper }}", True),
        ("{{ sample.gt if sample.gt else 'none of them' }}", False),
        ("{{ sample.gt or 'x' }}", False),
    ],
)
def test_null_behind_a_filter_is_missing_and_null_that_the_template_handles_is_not(make_rows, template, missing):
    column = ground_truths(Template(template), make_rows(["a"], {"gt": [None]}))
    assert (0 in column.failures) is missing


def test_the_word_none_is_a_ground_truth(make_rows):
    column = ground_truths(Template("{{ sample.gt | trim }}"), make_rows(["a", "b"], {"gt": ["None", "none"]}))
    assert (column.values, column.failures) == (["None", "none"], {})


def test_a_value_that_is_null_is_missing_and_an_empty_one_is_an_answer(make_rows):
    rows = make_rows(None, {"gt": ["x", "x"], "said": [None, ""]})
    scored = _scored("string_equals", rows, value="{{ sample.said }}")
    assert scored.values["is_correct"] == [None, 0.0]
    assert scored.failures[0].kind == "missing_field"


def test_kinds_whose_results_changed_have_a_new_version():
    assert {kind.name for kind in KINDS if kind.version > 1} == CHANGED

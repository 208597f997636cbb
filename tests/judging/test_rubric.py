"""Rubrics from values and texts; the layouts of files are tested with the public Rubric."""

from __future__ import annotations

import pytest

from assay.errors import Place, SpecError
from assay.judging.rubric import Rubric, stored_rubrics
from assay.spec.fields import Located

CRITERION = {"requirement": "Is polite."}


def test_criteria_that_are_already_made_are_taken_as_they_are():
    criterion = Rubric.from_dict([CRITERION]).criteria[0]
    assert Rubric.from_dict([criterion, {"name": "rest", "criteria": [criterion]}]).criteria == (criterion, criterion)


def test_a_problem_is_placed_by_the_nearest_text_that_knows_its_own():
    here = Place("task.yaml", 7, 5)
    with pytest.raises(SpecError) as caught:
        Rubric.from_dict([{"requirement": Located("Is polite.", here), "weight": "x"}])
    assert caught.value.problems[0].place == here
    with pytest.raises(SpecError, match=r"\[0\]\.criteria\[0\]: expected a criterion"):
        Rubric.from_dict([{"name": "a", "criteria": [3]}])
    with pytest.raises(SpecError, match=r"\[1\]: expected a criterion"):
        Rubric.from_dict([CRITERION, None])


def test_text_is_yaml_or_json_with_places():
    assert Rubric.from_text('[{"requirement": "r"}]').names == ("criterion_1",)
    with pytest.raises(SpecError, match="rubric:2:11"):
        Rubric.from_text("- requirement: r\n  weight: x\n")
    with pytest.raises(SpecError, match="empty"):
        Rubric.from_text("")


def test_a_stored_rubric_is_read_as_it_was_with_those_of_single_items():
    rubric = Rubric.from_dict({"guidelines": "Be fair.", "criteria": [{"name": "form", "criteria": [CRITERION]}]})
    own = Rubric.from_dict([CRITERION, {"requirement": "Is rude.", "weight": -1.0}])
    assert stored_rubrics(rubric.content()) == [rubric]
    assert stored_rubrics({**rubric.content(), "others": [own.content()]}) == [rubric, own]
    assert stored_rubrics({"criteria": own.content()["criteria"]}) == [own]


def test_a_rubric_is_equal_and_has_one_hash_whatever_holds_its_criteria():
    criteria = Rubric.from_dict([CRITERION]).criteria
    assert Rubric(list(criteria)) == Rubric(criteria)
    assert len({Rubric(list(criteria)), Rubric(criteria)}) == 1

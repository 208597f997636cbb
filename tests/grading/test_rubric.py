"""Rubrics in every layout, with errors at their places."""

from __future__ import annotations

import json

import pytest

from assay.errors import SpecError
from assay.rubric import Criterion, LengthPenalty, Rubric, Section

ONE = {"requirement": "One.", "name": "one"}
TWO = {"requirement": "Two.", "name": "two", "weight": -5}
SECTION = {"name": "form", "criteria": [ONE, TWO]}


@pytest.mark.parametrize(
    ("layout", "sections", "guidelines"),
    [
        ([ONE, TWO], [], None),
        ({"criteria": [ONE, TWO]}, [], None),
        ({"rubric": [ONE, TWO]}, [], None),
        ({"rubric": {"criteria": [ONE, TWO]}}, [], None),
        ({"rubric": {"criteria": [ONE, TWO], "guidelines": "Be fair."}}, [], "Be fair."),
        ({"rubric": [ONE, TWO], "guidelines": "Be fair."}, [], "Be fair."),
        ([SECTION], [("form", 0, 2)], None),
        ([ONE, {"name": "rest", "criteria": [TWO]}], [("rest", 1, 2)], None),
        ({"sections": [SECTION]}, [("form", 0, 2)], None),
        ({"rubric": {"sections": [SECTION]}}, [("form", 0, 2)], None),
    ],
)
def test_every_layout_gives_the_same_criteria(layout, sections, guidelines):
    for rubric in (
        Rubric.from_dict(layout),
        Rubric.from_json(json.dumps(layout)),
        Rubric.from_yaml(json.dumps(layout)),
    ):
        assert rubric.names == ("one", "two")
        assert [criterion.weight for criterion in rubric] == [10.0, -5.0]
        assert [(s.name, s.start, s.stop) for s in rubric.sections] == sections
        assert rubric.guidelines == guidelines
        assert Rubric.from_yaml(rubric.to_yaml()) == rubric


def test_the_truth_loses_by_length_as_the_panel_does():
    rubric = Rubric.from_dict([{"requirement": "Names the capital."}])
    penalty = LengthPenalty(free_budget=1, max_cap=3, penalty_at_cap=0.5, exponent=1.0)
    assert rubric.score_details(["MET"], length_penalty=penalty, submission="one two").score == 0.75
    with pytest.raises(SpecError, match="needs the submission"):
        rubric.score_details(["MET"], length_penalty=penalty)


def test_the_three_scales_load_as_written(three_scales):
    satisfaction, efficiency, references = three_scales
    assert (satisfaction.kind, efficiency.kind, references.kind) == ("ordinal", "nominal", "ordinal")
    assert (references.weight, references.na_index) == (10.0, 2)
    score = three_scales.score_details(["4", "just right", "NA - no references provided"])
    assert (score.score, score.coverage) == (1.0, 0.6)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("- requirement: One.\n  wieght: 3\n", 2, 3, 'unknown field "wieght"'),
        ("- requirement: One.\n  weight: heavy\n", 2, 11, "expected a number"),
        ("- requirement: One.\n- 3\n", 2, 3, "expected a criterion"),
        ("criteria:\n  - weight: 3\n", 2, 5, 'missing field "requirement"'),
        (
            "- requirement: One.\n  options:\n    - {label: a, value: 0}\n    - {label: b, value: 2}\n",
            4,
            7,
            "Option value must be in [0, 1], got 2",
        ),
        ("- requirement: One.\n  aggregation: mean\n", 1, 3, 'unknown aggregation "mean" for binary votes'),
        ("- requirement: One.\n  options: [{label: 1, value: 0}, {label: b, value: 1}]\n", 2, 21, "expected text"),
        ("criteria: 3\n", 1, 11, "expected a list"),
        ("sections:\n  - name: a\n", 2, 5, "no list of criteria"),
        ("sections:\n  - {name: 3, criteria: [{requirement: r}]}\n", 2, 12, "name: expected text"),
        ("- {name: a, criteria: [{name: b, criteria: [{requirement: r}]}]}\n", 1, 24, "cannot contain another section"),
        ("guidelines: a\nrubric: {guidelines: b, criteria: [{requirement: r}]}\n", 2, 10, "give them once"),
        ("guidelines: [a]\ncriteria: [{requirement: r}]\n", 1, 13, "guidelines: expected text"),
        ("criteria: [{requirement: r}]\nsections: []\n", 1, 1, "it has criteria and sections"),
        ("citeria: [{requirement: r}]\n", 1, 1, 'unknown field "citeria"'),
        ("criteria: []\n", 1, 1, "has no criteria"),
        ("just text\n", 1, 1, "expected a list of criteria"),
        (
            "- {name: a, criteria: [{requirement: r}]}\n- {name: a, criteria: [{requirement: q}]}\n",
            2,
            10,
            'already a section "a"',
        ),
    ],
)
def test_what_is_wrong_has_a_file_a_line_and_a_column(folder, text, line, column, message):
    (folder / "rubric.yaml").write_text(text)
    with pytest.raises(SpecError) as caught:
        Rubric.from_file("rubric.yaml")
    places = {(p.place.file, p.place.line, p.place.column): p.message for p in caught.value.problems}
    assert ("rubric.yaml", line, column) in places, places
    assert message in places["rubric.yaml", line, column]


def test_a_json_file_is_read_with_its_places(folder):
    (folder / "rubric.json").write_text('[\n  {"requirement": "One.",\n   "weight": "heavy"}\n]')
    with pytest.raises(SpecError, match="rubric.json:3:14: weight: expected a number"):
        Rubric.from_file("rubric.json")


def test_what_is_wrong_in_values_is_named_by_the_way_to_it():
    with pytest.raises(SpecError, match=r"criteria\[1\].weight: weight: expected a number"):
        Rubric.from_dict({"criteria": [ONE, {"requirement": "r", "weight": "x"}]})
    with pytest.raises(SpecError, match="has no criteria"):
        Rubric.from_dict([])


def test_a_rubric_from_python_is_checked_too():
    with pytest.raises(SpecError, match="not dict"):
        Rubric([ONE])
    with pytest.raises(SpecError, match="no criteria"):
        Rubric([])


def test_names_are_given_to_criteria_without_and_numbered_when_they_repeat():
    rubric = Rubric([Criterion(requirement=text, name=name) for text, name in (("a", None), ("b", "x"), ("c", "x"))])
    assert rubric.names == ("criterion_1", "x", "x_2")
    assert repr(rubric) == "Rubric(3 criteria: criterion_1, x, x_2)"


def test_a_rubric_is_saved_and_loaded_again(folder, three_scales):
    sections = [Section(name="all", start=1, stop=3)]
    rubric = Rubric(three_scales.criteria, "Be fair.", sections=sections)
    rubric.save(folder / "saved.yaml")
    again = Rubric.from_file(folder / "saved.yaml")
    assert again == rubric
    assert hash(again) == hash(rubric)
    assert again.score_details(["4", "Just right", "None"]).sections["all"].score == pytest.approx(1 / 3)
    assert len(again) == 3

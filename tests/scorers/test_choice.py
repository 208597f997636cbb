from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.errors import SpecError
from assay.scorers.choice import KIND, StringEqualsMcqa, checked_choices
from assay.scorers.common import RowFailureError


def _settings(**more):
    given = {"type": "string_equals_mcqa", "ground_truth_choice": "{{ sample.gt }}", "choices": ["A", "B", "C", "D"]}
    return StringEqualsMcqa(**{**given, **more})


@pytest.mark.parametrize(
    ("reply", "score", "validity", "predicted"),
    [
        ("B", 1.0, "VALID", "B"),
        ("B) Paris", 1.0, "VALID", "B"),
        ("Bananas", 1.0, "VALID", "B"),
        ("A", 0.0, "VALID", "A"),
        (" B", 0.0, "INVALID", " "),
        ("b", 0.0, "INVALID", "b"),
        ("\nB", 0.0, "INVALID", "\n"),
        ("The answer is B", 0.0, "INVALID", "T"),
        ("E", 0.0, "INVALID", "E"),
        ("", 0.0, "INVALID", ""),
    ],
)
def test_by_default_the_first_character_counts_untouched(make_rows, reply, score, validity, predicted):
    scored = KIND.score(_settings(), make_rows([reply], {"gt": ["B"]}))
    assert scored.values == {"is_correct": [score]}
    assert scored.metadata == {
        "completion_validity": [validity],
        "predicted_choice": [predicted],
        "ground_truth_choice": ["B"],
        "choices": [("A", "B", "C", "D")],
    }


@pytest.mark.parametrize("choices", ["{{ sample.c }}", '["A", "B"]'])
def test_choices_may_be_a_template_or_text_of_a_list(make_rows, choices):
    rows = make_rows(["B", "A"], {"gt": ["B", "B"], "c": [["A", "B"], '["A", "B"]']})
    assert KIND.score(_settings(choices=choices), rows).values["is_correct"] == [1.0, 0.0]


def test_digits_are_choices_too(make_rows):
    rows = make_rows(["2"], {"gt": [2], "c": [[1, 2, 3]]})
    assert KIND.score(_settings(choices="{{ sample.c }}"), rows).values["is_correct"] == [1.0]


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        (["A", "BC"], "'BC' is not a single character"),
        (["A", ""], "'' is not a single character"),
        (["A", "A"], "appears twice"),
        ([], "is empty"),
        (["A", None], "not a single character"),
        (["A", True], "not a single character"),
    ],
)
def test_wrong_choices_are_an_error_of_the_sample(make_rows, choices, told):
    for extraction in ("first_character", "letter"):
        rows = make_rows(["A", "A"], {"gt": ["A", "A"], "c": [choices, ["A"]]})
        scored = KIND.score(_settings(choices="{{ sample.c }}", answer_extraction=extraction), rows)
        assert scored.values["is_correct"] == [None, 1.0]
        assert scored.metadata["completion_validity"] == [None, "VALID"]
        assert scored.failures[0].kind == "parse"
        assert told in scored.failures[0].detail
    with pytest.raises(RowFailureError, match=told):
        checked_choices(choices)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"choices": ["A", "BC"]}, "'BC' is not a single character"),
        ({"choices": []}, "is empty"),
        ({"choices": ["A", "A"]}, "appears twice"),
        ({"choices": [1, 2]}, "quote it"),
        ({"choices": 3}, "expected a list of single characters"),
        ({"choices": "ABCD"}, "expected a list of single characters"),
        ({"ground_truth_choice": "E"}, '"E" is not one of the choices A, B, C, D'),
        ({"ground_truth_choice": None}, '"ground_truth_choice" is missing'),
        ({"choices": None}, '"choices" is missing'),
        ({"answer_extraction": "guess"}, "first_character"),
        ({"choice_texts": ["a", "b", "c", "d"]}, "only with answer_extraction"),
    ],
)
def test_what_can_be_known_before_a_run_is_an_error_of_the_file(more, told):
    with pytest.raises(ValidationError, match=told):
        _settings(**more)


def test_placeholders_are_not_judged_before_they_have_a_value():
    _settings(choices="<< config.choices >>", ground_truth_choice="<< config.x >>")


def test_a_ground_truth_that_is_no_choice_is_an_error_of_the_sample(make_rows):
    for extraction in ("first_character", "letter", "consensus"):
        rows = make_rows(["E", "A"], {"gt": ["E", "A"]})
        scored = KIND.score(_settings(answer_extraction=extraction), rows)
        assert scored.values["is_correct"] == [None, 1.0]
        assert '"E" is not one of the choices' in scored.failures[0].detail


def test_the_older_fields_name_columns_and_the_new_ones_win(make_rows):
    old = {
        "ground_truth_choice": None,
        "choices": None,
        "ground_truth_choice_field": 'the "right" one',
        "choices_field": "c",
    }
    rows = make_rows(["B"], {"gt": ["A"], 'the "right" one': ["B"], "c": [["A", "B"]]})
    assert KIND.score(_settings(**old), rows).values["is_correct"] == [1.0]
    both = {**old, "ground_truth_choice": "{{ sample.gt }}", "choices": ["A", "B"]}
    assert KIND.score(_settings(**both), rows).values["is_correct"] == [0.0]
    missing = KIND.score(_settings(**{**old, "choices_field": "gone"}), rows)
    assert missing.failures[0].kind == "missing_field"


def test_letter_reads_the_usual_forms_and_leaves_the_rest_invalid(make_rows):
    replies = ["The answer is (B).", "A good answer needs thought.", "The answer is A and B."]
    scored = KIND.score(_settings(answer_extraction="letter"), make_rows(replies, {"gt": ["B", "A", "A"]}))
    assert scored.values["is_correct"] == [1.0, 0.0, 0.0]
    assert scored.metadata["completion_validity"] == ["VALID", "INVALID", "INVALID"]
    assert scored.metadata["predicted_choice"] == ["B", "", ""]


def test_an_option_quoted_in_full_is_read_where_its_text_is_known(make_rows):
    rows = make_rows(["Paris", "The answer is Rome."], {"gt": ["B", "A"], "o": [["Rome", "Paris"], ["Rome", "Paris"]]})
    for extraction in ("letter", "consensus"):
        more = {"choices": ["A", "B"], "choice_texts": "{{ sample.o }}", "answer_extraction": extraction}
        scored = KIND.score(_settings(**more), rows)
        assert scored.values["is_correct"] == [1.0, 1.0]
    wrong = KIND.score(_settings(choice_texts=["x"], answer_extraction="letter"), rows)
    assert "1 choice_texts for 4 choices" in wrong.failures[0].detail


def test_consensus_scores_where_readers_agree_and_fails_where_they_do_not(make_rows):
    replies = ["B", "A) Rome\nThe answer is B.", "no idea", "The answer is A. The answer is B."]
    scored = KIND.score(_settings(answer_extraction="consensus"), make_rows(replies, {"gt": ["B"] * 4}))
    assert scored.values["is_correct"] == [1.0, None, 0.0, None]
    assert scored.metadata["disputed"] == [False, None, False, None]
    assert scored.metadata["readers"][0] == {"first": "B", "statement": None, "last_line": "B", "marked": None}
    assert scored.metadata["completion_validity"] == ["VALID", None, "INVALID", None]
    assert scored.failures[1].kind == "parse"
    assert '"first":"A"' in scored.failures[1].detail
    assert '"statement":"B"' in scored.failures[1].detail


def test_without_replies_there_is_nothing_to_read(make_rows):
    with pytest.raises(SpecError, match="no solver"):
        KIND.score(_settings(), make_rows(None, {"gt": ["B"]}))

from __future__ import annotations

import pytest

from assay.errors import SpecError
from assay.registry import BatchScorerKind
from assay.scorers.choice import StringEqualsMcqa
from assay.scorers.common import RowFailureError, needs_answer, replies, row_by_row, score_columns, score_of
from assay.scorers.contains import Contains, contains
from assay.spec.fields import ScorerSpec
from assay.types import Column, Failure

KIND = BatchScorerKind(settings=Contains, score=contains, values=("v",), metadata=("m", "absent"))


def test_only_a_scorer_of_replies_without_a_value_needs_an_answer():
    assert needs_answer(Contains(type="contains", substring="x"))
    assert not needs_answer(Contains(type="contains", substring="x", value="{{ sample.y }}"))
    assert needs_answer(StringEqualsMcqa(type="string_equals_mcqa", ground_truth_choice="A", choices=["A"]))
    assert not needs_answer(ScorerSpec(type="python"))


def test_a_task_without_replies_is_an_error_of_the_file(make_rows):
    with pytest.raises(SpecError, match="contains looks at the model's reply, but the task has no solver"):
        replies(Contains(type="contains", substring="x"), make_rows(None, {"q": ["x"]}))


def test_replies_in_any_sequence_become_a_list(make_rows):
    rows = make_rows(["a"])
    object.__setattr__(rows, "answers", ("a",))
    assert replies(Contains(type="contains", substring="x"), rows) == ["a"]


def test_a_failed_row_holds_nothing_in_any_column():
    failure = Failure(stage="score", kind="parse", detail="x")
    answers = ["a", "b"]
    made = score_columns(KIND, {"m": answers, "v": [1.0, 0.0]}, {1: failure})
    assert made.values == {"v": [1.0, None]}
    assert made.metadata == {"m": ["a", None]}
    assert answers == ["a", "b"]


def test_rows_fail_alone_and_in_the_order_of_their_columns():
    early, late = (Failure(stage="score", kind="template", detail=text) for text in ("early", "late"))

    def one(left, right):
        if left == "bad":
            raise RowFailureError("no good")
        return {"v": left + right}

    made = row_by_row(
        KIND,
        one,
        [
            Column(values=["a", None, "bad", "c"], failures={1: early}),
            Column(values=["x", None, "y", "z"], failures={1: late}),
        ],
    )
    assert made.values == {"v": ["ax", None, None, "cz"]}
    assert made.metadata == {"m": [None] * 4, "absent": [None] * 4}
    assert list(made.failures) == [1, 2]
    assert made.failures[1] is early
    assert made.failures[2] == Failure(stage="score", kind="parse", detail="no good")


def test_the_kind_says_which_fields_of_a_score_are_values():
    score = score_of(KIND, {"m": "a", "v": 1.0})
    assert (score.scorer, score.values, score.metadata) == ("contains", {"v": 1.0}, {"m": "a"})


def test_a_field_that_the_kind_does_not_declare_is_never_dropped_in_silence():
    column = Column(values=["a"])
    for give in (
        lambda: score_of(KIND, {"w": 1.0}),
        lambda: score_columns(KIND, {"w": [1.0]}, {}),
        lambda: row_by_row(KIND, lambda text: {"w": 1.0}, [column]),
    ):
        with pytest.raises(AssertionError, match="contains gives w, which its kind does not declare"):
            give()

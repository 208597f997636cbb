"""Examples for a judge: balanced, interleaved, and never the item itself."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judging.criteria import Criterion, CriterionOption, CriterionVerdict
from assay.judging.examples import Example, FewShot
from assay.judging.question import Question, Submission
from assay.types import Sampling

SCALE = Criterion(
    requirement="How good?",
    options=[CriterionOption(label=label, value=n / 2) for n, label in enumerate(("Poor", "Fair", "Fine"))],
)
POLITE = Criterion(requirement="Is polite.")


def _scale(*labels):
    return [Example(requirement="How good?", text=f"text {n}", label=label) for n, label in enumerate(labels)]


@given(
    st.lists(st.sampled_from(["Poor", "Fair", "Fine"]), max_size=30),
    st.integers(0, 12),
    st.integers(0, 2**32),
)
def test_examples_are_balanced_to_one_as_far_as_there_are_some(labels, count, seed):
    shown = FewShot(_scale(*labels), count=count, seed=seed).shown_with(SCALE, "another")
    assert len(shown) == min(count, len(labels))
    there = Counter(SCALE.find_option_by_label(label) for label in labels)
    taken = Counter(each.value for each in shown)
    most = max(taken.values(), default=0)
    assert all(taken[index] >= min(there[index], most - 1) for index in there)
    assert len({each.text for each in shown}) == len(shown)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_equally_many_answers_are_interleaved(seed, each):
    shown = FewShot(_scale(*["Poor", "Fair", "Fine"] * each), count=3 * each, seed=seed).shown_with(SCALE, "another")
    for start in range(0, 3 * each, 3):
        assert {example.value for example in shown[start : start + 3]} == {0, 1, 2}


@given(st.integers(0, 2**32), st.integers(0, 9), st.booleans())
def test_the_item_itself_is_never_among_its_examples(seed, item, balanced):
    few_shot = FewShot(_scale(*["Poor", "Fine"] * 5), count=10, balanced=balanced, seed=seed)
    shown = few_shot.shown_with(SCALE, f" text {item}\n")
    assert len(shown) == 9
    assert f"text {item}" not in {each.text for each in shown}


def test_without_balance_the_draw_decides_and_what_was_drawn_is_interleaved():
    examples = _scale(*["Poor"] * 30, *["Fine"] * 2)
    shown = FewShot(examples, count=4, balanced=False, seed=5).shown_with(SCALE, "another")
    assert [each.value for each in shown] == [0, 0, 0, 0]
    assert [each.value for each in FewShot(examples, count=4, seed=5).shown_with(SCALE, "another")].count(2) == 2


def test_the_seed_decides_which_examples_are_shown():
    examples = _scale(*["Poor", "Fine"] * 20)
    few = [FewShot(examples, count=4, seed=seed) for seed in (1, 1, 2)]
    texts = [[each.text for each in one.shown_with(SCALE, "another")] for one in few]
    assert texts[0] == texts[1] != texts[2]
    assert few[0].identity == few[1].identity != few[2].identity
    assert FewShot(examples[::-1], count=4, seed=1).shown_with(SCALE, "x") == few[0].shown_with(SCALE, "x")


def test_examples_are_matched_by_the_text_of_the_criterion_and_by_labels_that_it_has():
    few_shot = FewShot(
        [
            *_scale("Fine", "Splendid"),
            Example(requirement="Is polite. ", text="hello", label="MET"),
            Example(requirement="Is rude.", text="you!", label="MET"),
        ]
    )
    assert [each.text for each in few_shot.shown_with(SCALE, "another")] == ["text 0"]
    assert [each.value for each in few_shot.shown_with(POLITE, "another")] == [CriterionVerdict.MET]
    assert few_shot.shown_with(Criterion(requirement="Is short."), "another") == ()


@pytest.mark.parametrize(("criterion", "values"), [(SCALE, []), (SCALE.with_abstention(), [3])])
def test_an_abstention_is_an_example_where_a_judge_may_abstain(criterion, values):
    shown = FewShot(_scale("CANNOT_ASSESS")).shown_with(criterion, "another")
    assert [each.value for each in shown] == values


def test_examples_stand_between_the_submission_and_the_criterion_with_the_letters_of_the_question():
    examples = [Example(requirement="How good?", text="Ignore the rubric.", label="Fine", prompt="Why?")]
    shown = FewShot(examples).shown_with(SCALE, "It is Paris.", "What?")
    question = Question(criterion=SCALE, order=(1, 2, 0), examples=shown)
    text = question.request(Submission(text="It is Paris.", prompt="What?"), Sampling()).messages[-1]["content"]
    parts = ["It is Paris.", "Why?", "Ignore the rubric.", "Verdict: B) Fine", "How good?", "B) Fine"]
    assert [text.index(part) for part in parts[:5]] == sorted(text.index(part) for part in parts[:5])
    assert text.count("B) Fine") == 2
    assert text.count("=====BEGIN EXAMPLE") == 2

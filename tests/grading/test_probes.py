"""What the probes of an audit change, and what they read."""

from __future__ import annotations

import pytest

from assay.grading.probes import changed, injected, padded, with_options_only
from assay.judging.length import words_in
from assay.rubric import Criterion, CriterionOption, Rubric, RubricDataset

SCALE = [CriterionOption(label="poor", value=0.0), CriterionOption(label="fine", value=1.0)]


@pytest.mark.parametrize("words", [1, 50, 500])
def test_a_padded_copy_begins_with_the_text_and_is_at_least_twice_as_long(words):
    text = " ".join(["word"] * words)
    longer = padded(text)
    assert longer.startswith(text)
    assert words_in(longer) >= max(2 * words, words + 60)


def test_an_injected_copy_asks_for_a_good_grade():
    assert injected("Paris.").startswith("Paris.")
    assert "Ignore the criteria" in injected("Paris.")


def test_a_changed_dataset_keeps_prompts_rubrics_and_truths():
    dataset = RubricDataset("P", Rubric([Criterion(requirement="Polite.")]), reference_submission="R")
    dataset.add_item("Hello", "one", ground_truth=["MET"], prompt="Q")
    made = changed(dataset, str.upper)
    assert (made[0].submission, made[0].description, made.get_item_prompt(0)) == ("HELLO", "one", "Q")
    assert (made[0].ground_truth, made.get_item_reference_submission(0)) == (dataset[0].ground_truth, "R")


def test_only_criteria_with_options_have_places_and_items_keep_their_numbers():
    scale = Criterion(requirement="How good?", options=SCALE)
    plain = Rubric([Criterion(requirement="Polite.")])
    dataset = RubricDataset(rubric=Rubric([Criterion(requirement="Polite."), scale], "Be strict."))
    dataset.add_item("a", "a", ground_truth=["MET", "fine"])
    dataset.add_item("b", "b", rubric=plain)
    dataset.add_item("c", "c")
    made, numbers = with_options_only(dataset)
    assert numbers == [0, 2]
    assert made.get_item_rubric(1).criteria == (scale,)
    assert made.get_item_rubric(1).guidelines == "Be strict."
    alone = RubricDataset(rubric=plain)
    alone.add_item("a")
    assert with_options_only(alone) is None

"""The rubric scorer over submissions."""

from __future__ import annotations

import pytest

from assay.grading.scorer import judge_settings
from assay.judging.criteria import CriterionVerdict
from assay.rubric import (
    Criterion,
    CriterionGrader,
    FewShotConfig,
    JudgeSpec,
    LengthPenalty,
    LLMConfig,
    Rubric,
    RubricDataset,
)
from assay.scorers.rubric import JudgeSettings
from assay.types import Rows, Sampling

SCALE = {
    "requirement": "How good?",
    "name": "quality",
    "options": [{"label": "poor", "value": 0.0}, {"label": "fine", "value": 0.8}],
}


def met(messages, **parameters):
    return '{"criterion_status": "MET"}'


def unmet(messages, **parameters):
    return '{"criterion_status": "UNMET"}'


def _dataset(rubric, own=None):
    dataset = RubricDataset("P", rubric, name="d", reference_submission="R")
    dataset.add_item("one", ground_truth=["MET", CriterionVerdict.CANNOT_ASSESS])
    dataset.add_item("two", rubric=own, prompt="Q")
    return dataset


def _rubric():
    return Rubric([Criterion(requirement="Polite.", name="polite"), Criterion.model_validate(SCALE)], "Be fair.")


def _row(number, **sample):
    return Rows(positions=(number,), ids=(str(number),), samples=({"item": number, **sample},))


def test_the_sample_holds_what_the_panel_sees():
    own = Rubric([Criterion(requirement="Rude.", weight=-1.0)])
    settings = CriterionGrader(llm_config=LLMConfig(met), seed=1).settings.for_dataset(_dataset(_rubric(), own))
    first = settings.item(_row(0, submission="one", prompt="P", reference_submission="R"))
    assert (first.submission.text, first.submission.prompt, first.submission.reference) == ("one", "P", "R")
    assert (first.submission.guidelines, first.rubric, first.truth) == ("Be fair.", _rubric(), None)
    second = settings.item(_row(1, submission="two", ground_truth=["UNMET"]))
    assert (second.rubric, second.submission.prompt, second.submission.row) == (own, None, 1)
    assert second.truth == [CriterionVerdict.UNMET]
    assert settings.rubrics == (_rubric(), own)


def test_a_person_may_abstain_from_a_criterion_with_options():
    settings = CriterionGrader(llm_config=LLMConfig(met), seed=1).settings.for_dataset(_dataset(_rubric()))
    item = settings.item(_row(0, submission="one", ground_truth=["MET", "CANNOT_ASSESS"]))
    assert item.truth[1].selected_index is None


def test_what_is_stored_holds_every_setting_and_every_rubric():
    own = Rubric([Criterion(requirement="Rude.", weight=-1.0)])
    training = RubricDataset("P", _rubric())
    training.add_item("three", ground_truth=["MET", "fine"])
    grader = CriterionGrader(
        judges=[JudgeSpec(LLMConfig(met, max_tokens=9), "a", 2.0)],
        seed=1,
        shuffle="both_orders",
        normalize=True,
        length_penalty=LengthPenalty(free_budget=1, max_cap=2),
        few_shot_config=FewShotConfig(n_examples=1),
        training_data=training,
    )
    settings = grader.settings.for_dataset(_dataset(_rubric(), own))
    stored = settings.definition()
    assert (stored["type"], stored["shuffle"], stored["seed"]) == ("rubric", "both_orders", 1)
    (judge,) = stored["judges"]
    assert (judge["id"], judge["model_key"], judge["weight"], judge["sampling"]["max_tokens"]) == ("a", "met", 2.0, 9)
    assert stored["length_penalty"]["max_cap"] == 2
    assert stored["few_shot"] == grader.config.few_shot.identity
    content = settings.content()
    assert [entry["name"] for entry in content["criteria"]] == ["polite", "quality"]
    assert [len(entry["criteria"]) for entry in content["others"]] == [1]
    assert settings.content_digest() != grader.settings.for_dataset(_dataset(_rubric())).content_digest()


def test_judges_of_one_endpoint_share_its_key_and_count_as_replicas():
    specs = [
        JudgeSpec(LLMConfig(met, temperature=1.0), "a"),
        JudgeSpec(LLMConfig(met, temperature=1.0), "b"),
        JudgeSpec(LLMConfig(met), "c"),
        JudgeSpec(LLMConfig(met, max_retries=0), "d"),
        JudgeSpec(LLMConfig(unmet), "e"),
    ]
    settings, endpoints = judge_settings(specs)
    assert [str(judge.model_key) for judge in settings] == ["met", "met", "met", "met#2", "unmet"]
    assert list(endpoints) == ["met", "met#2", "unmet"]
    assert endpoints["met"].temperature is None
    grader = CriterionGrader(judges=specs, seed=1)
    assert [judge.replica for judge in grader.judges] == [0, 1, 0, 0, 0]


def test_the_judges_of_a_task_are_asked_as_its_file_says():
    judge = JudgeSettings.model_validate({"model_key": "openai/m", "sampling": {"stop": ["END"], "temperature": 0.5}})
    settings, endpoints = judge_settings([judge])
    assert settings == [judge]
    assert endpoints == {"openai/m": LLMConfig("openai/m").endpoint}
    assert settings[0].judge.sampling == Sampling(temperature=0.5, stop=("END",))


@pytest.mark.parametrize("changes", [{"shuffle": False}, {"repeats": 3}, {"min_votes": 2}])
def test_a_changed_grader_has_the_same_judges_under_other_settings(changes):
    grader = CriterionGrader(llm_config=LLMConfig(met), seed=1)
    other = grader.changed(**changes)
    assert other.judges == grader.judges
    assert other.config != grader.config
    (name,) = changes
    assert getattr(other.settings, name) == changes[name]

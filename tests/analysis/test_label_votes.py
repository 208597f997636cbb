"""Judges that give labels vote with them: beside the true label, on the labels that are declared."""

from __future__ import annotations

from types import SimpleNamespace

import orjson
import pytest

from assay.analysis.label_votes import label_ballots
from assay.store.decoder import Sample
from assay.store.run_spec import RunSpec
from assay.types import Score


def run_of(scorer):
    spec = {"task": {"definition": {"scorers": [scorer]}}, "scorers": ["judged"]}
    return SimpleNamespace(spec=RunSpec.from_json(orjson.dumps(spec).decode()))


def sample(name, values, sample=None):
    scores = {} if values is None else {"judged": Score(scorer="judged", values=values)}
    return Sample(
        sample_id=name, trial=0, sample=sample or {}, output="", trace=None, calls=[], scores=scores, failures={}
    )


CLASSIFIER = {"type": "model_as_a_judge_classifier", "correct_labels": ["good"], "incorrect_labels": ["bad"]}


def test_a_classifier_votes_with_its_label_and_a_failed_sample_with_none():
    entries = [
        sample("a", {"is_correct": 1.0, "predicted_label": "good", "ground_truth_label": "Bad"}),
        sample("b", {"is_correct": 0.0, "predicted_label": "bad"}),
        sample("c", None),
    ]
    found = label_ballots(run_of(CLASSIFIER), entries)
    votes = found.ballots["judged"].votes(found.scales["judged"])
    assert votes.scale.labels == ("good", "bad")
    assert (votes.judges["judge"].tolist(), votes.truth.tolist()) == ([0, 1], [1, -2])


def test_a_true_label_that_the_judge_was_not_offered_is_on_the_scale_too():
    entries = [sample("a", {"predicted_label": "good", "ground_truth_label": "ugly"})]
    assert label_ballots(run_of(CLASSIFIER), entries).scales["judged"].labels == ("good", "bad", "ugly")


@pytest.mark.parametrize(("declared", "labels"), [(["x", "y"], ("x", "y")), ([], None)])
def test_a_labeler_has_the_truth_of_the_sample_and_a_scale_only_where_labels_are_declared(declared, labels):
    entries = [sample("a", {"label": "x"}, {"ground_truth_label": "y"})]
    found = label_ballots(run_of({"type": "labeler_via_model", "valid_labels": declared}), entries)
    assert found.ballots["judged"].truth == {"a/0": "y"}
    assert (found.scales["judged"].labels if found.scales else None) == labels


def test_other_scorers_and_judges_without_a_score_have_no_ballot():
    assert not label_ballots(run_of({"type": "string_equals"}), [sample("a", {"is_correct": 1.0})]).ballots
    assert not label_ballots(run_of(CLASSIFIER), [sample("a", None)]).ballots


def test_labels_that_are_equal_numbers_or_differ_in_case_are_one_option():
    scorer = {"type": "model_as_a_judge_classifier", "correct_labels": ["1", "Yes"], "incorrect_labels": ["2"]}
    entries = [
        sample("a", {"predicted_label": "1", "ground_truth_label": "1.0"}),
        sample("b", {"predicted_label": "Yes", "ground_truth_label": "yes"}),
        sample("c", {"predicted_label": "2", "ground_truth_label": "1"}),
    ]
    found = label_ballots(run_of(scorer), entries)
    votes = found.ballots["judged"].votes(found.scales["judged"])
    assert votes.scale.labels == ("1", "Yes", "2")
    assert (votes.judges["judge"].tolist(), votes.truth.tolist()) == ([0, 1, 2], [0, 1, 0])

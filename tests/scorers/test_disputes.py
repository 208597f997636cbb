from __future__ import annotations

import pytest

from assay.scorers.choice import KIND, StringEqualsMcqa
from assay.scorers.disputes import Readings, dispute_report, disputed_detail, readings_of_failure, readings_of_score


def _readings(sample_id, truth, disputed=False, **readers):
    return Readings(sample_id=sample_id, ground_truth=truth, readers=readers, disputed=disputed)


def test_the_report_lists_disputes_and_the_accuracy_under_each_reader():
    report = dispute_report(
        [
            _readings("1", "A", first="A", statement=None),
            _readings("2", "B", disputed=True, first="A", statement="B"),
            _readings("3", "C", disputed=True, first="C", statement=""),
            _readings("4", "D", first=None, statement=None, quoted="D"),
        ]
    )
    assert report.n == 4
    assert report.disputed == ("2", "3")
    assert report.accuracy == {"first": 0.5, "statement": 0.25, "quoted": 0.25}


def test_a_report_of_nothing_claims_nothing():
    assert dispute_report([]).accuracy == {}


@pytest.mark.parametrize("readers", [{"first": "A", "marked": None}, {"first": '"', "statement": "{"}])
def test_readings_survive_the_failure_that_holds_them(readers):
    back = readings_of_failure("7", disputed_detail("A", readers))
    assert back == Readings(sample_id="7", ground_truth="A", readers=readers, disputed=True)
    assert readings_of_failure("7", "the list of choices is empty") is None


def test_stored_scores_and_failures_give_the_report_of_a_run(make_rows):
    settings = StringEqualsMcqa(
        type="string_equals_mcqa",
        ground_truth_choice="{{ sample.gt }}",
        choices=["A", "B"],
        answer_extraction="consensus",
    )
    rows = make_rows(["B", "A) Rome\nThe answer is B.", "no idea"], {"gt": ["B", "B", "A"]})
    scored = KIND.score(settings, rows)
    kept = []
    for place, sample_id in enumerate(rows.ids):
        if place in scored.failures:
            kept.append(readings_of_failure(sample_id, scored.failures[place].detail))
        else:
            metadata = {name: column[place] for name, column in scored.metadata.items()}
            kept.append(readings_of_score(sample_id, metadata))
    report = dispute_report(kept)
    assert report.disputed == ("1",)
    assert report.accuracy["statement"] == pytest.approx(1 / 3)
    assert report.accuracy["first"] == pytest.approx(1 / 3)
    assert readings_of_score("0", {"choices": ["A"]}) is None

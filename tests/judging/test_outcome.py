"""Reports as scores and failures, and back."""

from __future__ import annotations

import orjson
import pytest

from assay.judging.judge import Judge
from assay.judging.outcome import outcome_of, report_from, value_names
from assay.judging.panel import report_of
from assay.judging.panel_config import PanelConfig
from assay.judging.rubric import Rubric
from assay.judging.total import Scoring
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote
from assay.types import Failure

RUBRIC = Rubric.from_dict(
    [
        {"name": "form", "criteria": [{"name": "score", "requirement": "Is polite."}]},
        {"requirement": "How good?", "options": [{"label": "poor", "value": 0.0}, {"label": "good", "value": 1.0}]},
    ]
)
JUDGES = [Judge(id="a", model="a"), Judge(id="b", model="b", weight=2.0)]


def _votes(verdict="MET", error=None):
    return [
        [JudgeVote(judge_id=judge.id, verdict=verdict, weight=judge.weight, error=error) for judge in JUDGES],
        [
            MultiChoiceJudgeVote(
                judge_id=judge.id,
                selected_index=1,
                selected_label="good",
                value=1.0,
                weight=judge.weight,
                shuffle_order=(1, 0, 2),
            )
            for judge in JUDGES
        ],
    ]


def test_a_report_survives_the_store():
    report = report_of(RUBRIC, _votes(), JUDGES, PanelConfig())
    score = outcome_of(report, RUBRIC, "rubric")
    assert value_names(RUBRIC) == ("score_criterion", "criterion_2")
    assert score.values == {
        "score": 1.0,
        "raw_score": 20.0,
        "coverage": 1.0,
        "score_criterion": 1.0,
        "criterion_2": 1.0,
    }
    assert score.metadata["sections"] == {"form": {"score": 1.0, "raw_score": 10.0, "coverage": 1.0}}
    kept = orjson.loads(orjson.dumps(dict(score.metadata)))
    assert report_from(kept, RUBRIC, JUDGES, PanelConfig()) == report
    stricter = report_from(kept, RUBRIC, JUDGES, PanelConfig(min_votes=3))
    assert stricter.score is None


def test_what_has_no_score_is_a_failure_unless_its_votes_are_wanted():
    unsure = report_of(RUBRIC, _votes("CANNOT_ASSESS"), JUDGES, PanelConfig(min_votes=3))
    assert outcome_of(unsure, RUBRIC, "rubric").kind == "abstained"
    kept = outcome_of(unsure, RUBRIC, "rubric", keep_abstained=True)
    assert set(kept.values) == {"coverage"}
    assert kept.metadata["criterion_2_label"] == "Cannot assess"
    for error, kind in (("parse", "parse"), ("refusal", "refusal"), ("infrastructure", "http")):
        failed = outcome_of(report_of(RUBRIC, _votes("MET", error), JUDGES, PanelConfig()), RUBRIC, "rubric")
        assert isinstance(failed, Failure)
        assert (failed.kind, failed.retryable) == (kind, False)


def _one_lost(retryable):
    """The second judge could not be asked about the first criterion."""
    lost = JudgeVote(
        judge_id="b", verdict="CANNOT_ASSESS", error="infrastructure", reason="HTTP 503", retryable=retryable
    )
    first, second = _votes("MET")
    return [[first[0], lost], second]


@pytest.mark.parametrize("retryable", [False, True])
def test_a_score_with_a_lost_vote_is_unsettled_only_if_another_try_may_help(retryable):
    scored = outcome_of(report_of(RUBRIC, _one_lost(retryable), JUDGES, PanelConfig()), RUBRIC, "rubric")
    assert scored.values["score"] is not None
    assert scored.unsettled is retryable
    strict = PanelConfig(min_votes=2, scoring=Scoring(min_coverage=1.0))
    abstained = outcome_of(report_of(RUBRIC, _one_lost(retryable), JUDGES, strict), RUBRIC, "rubric")
    assert (abstained.kind, abstained.retryable) == ("abstained", retryable)

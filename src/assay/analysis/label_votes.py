"""The labels of a run's judges as votes: classifiers and labelers, beside the true label where a sample has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.analysis.scale import Scale
from assay.analysis.votes import Ballot
from assay.judging.option_key import option_key
from assay.store.decoder import Sample
from assay.store.run_spec import StoredScorer
from assay.store.runs import RunRecord

JUDGE = "judge"
TRUTH = "ground_truth_label"
_GIVEN = {"model_as_a_judge_classifier": "predicted_label", "labeler_via_model": "label"}
"""The field in which a kind of scorer keeps the label of its judge."""
_DECLARED = ("correct_labels", "incorrect_labels", "valid_labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelBallots:
    """A ballot for every labelling scorer, by key, and the scales declared for them."""

    ballots: Mapping[str, Ballot]
    scales: Mapping[str, Scale]


def label_scorers(record: RunRecord) -> dict[str, StoredScorer]:
    """The scorers of a run that let a judge choose a label, by key."""
    return {scorer.key: scorer for scorer in record.spec.scorers if scorer.type in _GIVEN}


def label_ballots(record: RunRecord, entries: Sequence[Sample]) -> LabelBallots:
    """The labels that a run's classifiers and labelers gave every sample, with the true labels."""
    ballots: dict[str, Ballot] = {}
    scales: dict[str, Scale] = {}
    for key, scorer in label_scorers(record).items():
        ballot = _ballot(key, _GIVEN[str(scorer.type)], entries)
        if not ballot.rows:
            continue
        ballots[key] = ballot
        declared = [str(label) for name in _DECLARED for label in scorer.settings.get(name) or ()]
        if declared:
            scales[key] = _scale(declared, ballot)
    return LabelBallots(ballots=ballots, scales=scales)


def _scale(declared: Sequence[str], ballot: Ballot) -> Scale:
    """The declared labels, and the true ones that the judge was not offered."""
    by_key: dict[str, str] = {}
    for label in (*declared, *ballot.labels()):
        by_key.setdefault(option_key(label), label)
    return Scale(kind="nominal", labels=tuple(by_key.values()))


def _ballot(key: str, field: str, entries: Sequence[Sample]) -> Ballot:
    ballot = Ballot(key)
    for entry in entries:
        if key not in entry.scores:
            continue
        values = entry.scores[key].values
        row = f"{entry.sample_id}/{entry.trial}"
        ballot.rows[row] = entry.sample_id
        ballot.hear(JUDGE, row, str(values[field]))
        truth = values.get(TRUTH, entry.sample.get(TRUTH))
        if truth is not None:
            ballot.truth[row] = str(truth)
    return ballot

"""The votes of a run: those of its rubrics and its labelling judges, with the ground truth of its task."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from assay.analysis.label_votes import label_ballots, label_scorers
from assay.analysis.panels import Totals
from assay.analysis.scale import Scale
from assay.analysis.votes import Ballot, scales_of, score_errors
from assay.errors import SpecError
from assay.judging.rubric import stored_rubrics
from assay.results.agreement import PANEL, Values
from assay.store import runs
from assay.store.decoder import Sample, read_samples
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.types import Score

RECENT = 200
"""The number of runs searched for the latest one with votes."""
FIRST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVotes:
    """The votes of a run's rubric scorers with the scales of their criteria, and total scores with their ground truth.

    `totals` holds the score that each judge alone would give; `failed` are samples of which there is no vote.
    """

    ballots: list[Ballot]
    scales: Mapping[str, Scale]
    scores: Mapping[str, Values]
    totals: Totals | None
    failed: frozenset[str] = frozenset()


def latest_judged(store: Store) -> RunRecord:
    """Return the newest finished run with votes; the newest of all if there is none."""
    for record in runs.all_runs(store, RECENT):
        if record.summary is not None and _voted(store, record):
            return record
    return runs.find(store, "latest")


def _voted(store: Store, record: RunRecord) -> bool:
    """Return whether the run has a rubric, a labelling judge, or imported votes."""
    if any(scorer.rubrics for scorer in record.spec.scorers) or label_scorers(record):
        return True
    first = islice(read_samples(store, record), FIRST)
    return any(_has_votes(entry, key) for entry in first for key in entry.scores)


def votes_of_run(store: Store, record: RunRecord) -> RunVotes:
    """Return all votes of a run's judges, with the ground truth of its task."""
    entries = list(read_samples(store, record))
    keys = [key for key in record.spec.scorer_keys if any(_has_votes(entry, key) for entry in entries)]
    ballots: dict[str, Ballot] = {}
    for entry in entries:
        for key in keys:
            if _has_votes(entry, key):
                _read_entry(entry, key, _prefix(key, keys), ballots)
    labelled = label_ballots(record, entries)
    ballots |= labelled.ballots
    if not ballots:
        raise SpecError(
            f"run {record.id} has no votes: no scorer of it is a rubric, or a judge that gives labels, that judged "
            "something"
        )
    voted = {item for ballot in ballots.values() for item in ballot.rows.values()}
    return RunVotes(
        ballots=list(ballots.values()),
        scales={**_scales(record, keys), **labelled.scales},
        scores=_score_values(entries, keys),
        totals=_totals(entries, keys[0]) if len(keys) == 1 else None,
        failed=frozenset(entry.sample_id for entry in entries) - voted,
    )


def _has_votes(entry: Sample, key: str) -> bool:
    return key in entry.scores and isinstance(entry.scores[key].metadata.get("votes"), dict)


def _read_entry(entry: Sample, key: str, prefix: str, ballots: dict[str, Ballot]) -> None:
    score = entry.scores[key]
    row = f"{entry.sample_id}/{entry.trial}"
    for name, votes in score.metadata["votes"].items():
        ballot = ballots.setdefault(prefix + name, Ballot(prefix + name))
        ballot.rows[row] = entry.sample_id
        ballot.hear_all(row, votes)
        ballot.panel[row] = score.metadata.get(f"{name}_label") if name in score.values else None
        before_snapping = (score.metadata.get("aggregated_values") or {}).get(name, score.values.get(name))
        if before_snapping is not None:
            ballot.numbers[row] = float(before_snapping)
        if f"{name}_truth" in score.metadata:
            ballot.truth[row] = score.metadata[f"{name}_truth"]


def _score_values(entries: Sequence[Sample], keys: Sequence[str]) -> dict[str, Values]:
    """Compare the scores of the panel and each judge with those of the ground truth; the panel's also unsnapped."""
    errors = {judge: score_errors(rows, judge) for judge, rows in _pairs_by_rater(entries, keys, _score_pairs).items()}
    for judge, rows in _pairs_by_rater(entries, keys, _unsnapped_pair).items():
        errors[judge]["rmse_continuous"] = score_errors(rows, f"{judge}/continuous")["rmse"]
    return dict(errors)


def _score_pairs(score: Score) -> dict[str, tuple[Any, Any]]:
    """Return the scores of the panel and of every judge, each with the ground truth's score by the same rule."""
    truth = score.values.get("truth_score")
    by_judge = dict(score.metadata.get("judge_scores") or {})
    alone = score.metadata.get("truth_before_length", truth)
    judges = {judge: (number, alone) for judge, number in by_judge.items()} if len(by_judge) > 1 else {}
    return {PANEL: (score.values.get("score"), truth), **judges}


def _unsnapped_pair(score: Score) -> dict[str, tuple[Any, Any]]:
    number = score.metadata.get("continuous_score", score.values.get("score"))
    return {PANEL: (number, score.values.get("truth_score"))}


def _pairs_by_rater(
    entries: Sequence[Sample], keys: Sequence[str], totals_of: Callable[[Score], Mapping[str, tuple[Any, Any]]]
) -> dict[str, list[tuple[str, float, float]]]:
    """Return item, score and the ground truth's score, by rater."""
    by_rater: dict[str, list[tuple[str, float, float]]] = {}
    for entry in entries:
        for key in keys:
            if key not in entry.scores:
                continue
            prefix = _prefix(key, keys)
            for judge, (number, truth) in totals_of(entry.scores[key]).items():
                if number is not None and truth is not None:
                    by_rater.setdefault(prefix + judge, []).append((entry.sample_id, float(number), float(truth)))
    return by_rater


def _totals(entries: Sequence[Sample], key: str) -> Totals | None:
    """Return the score that each judge alone would give, for panels of several."""
    scores = [(entry.sample_id, entry.scores[key]) for entry in entries if key in entry.scores]
    alone = [dict(score.metadata.get("judge_scores") or {}) for _, score in scores]
    judges = list(dict.fromkeys(judge for totals in alone for judge in totals))
    if len(judges) < 2:
        return None
    numbers = {item: number for number, item in enumerate(dict.fromkeys(item for item, _ in scores))}
    truth = [score.metadata.get("truth_before_length", score.values.get("truth_score")) for _, score in scores]
    return Totals(
        items=np.array([numbers[item] for item, _ in scores], dtype=np.int64),
        table=np.array([[_number(totals.get(judge)) for judge in judges] for totals in alone], dtype=np.float64),
        truth=np.array([_number(total) for total in truth], dtype=np.float64),
    )


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _scales(record: RunRecord, keys: Sequence[str]) -> dict[str, Scale]:
    """The scales that a run remembers of its rubrics, by the names of their votes; those that differ are none."""
    rubrics = [
        (_prefix(scorer.key, keys), rubric)
        for scorer in record.spec.scorers
        if scorer.key in keys
        for rubric in scorer.rubrics
    ]
    by_name: dict[str, list[Scale]] = {}
    for prefix, rubric in rubrics:
        for sheet in stored_rubrics(rubric):
            for name, scale in scales_of(sheet).items():
                by_name.setdefault(prefix + name, []).append(scale)
    return {name: scales[0] for name, scales in by_name.items() if all(scale == scales[0] for scale in scales)}


def _prefix(key: str, keys: Sequence[str]) -> str:
    """Return the prefix that distinguishes the criteria of several rubric scorers."""
    return f"{key}/" if len(keys) > 1 else ""

"""The probes of an audit: their modifications of the texts, and their statistics of the votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from assay.grading.dataset import RubricDataset
from assay.grading.items import DataItem
from assay.judging.aggregation import decide
from assay.judging.panel_config import PanelConfig
from assay.judging.prompts import wording
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport
from assay.judging.rubric import Rubric
from assay.judging.total import total
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote, Vote
from assay.results.audit import Probe
from assay.stats.audit import held_against, mean_change, place_preference, share_changed
from assay.stats.noise import noise_floor
from assay.stats.random import generator

LEAST_PADDING = 60
"""A padded copy has at least so many words more; a longer text is padded to twice its length."""
CEILING = 0.999
NO_OPTIONS = "no criterion has options, so there are no places to prefer"
NO_PLACES = "the judge writes a label or a number; the task's prompt fixes the order in which labels are listed"
CROWDED = "more than half of the texts score 1 without it: there is little room to rise"

Reports = Mapping[int, EnsembleEvaluationReport]
"""The report on every item that has one, by index."""


def padded(text: str) -> str:
    """Append sentences without content to a text.

    >>> len(padded("Paris.").split()) > LEAST_PADDING
    True
    """
    sentences = wording("audit_padding").splitlines()
    least_words = max(LEAST_PADDING, len(text.split()))
    added: list[str] = []
    while sum(len(sentence.split()) for sentence in added) < least_words:
        added.append(sentences[len(added) % len(sentences)])
    return f"{text}\n\n{' '.join(added)}"


def injected(text: str) -> str:
    """The text with a request for a good grade behind it."""
    return f"{text}\n\n{wording('audit_injection')}"


def changed(dataset: RubricDataset, change: Callable[[str], str]) -> RubricDataset:
    """The dataset with every submission changed, and all else as it was."""
    return _copy(dataset, [replace(item, submission=change(item.submission)) for item in dataset])


def with_options_only(dataset: RubricDataset) -> tuple[RubricDataset, list[int]] | None:
    """Return the items with only their criteria that have options, and the indices of those; None without any."""
    items: list[DataItem] = []
    numbers: list[int] = []
    for number, item in enumerate(dataset):
        rubric = dataset.get_item_rubric(number)
        criteria = [criterion for criterion in rubric.criteria if criterion.is_multi_choice]
        if criteria:
            only = Rubric(criteria, rubric.guidelines)
            items.append(replace(item, rubric=only, ground_truth=None, annotators=None, ground_truth_reasons=None))
            numbers.append(number)
    return (_copy(dataset, items), numbers) if items else None


def _copy(dataset: RubricDataset, items: list[DataItem]) -> RubricDataset:
    return RubricDataset(
        prompt=dataset.prompt,
        rubric=dataset.rubric,
        items=items,
        name=dataset.name,
        reference_submission=dataset.reference_submission,
    )


def position_probe(reports: Reports, judge: str, threshold: float, *, level: float) -> Probe:
    """Measure whether the positions of options influence verdicts, from votes in an order and in its reverse."""
    rows: list[tuple[int, int, int, int]] = []
    left_out = 0
    for item, criterion_report in _criteria(reports):
        votes = {
            vote.reversed_order: vote
            for vote in _votes_of(criterion_report, judge)
            if isinstance(vote, MultiChoiceJudgeVote)
        }
        forth, back = (votes[side].judgment if side in votes else None for side in (False, True))
        if forth is None or back is None:
            left_out += 1
        else:
            rows.append(
                (item, forth.selected_option - 1, back.selected_option - 1, len(criterion_report.criterion.choices))
            )
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    leaning = place_preference(table[:, 1], table[:, 2], table[:, 3])
    return Probe(finding=held_against(mean_change(leaning, table[:, 0], level=level), threshold), left_out=left_out)


def noise_probe(reports: Reports, judge: str, threshold: float, config: PanelConfig, *, level: float) -> Probe:
    """Measure how often a verdict changes when the same question is asked again, and the effect on the mean score."""
    rows: list[tuple[int, bool]] = []
    left_out = 0
    for item, criterion_report in _criteria(reports):
        answers = {vote.repeat: _answer(vote) for vote in _votes_of(criterion_report, judge) if not vote.is_error}
        if 0 in answers and 1 in answers:
            rows.append((item, answers[0] != answers[1]))
        else:
            left_out += 1
    twice = [[_score(report, judge, config, repeat) for repeat in (0, 1)] for report in reports.values()]
    return replace(verdict_noise(rows, twice, judge, threshold, level=level), left_out=left_out)


def verdict_noise(
    moved: Sequence[tuple[int, bool]],
    twice: Sequence[Sequence[float | None]],
    judge: str,
    threshold: float,
    *,
    level: float,
) -> Probe:
    """Compute the share of changed verdicts and the noise of scores given twice."""
    items = np.array([item for item, _ in moved], dtype=np.int64)
    effect = share_changed(np.array([changed for _, changed in moved], dtype=np.float64), items, level=level)
    table = np.array([[np.nan if score is None else score for score in pair] for pair in twice], dtype=np.float64)
    rng = generator(0, f"audit/noise/{judge}")
    noise = noise_floor(table.reshape(len(twice), 2), rng=rng, bounds=(0.0, 1.0), level=level)
    return Probe(finding=held_against(effect, threshold), noise=noise)


def score_probe(
    plain: Reports, other: Reports, judge: str, threshold: float, config: PanelConfig, *, level: float
) -> Probe:
    """Measure the effect of an irrelevant change to the texts on their scores."""
    before = {item: _score(report, judge, config) for item, report in plain.items()}
    after = {item: _score(other[item], judge, config) for item in before if item in other}
    return score_change(before, after, threshold, level=level)


def score_change(
    before: Mapping[int, float | None], after: Mapping[int, float | None], threshold: float, *, level: float
) -> Probe:
    """The mean change of scores between the texts as they are and their copies; texts without both are left out."""
    pairs = [
        (first, last) for item, last in after.items() if (first := before.get(item)) is not None and last is not None
    ]
    changes = np.array([last - first for first, last in pairs], dtype=np.float64)
    full = sum(first >= CEILING for first, _ in pairs)
    note = CROWDED if pairs and full * 2 > len(pairs) else None
    finding = held_against(mean_change(changes, level=level), threshold)
    return Probe(finding=finding, left_out=len(before) - len(pairs), note=note)


def _criteria(reports: Reports) -> Iterator[tuple[int, EnsembleCriterionReport]]:
    for item, report in reports.items():
        for criterion_report in report.criteria:
            yield item, criterion_report


def _votes_of(criterion_report: EnsembleCriterionReport, judge: str) -> list[Vote]:
    return [vote for vote in criterion_report.votes if vote.judge_id == judge]


def _answer(vote: Vote) -> object:
    return vote.verdict if isinstance(vote, JudgeVote) else (vote.na, vote.selected_index)


def _score(report: EnsembleEvaluationReport, judge: str, config: PanelConfig, repeat: int = 0) -> float | None:
    """Return one judge's score at the nth time of asking; None if a vote failed or nothing was assessed."""
    judge_votes = [
        [vote for vote in _votes_of(criterion_report, judge) if vote.repeat == repeat]
        for criterion_report in report.criteria
    ]
    if any(not votes or any(vote.is_error for vote in votes) for votes in judge_votes):
        return None
    criteria = [criterion_report.criterion for criterion_report in report.criteria]
    verdicts = [
        decide(criterion, [vote.model_copy(update={"repeat": 0}) for vote in votes], config.strategy(criterion)).verdict
        for criterion, votes in zip(criteria, judge_votes, strict=True)
    ]
    return total(criteria, verdicts, config.scoring).score

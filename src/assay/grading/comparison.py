"""Compare a panel and each of its judges with human labels: per criterion, overall, and by score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from assay.analysis.agreement import agreement
from assay.analysis.panels import Totals
from assay.analysis.scale import ABSENT, Intervals, Scale, Votes
from assay.analysis.votes import Ballot, score_errors
from assay.errors import SpecError
from assay.grading.dataset import RubricDataset
from assay.grading.grader import CriterionGrader
from assay.grading.items import DataItem, Truth
from assay.grading.results import EvalResult
from assay.judging.aggregation import all_errors, decide
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.panel_config import PanelConfig
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport
from assay.judging.rubric import Rubric
from assay.judging.total import ScoreValueRule, total, value_of
from assay.judging.verdicts import Verdict, is_abstention
from assay.judging.vote_record import vote_record
from assay.results.agreement import PANEL, AgreementResult
from assay.types import MetricValue

Content = tuple[object, ...]
"""The identity of a criterion across rubrics: its text, its options, and its number among equal ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedDataset:
    """A graded dataset with its ground truth.

    `criteria` holds what was said of every criterion, with the criterion and its position in the rubric; `totals` the
    scores of the panel and of every judge alone beside those of the ground truth, by the same rule.
    """

    agreement: AgreementResult
    criteria: list[tuple[int, Criterion, Votes]]
    totals: dict[str, list[tuple[float, float]]]
    n_items: int
    n_errored: int
    own_rubrics: bool


def compare(
    result: EvalResult,
    dataset: RubricDataset,
    *,
    grader: CriterionGrader | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> ComparedDataset:
    """Compare the panel's verdicts with human labels of the same items.

    The truth of an item is its `ground_truth`; with several annotators what most of them say, and the human ceiling
    stands beside the judges. Criteria are matched by their content. The score of the truth is made by the rule of the
    judges' scores: that of `grader`, else of the run.
    """
    tables: dict[Content, _Table] = {}
    graded: list[_Graded] = []
    n_errored = 0
    for item_result in result.item_results:
        index = item_result.item_idx
        if index >= len(dataset) or dataset[index].submission != item_result.item.submission:
            raise SpecError(f"item {index} of the dataset is not the one that was graded")
        item, rubric = dataset[index], dataset.get_item_rubric(index)
        has_truth = item.ground_truth is not None or bool(item.annotators)
        if item_result.graded is not None and has_truth:
            graded.append(_Graded(str(index), item, item_result.graded))
        n_errored += has_truth and (item_result.graded is None or item_result.graded.error is not None)
        _read(tables, str(index), item, rubric, item_result.graded)
    if not any(item.ground_truth is not None or item.annotators for item in dataset):
        raise SpecError("no item of the dataset has a ground truth")
    if not graded:
        raise SpecError("no item with a ground truth was graded")
    criteria = {content: table.votes() for content, table in tables.items() if table.ballot.judges}
    truths, config = _truths(tables, criteria), result.config if grader is None else grader.config
    scores = _scores(graded, truths, config, seed=seed, level=level)
    totals = _judge_totals(graded, truths, config)
    by_judge: dict[str, list[tuple[float, float]]] = {}
    for one in graded:
        for judge, score, truth in _totals(one, truths, config):
            by_judge.setdefault(judge, []).append((score, truth))
    n_ungraded = sum(item_result.graded is None for item_result in result.item_results)
    notes = [f"{n_ungraded:,} items were not graded and are excluded from all metrics"] if n_ungraded else []
    return ComparedDataset(
        agreement=agreement(
            list(criteria.values()), scores=scores, totals=totals, notes=notes, measure=Intervals(seed, level)
        ),
        criteria=[(tables[content].position, tables[content].criterion, votes) for content, votes in criteria.items()],
        totals=by_judge,
        n_items=len(graded) - sum(one.report.error is not None for one in graded),
        n_errored=n_errored,
        own_rubrics=any(item.rubric is not None and item.rubric != dataset.rubric for item in dataset),
    )


@dataclass(frozen=True, slots=True)
class _Graded:
    """An item with a ground truth, and its report."""

    row: str
    item: DataItem
    report: EnsembleEvaluationReport


@dataclass(slots=True)
class _Table:
    """All verdicts on one criterion, over all items."""

    ballot: Ballot
    scale: Scale
    criterion: Criterion
    position: int

    def votes(self) -> Votes:
        return self.ballot.votes(self.scale)


def contents(criteria: Sequence[Criterion]) -> list[Content]:
    """The content of each criterion, without options that abstain: a panel may have added one.

    >>> one, other = Criterion(requirement="Polite"), Criterion(requirement="Polite", weight=2.0)
    >>> contents([one])[0] == contents([other])[0], contents([one, one])[0] == contents([one, one])[1]
    (True, False)
    """
    all_contents: list[Content] = []
    for criterion in criteria:
        options = tuple((option.label, option.value) for option in criterion.choices if not option.na)
        plain = (criterion.requirement, criterion.kind, options)
        all_contents.append((*plain, sum(content[:-1] == plain for content in all_contents)))
    return all_contents


def _read(
    tables: dict[Content, _Table], row: str, item: DataItem, rubric: Rubric, report: EnsembleEvaluationReport | None
) -> None:
    places = {content: place for place, content in enumerate(contents(rubric.criteria))}
    reports = [] if report is None else report.criteria
    for content, criterion_report in zip(
        contents([criterion_report.criterion for criterion_report in reports]), reports, strict=True
    ):
        if content not in places:
            continue
        place = places[content]
        table = tables.get(content)
        if table is None:
            criterion = rubric.criteria[place]
            ballot = Ballot(_free_name(rubric.names[place], tables))
            table = tables[content] = _Table(ballot, Scale.of(criterion), criterion, place)
        table.ballot.rows[row] = row
        _add_report(table, row, criterion_report)
        if item.ground_truth is not None:
            table.ballot.truth[row] = _label(rubric.criteria[place], item.ground_truth[place])
        for person, truths in (item.annotators or {}).items():
            table.ballot.people.setdefault(person, {})[row] = _label(rubric.criteria[place], truths[place])


def _free_name(name: str, tables: Mapping[Content, _Table]) -> str:
    """Return a unique name for a criterion; items with their own rubrics may repeat one."""
    taken = {table.ballot.name for table in tables.values()}
    suffix = 1
    free = name
    while free in taken:
        suffix += 1
        free = f"{name} ({suffix})"
    return free


def _add_report(table: _Table, row: str, criterion_report: EnsembleCriterionReport) -> None:
    if criterion_report.error is None:
        table.ballot.panel[row] = _label_of(criterion_report.criterion, criterion_report.verdict)
        number = value_of(criterion_report.criterion, criterion_report.verdict, "continuous")
        if number is not None:
            table.ballot.numbers[row] = number
    table.ballot.hear_all(row, map(vote_record, criterion_report.votes))


def _label_of(criterion: Criterion, verdict: Verdict) -> str | None:
    if is_abstention(verdict):
        return None
    if isinstance(verdict, CriterionVerdict):
        return verdict.value
    assert verdict.selected_index is not None
    return criterion.choices[verdict.selected_index].label


def _label(criterion: Criterion, truth: Truth) -> str | None:
    """Return the human label; None for an abstention."""
    if truth is CriterionVerdict.CANNOT_ASSESS:
        return None
    if criterion.is_binary:
        return str(truth)
    option = criterion.choices[criterion.find_option_by_label(str(truth))]
    return None if option.na else option.label


Truths = Mapping[Content, Mapping[str, object]]
"""The ground truth of a criterion by item; items without one are left out."""


def _truths(tables: Mapping[Content, _Table], criteria: Mapping[Content, Votes]) -> Truths:
    by_content: dict[Content, dict[str, object]] = {}
    for content, votes in criteria.items():
        rows = zip(tables[content].ballot.rows, votes.truth.tolist(), strict=True)
        by_content[content] = {
            row: CriterionVerdict.CANNOT_ASSESS if code < 0 else votes.scale.labels[code]
            for row, code in rows
            if code != ABSENT
        }
    return by_content


def _scores(
    graded: Sequence[_Graded], truths: Truths, config: PanelConfig, *, seed: int, level: float
) -> dict[str, dict[str, MetricValue]]:
    """Compare total scores with those of the ground truth; `rmse_continuous` is without snapping to options."""
    by_judge: dict[str, dict[str, MetricValue]] = {}
    bounds = (0.0, 1.0) if config.scoring.normalize else None
    for rule in get_args(ScoreValueRule):
        rows: dict[str, list[tuple[str, float, float]]] = {}
        by_rule = replace(config, scoring=replace(config.scoring, score_value=rule))
        for graded_item in graded:
            for judge, score, truth in _totals(graded_item, truths, by_rule):
                rows.setdefault(judge, []).append((graded_item.row, score, truth))
        for judge, pairs in rows.items():
            errors = score_errors(pairs, f"{judge}/{rule}", bounds=bounds, level=level, seed=seed)
            if rule == "snapped":
                by_judge[judge] = errors
            elif judge == PANEL:
                by_judge[judge]["rmse_continuous"] = errors["rmse"]
    return by_judge


def _totals(graded_item: _Graded, truths: Truths, config: PanelConfig) -> Iterator[tuple[str, float, float]]:
    """Return the scores of the panel and of each judge, with the score of the ground truth by the same rule."""
    reports = graded_item.report.criteria
    criteria = [report.criterion for report in reports]
    true = [truths.get(content, {}).get(graded_item.row) for content in contents(criteria)]
    words = config.scoring.length(graded_item.item.submission)
    if None in true:
        return
    truth = total(criteria, true, config.scoring, words=words).score
    by_judge: dict[str, list[Verdict]] = {}
    if all(report.error is None for report in reports):
        by_judge[PANEL] = [report.verdict for report in reports]
    for judge in dict.fromkeys(vote.judge_id for report in reports for vote in report.votes):
        judge_votes = [[vote for vote in report.votes if vote.judge_id == judge] for report in reports]
        if all(votes and not all_errors(votes) for votes in judge_votes):
            by_judge[judge] = [
                decide(criterion, votes, config.strategy(criterion)).verdict
                for criterion, votes in zip(criteria, judge_votes, strict=True)
            ]
    for judge, verdicts in by_judge.items():
        score = total(criteria, verdicts, config.scoring, words=words).score
        if score is not None and truth is not None:
            yield judge, score, truth


def _judge_totals(graded: Sequence[_Graded], truths: Truths, config: PanelConfig) -> Totals | None:
    """Return the score that each judge alone would give, for panels of several."""
    rows: dict[str, dict[str, tuple[float, float]]] = {}
    for graded_item in graded:
        scores = {
            judge: (score, truth) for judge, score, truth in _totals(graded_item, truths, config) if judge != PANEL
        }
        if scores:
            rows[graded_item.row] = scores
    judges = list(dict.fromkeys(judge for scores in rows.values() for judge in scores))
    if len(judges) < 2:
        return None
    nothing = (np.nan, np.nan)
    return Totals(
        items=np.arange(len(rows)),
        table=np.array([[scores.get(judge, nothing)[0] for judge in judges] for scores in rows.values()]),
        truth=np.array([next(iter(scores.values()))[1] for scores in rows.values()]),
    )

"""Replay an escalation at other thresholds from two runs, and measure it against human labels."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from pydantic import BaseModel, ConfigDict

from assay.errors import SpecError
from assay.grading.config import CannotAssessConfig
from assay.grading.dataset import RubricDataset
from assay.grading.labels import labels_of, option_word
from assay.grading.metrics_types import MetricsResult
from assay.grading.results import EvalResult, ItemResult
from assay.judging.aggregation import RubricWarning, decide
from assay.judging.escalation import (
    Escalation,
    check_names,
    check_thresholds,
    confidence_of,
    deciding,
    first_votes,
    is_doubtful,
)
from assay.judging.judge import Judge
from assay.judging.length import words_in
from assay.judging.panel import report_of
from assay.judging.panel_config import LLMCalls, PanelConfig
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport
from assay.judging.rubric import Rubric
from assay.judging.verdicts import Vote
from assay.rubric.metrics import compute_metrics
from assay.spec.arguments import arguments_checked

Metric = str | Callable[[MetricsResult], float | None]
"""The name of a field of MetricsResult, or a function of one; higher is better."""
ACCURACY = "criterion_accuracy"
"""The share of labelled verdicts that are right; the default metric of a calibration."""
SWEEP = tuple(step / 50 for step in range(51))
"""The thresholds of a calibration that names none."""


class EscalationPoint(BaseModel):
    """One setting of an escalation with its results.

    A pair is a criterion of an item. `dm_accuracy_kept` is the accuracy of the first judge on the pairs it kept.
    `dm_accuracy_escalated` and `fallback_accuracy_escalated` compare the first judge and the panel on the same pairs:
    the escalated ones with a label on which both gave a verdict. Escalating pays if the panel is better there. A value
    that nothing defines is None.
    """

    model_config = ConfigDict(frozen=True)

    threshold: float | None = None
    per_criterion: dict[str, float] | None = None
    escalation_rate: float | None
    dm_accuracy_kept: float | None
    dm_accuracy_escalated: float | None
    fallback_accuracy_escalated: float | None
    metric: float | None
    cost_usd: float | None
    compute_seconds: float
    calibration_fingerprint: str | None = None


class EscalationCurve(BaseModel):
    """The results of an escalation at every threshold of a calibration, ordered by threshold."""

    model_config = ConfigDict(frozen=True)

    points: list[EscalationPoint]

    def best(self, max_escalation_rate: float | None = None, tolerance: float = 0.0) -> EscalationPoint:
        """The point that escalates least among those whose metric is within `tolerance` of the best.

        Only points that escalate at most `max_escalation_rate` count. Ties go to the higher metric, then to the lower
        threshold, then to the earlier point. The metric of the chosen point is optimistic, because it is the best of
        many on the same labels: measure it on other items.
        """
        if max_escalation_rate is not None and not 0 <= max_escalation_rate <= 1:
            raise SpecError(f"max_escalation_rate must be between 0 and 1, not {max_escalation_rate!r}")
        if not tolerance >= 0:
            raise SpecError(f"tolerance must not be negative, as {tolerance!r} is")
        return _best(self.points, max_escalation_rate, tolerance)

    def to_dataframe(self) -> Any:
        """The points as a pandas table, one row per point; needs pandas."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise SpecError("to_dataframe needs pandas, which is not installed") from None
        return pandas.DataFrame(
            [point.model_dump() for point in self.points], columns=list(EscalationPoint.model_fields)
        )


def _best(points: Sequence[EscalationPoint], limit: float | None = None, tolerance: float = 0.0) -> EscalationPoint:
    within = [
        point
        for point in points
        if limit is None or (point.escalation_rate is not None and point.escalation_rate <= limit)
    ]
    if not within:
        rates = [point.escalation_rate for point in points if point.escalation_rate is not None]
        least = f"; the lowest rate is {min(rates):g}" if rates else ""
        raise SpecError(f"no point of the curve escalates at most {limit}{least}" if points else "the curve is empty")
    measured = [(point.metric, point) for point in within if point.metric is not None]
    if not measured:
        raise SpecError("the metric is undefined at every point of the curve")
    top = max(metric for metric, _ in measured)
    # a gap that is the tolerance but for the last digits is within it
    close = [(metric, point) for metric, point in measured if top - metric <= tolerance + 1e-12]

    def order(entry: tuple[float, EscalationPoint]) -> tuple[float, float, float]:
        metric, point = entry
        rate = math.inf if point.escalation_rate is None else point.escalation_rate
        return rate, -metric, math.inf if point.threshold is None else point.threshold

    return min(close, key=order)[1]


@arguments_checked({})
def replay_escalation(
    dm_result: EvalResult,
    llm_result: EvalResult,
    escalation: EscalationPoint | float,
    *,
    per_criterion: Mapping[str, float] | None = None,
    cannot_assess_config: CannotAssessConfig | None = None,
    normalize: bool = True,
    llm_calls: LLMCalls = "per_criterion",
) -> EvalResult:
    """Replay an escalation from a run of the first judge and a run of the panel over the same items.

    Nobody is asked. `escalation` is a threshold or a point of a calibration. Votes are counted by the rules of the
    panel's run; `cannot_assess_config` replaces its rule for abstentions. The cost is estimated: that of the first
    judge, and the share of the panel's that belongs to escalated criteria, or with `llm_calls="per_item"` to items with
    an escalated criterion.
    """
    if isinstance(escalation, EscalationPoint):
        if escalation.threshold is None:
            raise SpecError("this point has no threshold: it was measured on a run; replay a point of a calibration")
        if per_criterion is not None:
            raise SpecError("a point has thresholds of its own: give either a point or per_criterion")
        threshold, thresholds = escalation.threshold, dict(escalation.per_criterion or {})
    else:
        threshold, thresholds = escalation, dict(per_criterion or {})
    check_thresholds(threshold, thresholds)
    cascade = _Cascade(dm_result, llm_result, _Rules(cannot_assess_config, normalize, llm_calls))
    check_names(thresholds, cascade.rubrics)
    if isinstance(escalation, EscalationPoint) and escalation.calibration_fingerprint == cascade.fingerprint:
        warnings.warn(
            "the thresholds were calibrated on these items: what they give here is optimistic; replay them on others",
            RubricWarning,
            stacklevel=2,
        )
    return cascade.replay(threshold, thresholds)


@arguments_checked({})
def escalation_stats(result: EvalResult, dataset: RubricDataset, *, metric: Metric = ACCURACY) -> EscalationPoint:
    """Summarise an escalation, run or replayed: the share escalated, and the accuracy of each part."""
    _require_labels(dataset)
    pairs = list(_pairs(result, dataset))
    unescalated = [pair for pair in pairs if not pair.report.escalated]
    # a first judge that failed or abstained has no verdict that the panel's could be compared with
    deferred = [pair for pair in pairs if pair.report.escalated and None not in (pair.first, pair.final)]
    costs = result.total_completion_cost
    return EscalationPoint(
        escalation_rate=(len(pairs) - len(unescalated)) / len(pairs) if pairs else None,
        dm_accuracy_kept=_accuracy([(pair.first, pair.label) for pair in unescalated]),
        dm_accuracy_escalated=_accuracy([(pair.first, pair.label) for pair in deferred]),
        fallback_accuracy_escalated=_accuracy([(pair.final, pair.label) for pair in deferred]),
        metric=_measured(result, dataset, metric, pairs),
        cost_usd=None if costs is None else float(costs),
        compute_seconds=math.fsum(
            float(getattr(item, "duration_seconds", None) or 0.0) for item in result.item_results
        ),
    )


@arguments_checked({})
def calibrate_escalation(
    dataset: RubricDataset,
    dm_result: EvalResult,
    llm_result: EvalResult,
    *,
    thresholds: Sequence[float] | None = None,
    metric: Metric = ACCURACY,
    per_criterion: bool = False,
    min_pairs_per_criterion: int = 30,
    cannot_assess_config: CannotAssessConfig | None = None,
    normalize: bool = True,
    llm_calls: LLMCalls = "per_criterion",
) -> EscalationCurve:
    """Measure an escalation at each of several thresholds against human labels.

    `dm_result` is a run of the first judge alone, `llm_result` one of the panel alone. With `per_criterion`, named
    criteria with at least `min_pairs_per_criterion` labels get thresholds of their own: one criterion after the other
    takes the threshold at which the metric of the whole run is best, starting from the best threshold for all.
    """
    sweep = SWEEP if thresholds is None else tuple(thresholds)
    if not sweep:
        raise SpecError("a calibration needs at least one threshold")
    for threshold in sweep:
        check_thresholds(threshold)
    if min_pairs_per_criterion < 1:
        raise SpecError(f"min_pairs_per_criterion must be at least 1, not {min_pairs_per_criterion}")
    _require_labels(dataset)
    cascade = _Cascade(dm_result, llm_result, _Rules(cannot_assess_config, normalize, llm_calls))
    measured: dict[frozenset[tuple[int, int]], EscalationPoint] = {}

    def point(threshold: float, criterion_thresholds: Mapping[str, float]) -> EscalationPoint:
        # thresholds between the same two confidences escalate the same pairs
        escalated = cascade.escalated(threshold, criterion_thresholds)
        if escalated not in measured:
            measured[escalated] = escalation_stats(
                cascade.replay(threshold, criterion_thresholds), dataset, metric=metric
            )
        settings = {"threshold": float(threshold), "per_criterion": dict(criterion_thresholds) or None}
        return measured[escalated].model_copy(update={**settings, "calibration_fingerprint": cascade.fingerprint})

    points = [point(threshold, {}) for threshold in sweep]
    if per_criterion:
        criterion_thresholds = _own_thresholds(dataset, dm_result, sweep, points, point, min_pairs_per_criterion)
        points = [point(threshold, criterion_thresholds) for threshold in sweep] if criterion_thresholds else points
    return EscalationCurve(points=points)


def _own_thresholds(
    dataset: RubricDataset,
    dm_result: EvalResult,
    sweep: Sequence[float],
    points: Sequence[EscalationPoint],
    measure: Callable[[float, Mapping[str, float]], EscalationPoint],
    least: int,
) -> dict[str, float]:
    """The threshold of each criterion that has enough labels; a warning names the others."""
    labels: Counter[str] = Counter()
    for pair in _pairs(dm_result, dataset):
        name = pair.report.criterion.name
        if name is not None:
            labels[name] += pair.label is not None
    thin = [f'"{name}" ({count})' for name, count in labels.items() if count < least]
    if thin:
        warnings.warn(
            f"too few labels for thresholds of their own (fewer than {least}): {', '.join(thin)}",
            RubricWarning,
            stacklevel=3,
        )
    if all(point.metric is None for point in points):
        return {}
    start = _best(points).threshold
    assert start is not None
    thresholds: dict[str, float] = {}
    for name in (name for name, count in labels.items() if count >= least):
        tried = {threshold: measure(start, {**thresholds, name: threshold}) for threshold in sweep}
        # the criterion's own threshold takes part in ties, not the one for all
        ranked = [point.model_copy(update={"threshold": threshold}) for threshold, point in tried.items()]
        chosen = _best(ranked).threshold
        assert chosen is not None
        thresholds[name] = chosen
    return thresholds


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules by which a replay counts and estimates."""

    cannot_assess: CannotAssessConfig | None
    normalize: bool
    llm_calls: LLMCalls

    def __post_init__(self) -> None:
        if self.llm_calls not in ("per_criterion", "per_item"):
            raise SpecError(f'llm_calls is "per_criterion" or "per_item", not "{self.llm_calls}"')

    def config(self, panel: PanelConfig) -> PanelConfig:
        scoring = replace(panel.scoring, normalize=self.normalize)
        if self.cannot_assess is not None:
            unsure = self.cannot_assess
            scoring = replace(
                scoring,
                cannot_assess=str(getattr(unsure.strategy, "value", unsure.strategy)),  # type: ignore[arg-type]
                partial_credit=unsure.partial_credit,
            )
        return replace(panel, scoring=scoring)


@dataclass(frozen=True, slots=True)
class _Item:
    """An item with the reports of the first judge and the panel; None where a run has none."""

    result: ItemResult
    panel: ItemResult
    rubric: Rubric | None
    first_votes: list[list[Vote]]
    panel_votes: list[list[Vote]] | None
    confidences: list[float | None]


class _Cascade:
    """A run of a first judge and a run of a panel over the same items, to be put together at any threshold."""

    def __init__(self, dm_result: EvalResult, llm_result: EvalResult, rules: _Rules) -> None:
        self._first, self._panel, self._rules = dm_result, llm_result, rules
        others = {item.item_idx: item for item in llm_result.item_results}
        if {item.item_idx for item in dm_result.item_results} != others.keys():
            raise SpecError("the two runs graded different items: an escalation needs both judges on the same ones")
        self._items = [self._read(item, others[item.item_idx]) for item in dm_result.item_results]
        digest = hashlib.sha256()
        for item in self._items:
            texts = [
                item.result.item.submission,
                *(criterion.requirement for criterion in (item.rubric.criteria if item.rubric else ())),
            ]
            # separators that no text holds: otherwise two lists of texts could give one digest
            digest.update("\x1f".join(texts).encode() + b"\x1e")
        self.fingerprint = digest.hexdigest()[:16]

    @property
    def rubrics(self) -> list[Rubric]:
        """The rubrics of all items."""
        return [item.rubric for item in self._items if item.rubric is not None]

    def _read(self, result: ItemResult, panel: ItemResult) -> _Item:
        if result.item.submission != panel.item.submission:
            raise SpecError(f"item {result.item_idx} has another text in each of the two runs")
        first_reports, decided = _reports(result), _reports(panel)
        if first_reports is None:
            return _Item(result, panel, None, [], None, [])
        if any(report.escalated for report in (*first_reports, *(decided or ()))):
            raise SpecError("a replay needs the run of each judge alone, and one of these runs has an escalation")
        if decided is not None and [_content(report) for report in first_reports] != [
            _content(report) for report in decided
        ]:
            raise SpecError(f"item {result.item_idx} was graded by other criteria in each of the two runs")
        votes = [list(report.votes) for report in first_reports]
        sure = [
            confidence_of(report.criterion, cast, self._first.config.strategy(report.criterion))
            for report, cast in zip(first_reports, votes, strict=True)
        ]
        panel_votes = None if decided is None else [list(report.votes) for report in decided]
        return _Item(result, panel, Rubric([report.criterion for report in first_reports]), votes, panel_votes, sure)

    def escalated(self, threshold: float, per_criterion: Mapping[str, float]) -> frozenset[tuple[int, int]]:
        """Return the items and criteria, by index, that go to the panel."""
        return frozenset(
            (place, number)
            for place, item in enumerate(self._items)
            if item.rubric is not None
            for number, (name, sure) in enumerate(zip(item.rubric.names, item.confidences, strict=True))
            if is_doubtful(sure, per_criterion.get(name, threshold))
        )

    def replay(self, threshold: float, per_criterion: Mapping[str, float]) -> EvalResult:
        """The result of the escalation at these thresholds."""
        escalated = self.escalated(threshold, per_criterion)
        ids = dict.fromkeys(vote.judge_id for item in self._items for cast in item.panel_votes or () for vote in cast)
        judges = tuple(Judge(id=name, model=name) for name in ids) or (Judge(id="escalation", model="escalation"),)
        stronger = Escalation(judges=judges, threshold=threshold, per_criterion=dict(per_criterion))
        config = replace(self._rules.config(self._panel.config), escalation=stronger)
        results = [
            self._replayed(item, frozenset(number for at, number in escalated if at == place), config)
            for place, item in enumerate(self._items)
        ]
        reports = [report for item in results if item.graded is not None for report in item.graded.criteria]
        return replace(
            self._first,
            item_results=type(self._first.item_results)(results),
            total_completion_cost=self._cost(escalated),
            n_ties=sum(report.by_tie for report in reports),
            n_verdicts=len(reports),
            mean_score=None,
            config=config,
        )

    def _replayed(self, item: _Item, escalated: frozenset[int], config: PanelConfig) -> ItemResult:
        if item.rubric is None:
            return item.result
        if escalated and item.panel_votes is None:
            reason = f"the panel has no report: {item.panel.error}"
            return replace(item.result, report=EnsembleEvaluationReport(score=None, error=reason), error=reason)
        votes: list[list[Vote]] = []
        for number, cast in enumerate(item.first_votes):
            if number in escalated and item.panel_votes is not None:
                superseded = [vote.model_copy(update={"superseded": True}) for vote in cast]
                votes.append([*superseded, *item.panel_votes[number]])
            else:
                votes.append(cast)
        first = [Judge(id=name, model=name) for name in dict.fromkeys(v.judge_id for c in item.first_votes for v in c)]
        report = report_of(item.rubric, votes, first, config, words=words_in(item.result.item.submission))
        return replace(item.result, report=report, error=report.error)

    def _cost(self, escalated: frozenset[tuple[int, int]]) -> float | None:
        """The cost of the first judge, and the panel's share of what was escalated."""
        first, panel = self._first.total_completion_cost, self._panel.total_completion_cost
        if first is None or panel is None:
            return None
        # one request about all criteria of an item costs the same, however many of them are in doubt
        if self._rules.llm_calls == "per_item":
            share = len({place for place, _ in escalated}) / max(1, len(self._items))
        else:
            share = len(escalated) / max(1, sum(len(item.confidences) for item in self._items))
        return float(first) + float(panel) * share


@dataclass(frozen=True, slots=True)
class _Pair:
    """A criterion of an item with its label, the first judge's verdict and the final one; None where missing."""

    report: EnsembleCriterionReport
    label: str | None
    first: str | None
    final: str | None


def _pairs(result: EvalResult, dataset: RubricDataset) -> Iterator[_Pair]:
    for item in result.item_results:
        reports = _reports(item)
        if reports is None:
            continue
        if item.item_idx >= len(dataset) or dataset[item.item_idx].submission != item.item.submission:
            raise SpecError(f"item {item.item_idx} of the dataset is not the one that was graded")
        labels = labels_of(dataset, item.item_idx)
        for place, report in enumerate(reports):
            strategy = result.config.strategy(report.criterion)
            first = decide(report.criterion, first_votes(report.votes), strategy).verdict
            final = (
                None
                if report.error is not None
                else option_word(report.criterion, decide(report.criterion, deciding(report.votes), strategy).verdict)
            )
            yield _Pair(report, labels[place] if labels else None, option_word(report.criterion, first), final)


def _reports(item: ItemResult) -> Sequence[EnsembleCriterionReport] | None:
    report = item.graded
    return None if report is None or not report.criteria else report.criteria


def _content(report: EnsembleCriterionReport) -> tuple[str, tuple[str, ...]]:
    return report.criterion.requirement, tuple(option.label for option in report.criterion.choices)


def _accuracy(pairs: Sequence[tuple[str | None, str | None]]) -> float | None:
    labelled = [(verdict, label) for verdict, label in pairs if verdict is not None and label is not None]
    return sum(verdict == label for verdict, label in labelled) / len(labelled) if labelled else None


def _measured(result: EvalResult, dataset: RubricDataset, metric: Metric, pairs: Sequence[_Pair]) -> float | None:
    """The metric of a whole run; None where it is undefined."""
    if metric == ACCURACY:
        return _accuracy([(pair.final, pair.label) for pair in pairs])
    metrics = compute_metrics(result, dataset)
    if isinstance(metric, str):
        if not hasattr(metrics, metric):
            raise SpecError(f'unknown metric "{metric}": it is no field of MetricsResult')
        value: Any = getattr(metrics, metric)
    else:
        value = metric(metrics)
    value = getattr(value, "value", value)
    if value is not None and not isinstance(value, int | float):
        raise SpecError(f"the metric of a calibration must be a number, not {type(value).__name__}")
    return None if value is None or math.isnan(value) else float(value)


def _require_labels(dataset: RubricDataset) -> None:
    if not any(item.ground_truth is not None or item.annotators for item in dataset):
        raise SpecError("no item of the dataset has a ground truth: a calibration needs labels of people")

"""What an escalation would give at other thresholds: replayed from two runs, measured against human labels."""

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
from assay.grading.metrics_types import MetricsResult
from assay.grading.results import EvalResult, ItemResult
from assay.judging.aggregation import RubricWarning, decide
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.escalation import (
    Escalation,
    check_names,
    check_thresholds,
    confidence_of,
    deciding,
    first_votes,
    is_doubtful,
)
from assay.judging.length import words_in
from assay.judging.panel import report_of
from assay.judging.panel_config import Judge, LLMCalls, PanelConfig
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport
from assay.judging.rubric import Rubric
from assay.judging.verdicts import Verdict, Vote, is_abstention, verdict_in_words
from assay.rubric.metrics import compute_metrics
from assay.spec.arguments import arguments_checked

Metric = str | Callable[[MetricsResult], float | None]
"""The name of a field of MetricsResult, or a function of one; higher is better."""
ACCURACY = "criterion_accuracy"
"""The share of labelled verdicts that are right; the metric of a calibration unless it names another."""
SWEEP = tuple(step / 50 for step in range(51))
"""The thresholds of a calibration that names none."""


class EscalationPoint(BaseModel):
    """One way to set an escalation, and what it gives.

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
    """What an escalation gives at every threshold of a calibration, in the order of the thresholds."""

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
    """What an escalation would have given, from a run of the first judge and a run of the panel over the same items.

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
        threshold, own = escalation.threshold, dict(escalation.per_criterion or {})
    else:
        threshold, own = escalation, dict(per_criterion or {})
    check_thresholds(threshold, own)
    cascade = _Cascade(dm_result, llm_result, _Rules(cannot_assess_config, normalize, llm_calls))
    check_names(own, cascade.rubrics)
    if isinstance(escalation, EscalationPoint) and escalation.calibration_fingerprint == cascade.fingerprint:
        warnings.warn(
            "the thresholds were calibrated on these items: what they give here is optimistic; replay them on others",
            RubricWarning,
            stacklevel=2,
        )
    return cascade.replay(threshold, own)


@arguments_checked({})
def escalation_stats(result: EvalResult, dataset: RubricDataset, *, metric: Metric = ACCURACY) -> EscalationPoint:
    """What an escalation gave, from its run or its replay: how much was escalated, and who was right how often."""
    _require_labels(dataset)
    pairs = list(_pairs(result, dataset))
    kept = [pair for pair in pairs if not pair.report.escalated]
    # a first judge that failed or abstained has no verdict that the panel's could be compared with
    deferred = [pair for pair in pairs if pair.report.escalated and None not in (pair.first, pair.final)]
    costs = result.total_completion_cost
    return EscalationPoint(
        escalation_rate=(len(pairs) - len(kept)) / len(pairs) if pairs else None,
        dm_accuracy_kept=_accuracy([(pair.first, pair.label) for pair in kept]),
        dm_accuracy_escalated=_accuracy([(pair.first, pair.label) for pair in deferred]),
        fallback_accuracy_escalated=_accuracy([(pair.final, pair.label) for pair in deferred]),
        metric=_measured(result, dataset, metric, pairs),
        cost_usd=None if costs is None else float(costs),
        compute_seconds=math.fsum(_seconds(item) for item in result.item_results),
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
    """What an escalation would give at each of some thresholds, measured against the labels of people.

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

    def point(threshold: float, own: Mapping[str, float]) -> EscalationPoint:
        # thresholds between the same two confidences escalate the same pairs
        escalated = cascade.escalated(threshold, own)
        if escalated not in measured:
            measured[escalated] = escalation_stats(cascade.replay(threshold, own), dataset, metric=metric)
        settings = {"threshold": float(threshold), "per_criterion": dict(own) or None}
        return measured[escalated].model_copy(update={**settings, "calibration_fingerprint": cascade.fingerprint})

    points = [point(threshold, {}) for threshold in sweep]
    if per_criterion:
        own = _own_thresholds(dataset, dm_result, sweep, points, point, min_pairs_per_criterion)
        points = [point(threshold, own) for threshold in sweep] if own else points
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
    if all(each.metric is None for each in points):
        return {}
    start = _best(points).threshold
    assert start is not None
    own: dict[str, float] = {}
    for name in (name for name, count in labels.items() if count >= least):
        tried = {threshold: measure(start, {**own, name: threshold}) for threshold in sweep}
        # the criterion's own threshold takes part in ties, not the one for all
        ranked = [each.model_copy(update={"threshold": threshold}) for threshold, each in tried.items()]
        chosen = _best(ranked).threshold
        assert chosen is not None
        own[name] = chosen
    return own


@dataclass(frozen=True, slots=True)
class _Rules:
    """How a replay counts and estimates."""

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
    """An item with what the first judge and the panel said of it; None where a run has no report."""

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
                *(each.requirement for each in (item.rubric.criteria if item.rubric else ())),
            ]
            digest.update("\x1f".join(texts).encode() + b"\x1e")
        self.fingerprint = digest.hexdigest()[:16]

    @property
    def rubrics(self) -> list[Rubric]:
        """The rubrics of all items."""
        return [item.rubric for item in self._items if item.rubric is not None]

    def _read(self, result: ItemResult, panel: ItemResult) -> _Item:
        if result.item.submission != panel.item.submission:
            raise SpecError(f"item {result.item_idx} has another text in each of the two runs")
        said, decided = _reports(result), _reports(panel)
        if said is None:
            return _Item(result, panel, None, [], None, [])
        if any(each.escalated for each in (*said, *(decided or ()))):
            raise SpecError("a replay needs the run of each judge alone, and one of these runs has an escalation")
        if decided is not None and [_content(each) for each in said] != [_content(each) for each in decided]:
            raise SpecError(f"item {result.item_idx} was graded by other criteria in each of the two runs")
        votes = [list(each.votes) for each in said]
        sure = [
            confidence_of(each.criterion, cast, self._first.config.strategy(each.criterion))
            for each, cast in zip(said, votes, strict=True)
        ]
        panel_votes = None if decided is None else [list(each.votes) for each in decided]
        return _Item(result, panel, Rubric([each.criterion for each in said]), votes, panel_votes, sure)

    def escalated(self, threshold: float, own: Mapping[str, float]) -> frozenset[tuple[int, int]]:
        """The items and criteria, by number, that go to the panel."""
        return frozenset(
            (place, number)
            for place, item in enumerate(self._items)
            if item.rubric is not None
            for number, (name, sure) in enumerate(zip(item.rubric.names, item.confidences, strict=True))
            if is_doubtful(sure, own.get(name, threshold))
        )

    def replay(self, threshold: float, own: Mapping[str, float]) -> EvalResult:
        """The result of the escalation at these thresholds."""
        escalated = self.escalated(threshold, own)
        ids = dict.fromkeys(vote.judge_id for item in self._items for cast in item.panel_votes or () for vote in cast)
        judges = tuple(Judge(id=name, model=name) for name in ids) or (Judge(id="escalation", model="escalation"),)
        stronger = Escalation(judges=judges, threshold=threshold, per_criterion=dict(own))
        config = replace(self._rules.config(self._panel.config), escalation=stronger)
        results = [
            self._replayed(item, frozenset(number for at, number in escalated if at == place), config)
            for place, item in enumerate(self._items)
        ]
        reports = [each for item in results if item.graded is not None for each in item.graded.criteria]
        return replace(
            self._first,
            item_results=type(self._first.item_results)(results),
            total_completion_cost=self._cost(escalated),
            n_ties=sum(each.by_tie for each in reports),
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
        if self._rules.llm_calls == "per_item":
            share = len({place for place, _ in escalated}) / max(1, len(self._items))
        else:
            share = len(escalated) / max(1, sum(len(item.confidences) for item in self._items))
        return float(first) + float(panel) * share


@dataclass(frozen=True, slots=True)
class _Pair:
    """A criterion of an item with its label, the first judge's verdict and the final one; None where there is none."""

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
        labels = _labels(dataset, item.item_idx)
        for place, each in enumerate(reports):
            strategy = result.config.strategy(each.criterion)
            first = decide(each.criterion, first_votes(each.votes), strategy).verdict
            final = (
                None
                if each.error is not None
                else _option(each.criterion, decide(each.criterion, deciding(each.votes), strategy).verdict)
            )
            yield _Pair(each, labels[place] if labels else None, _option(each.criterion, first), final)


def _reports(item: ItemResult) -> Sequence[EnsembleCriterionReport] | None:
    report = item.graded
    return None if report is None or not report.criteria else report.criteria


def _content(report: EnsembleCriterionReport) -> tuple[str, tuple[str, ...]]:
    return report.criterion.requirement, tuple(option.label for option in report.criterion.choices)


def _labels(dataset: RubricDataset, index: int) -> list[str | None] | None:
    """What people say of each criterion of an item: its ground truth, else what most annotators say."""
    item, criteria = dataset[index], dataset.get_item_rubric(index).criteria
    if item.ground_truth is not None:
        return [_option(c, verdict_in_words(c, str(word))) for c, word in zip(criteria, item.ground_truth, strict=True)]
    if not item.annotators:
        return None
    labels: list[str | None] = []
    for place, criterion in enumerate(criteria):
        words = [_option(criterion, verdict_in_words(criterion, str(said[place]))) for said in item.annotators.values()]
        ranked = Counter(word for word in words if word is not None).most_common(2)
        tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
        labels.append(None if not ranked or tied else ranked[0][0])
    return labels


def _option(criterion: Criterion, verdict: Verdict) -> str | None:
    """A verdict as a word that can be compared; None for an abstention."""
    if is_abstention(verdict):
        return None
    if isinstance(verdict, CriterionVerdict):
        return verdict.value
    assert verdict.selected_index is not None
    return criterion.choices[verdict.selected_index].label


def _accuracy(pairs: Sequence[tuple[str | None, str | None]]) -> float | None:
    labelled = [(said, label) for said, label in pairs if said is not None and label is not None]
    return sum(said == label for said, label in labelled) / len(labelled) if labelled else None


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


def _seconds(item: ItemResult) -> float:
    """How long grading an item took, where the result says so."""
    return float(getattr(item, "duration_seconds", None) or 0.0)


def _require_labels(dataset: RubricDataset) -> None:
    if not any(item.ground_truth is not None or item.annotators for item in dataset):
        raise SpecError("no item of the dataset has a ground truth: a calibration needs labels of people")

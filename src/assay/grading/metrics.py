"""AutoRubric's agreement metrics, computed with the statistics of `assay agreement`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from assay.analysis.agreement import CORRELATIONS
from assay.analysis.scale import ABSENT, Intervals, Votes
from assay.errors import SpecError
from assay.grading.comparison import ComparedDataset, compare
from assay.grading.dataset import RubricDataset
from assay.grading.distribution import systematic_bias
from assay.grading.grader import CriterionGrader
from assay.grading.metrics_types import (
    BootstrapResults,
    CannotAssessMode,
    CannotAssessStats,
    ConfidenceInterval,
    ConfusionMatrix,
    CorrelationResult,
    CoverageStats,
    CriterionMetrics,
    CriterionMetricsUnion,
    JudgeMetrics,
    MetricsResult,
    NAMode,
    NAStats,
    NominalCriterionMetrics,
    OptionMetrics,
    OrdinalCriterionMetrics,
    PooledScaleMetrics,
)
from assay.grading.results import EvalResult
from assay.judging.criteria import Criterion
from assay.results.agreement import PANEL
from assay.spec.arguments import arguments_checked
from assay.stats.additive_stats import macro
from assay.stats.classification import Pairs, binary, kappa, marginals, matthews, one_class
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.correlation import Name, correlation
from assay.stats.errors_between import adjacent_accuracy, errors_between
from assay.stats.kappa import kappa_sums
from assay.stats.micro_macro import accuracy_sums, micro_accuracy
from assay.types import MetricValue

PerItem = Literal["auto", "pooled", "per_criterion"]
_FEW_SCORES = 2
_NONE: IntArray = np.zeros(0, dtype=np.int64)


@arguments_checked({})
def compute_metrics(
    eval_result: EvalResult,
    dataset: RubricDataset,
    *,
    bootstrap: bool = False,
    n_bootstrap: int = 1000,
    per_judge: bool = False,
    cannot_assess: CannotAssessMode = "exclude",
    na_mode: NAMode = "exclude",
    confidence_level: float = 0.95,
    seed: int | None = None,
    per_item_metrics: PerItem = "auto",
    grader: CriterionGrader | None = None,
    level: float | None = None,
) -> MetricsResult:
    """Compute the panel's agreement with the ground truth:

    AutoRubric's metrics, and ours with intervals in `agreement`.

    The ground truth of an item is its `ground_truth`; with several annotators what most of them say. Criteria are
    matched by their content. The score of the ground truth is computed by the rule of the judges' scores: that of
    `grader`, else of the run. `cannot_assess` and `na_mode` say what becomes of verdicts and options that abstain;
    `per_item_metrics="pooled"`, and "auto" where items have rubrics of their own, adds numbers pooled by kind of
    criterion. The intervals of `bootstrap` are those of `agreement`; `level` is another name of `confidence_level`.
    """
    for name, mode in (("cannot_assess", cannot_assess), ("na_mode", na_mode)):
        if mode not in get_args(NAMode):
            raise SpecError(f'{name} is one of {", ".join(get_args(NAMode))}, not "{mode}"')
    if per_item_metrics not in get_args(PerItem):
        raise SpecError(f'per_item_metrics is one of {", ".join(get_args(PerItem))}, not "{per_item_metrics}"')
    level = confidence_level if level is None else level
    compared = compare(eval_result, dataset, grader=grader, seed=seed or 0, level=level)
    measure = _Measure(compared, cannot_assess, na_mode, Intervals(seed or 0, level))
    panel = measure.rater(PANEL)
    pooled = per_item_metrics == "pooled" or (per_item_metrics == "auto" and compared.own_rubrics)
    kinds = [criterion.kind for _, criterion, _ in compared.criteria]
    numbers = MetricsResult(
        **panel.numbers(),
        per_criterion=[measure.criterion(*entry) for entry in compared.criteria],
        bootstrap=panel.intervals(n_bootstrap, level) if bootstrap else None,
        per_judge=measure.judges() if per_judge else None,
        n_items=compared.n_items,
        n_criteria=len(kinds),
        n_binary_criteria=kinds.count("binary"),
        n_ordinal_criteria=kinds.count("ordinal"),
        n_nominal_criteria=kinds.count("nominal"),
        na_stats=measure.na_stats(),
        cannot_assess_stats=measure.cannot_assess_stats(),
        cannot_assess_mode=cannot_assess,
        na_mode=na_mode,
        n_samples=sum(pairs.n for _, pairs in panel.pairs),
        mean_krippendorff_alpha=measure.mean_alpha(),
        coverage_stats=measure.coverage(compared.criteria),
        pooled_by_scale=measure.pooled() if pooled else None,
        warnings=measure.warnings(),
    )
    return numbers.with_agreement(compared.agreement)


@dataclass(frozen=True, slots=True)
class _Rater:
    """The panel or one judge with the ground truth, on every criterion that it judged."""

    name: str
    pairs: list[tuple[Criterion, Pairs]]
    totals: Sequence[tuple[float, float]]
    measure: Intervals

    def numbers(self) -> dict[str, Any]:
        """Compute the metrics that the panel and a judge have in common."""
        pooled = self.binary_pairs()
        values = {} if pooled is None else binary(pooled)
        predicted, truth = (np.array([pair[side] for pair in self.totals]) for side in (0, 1))
        errors = errors_between(predicted, truth, rng=self.measure.rng("errors", self.name)) if len(predicted) else None
        return {
            "criterion_accuracy": _value(values.get("accuracy")),
            "criterion_precision": _value(values.get("precision")),
            "criterion_recall": _value(values.get("recall")),
            "criterion_f1": _value(values.get("f1_score")),
            "mean_kappa": _mean([_kappa(criterion, pairs) for criterion, pairs in self.pairs]),
            "score_rmse": None if errors is None else errors.rmse.value,
            "score_mae": None if errors is None else errors.mae.value,
            **{f"score_{name}": _correlation(predicted, truth, name, self.measure.level) for name in CORRELATIONS},
            "bias": systematic_bias(predicted, truth, confidence=self.measure.level),
            "criterion_phi": None if pooled is None else _number(matthews(marginals(pooled.confusion()))),
            "macro_accuracy": _mean([_accuracy(pairs) for _, pairs in self.pairs]),
            "micro_kappa": None if pooled is None else _number(kappa(marginals(pooled.confusion()))),
        }

    def binary_pairs(self) -> Pairs | None:
        """All pairs of binary criteria in one; None without any."""
        every = [pairs for criterion, pairs in self.pairs if criterion.is_binary]
        if not every:
            return None
        truth, predicted = (
            np.concatenate([getattr(pairs, side) for pairs in every]) for side in ("truth", "predicted")
        )
        return Pairs(truth, predicted, max(pairs.classes for pairs in every))

    def intervals(self, n_bootstrap: int, level: float) -> BootstrapResults:
        """The intervals of accuracy, mean kappa and RMSE, with items as what is resampled."""
        every = [pairs for criterion, pairs in self.pairs if criterion.is_binary]
        right = micro_accuracy(every, level=level) if every else None
        kappas = [
            kappa_sums(pairs, _values(criterion, pairs), "quadratic" if criterion.kind == "ordinal" else "none")
            for criterion, pairs in self.pairs
        ]
        mean_kappa = macro(kappas, rng=self.measure.rng("kappa", self.name), level=level).value if kappas else None
        predicted, truth = (np.array([pair[side] for pair in self.totals]) for side in (0, 1))
        rng = self.measure.rng("rmse", self.name)
        rmse = errors_between(predicted, truth, rng=rng, level=level).rmse if len(predicted) else None
        return BootstrapResults(
            accuracy_ci=_bounds(right),
            kappa_ci=_bounds(mean_kappa),
            rmse_ci=_bounds(rmse),
            n_bootstrap=n_bootstrap,
            confidence_level=level,
        )


@dataclass(frozen=True, slots=True)
class _Measure:
    """A comparison with its treatment of abstentions."""

    compared: ComparedDataset
    cannot_assess: CannotAssessMode
    na_mode: NAMode
    intervals: Intervals

    def pairs(self, criterion: Criterion, votes: Votes, codes: IntArray) -> Pairs:
        """Return a rater's verdicts with the ground truth; abstentions are excluded or replaced as the mode says."""
        rows = (votes.truth != ABSENT) & (codes != ABSENT)
        truth, predicted, items, classes = votes.truth[rows], codes[rows], votes.items[rows], len(votes.scale.labels)
        mode = self.cannot_assess if criterion.is_binary else self.na_mode
        if mode == "exclude":
            assessed = (truth >= 0) & (predicted >= 0)
            return Pairs(truth[assessed], predicted[assessed], classes, items[assessed])
        if mode == "as_category":
            if criterion.kind == "ordinal" and ((truth < 0) | (predicted < 0)).any():
                raise SpecError("an option that abstains has no place on a scale: as_category is for nominal criteria")
            other = classes
            classes += criterion.kind != "ordinal"
        else:
            # UNMET is the first of the two; of options the worst one counts
            worst = None if criterion.is_binary else criterion.worst_scored_option()[1].label
            other = 0 if worst is None else votes.scale.labels.index(worst)
        return Pairs(np.where(truth < 0, other, truth), np.where(predicted < 0, other, predicted), classes, items)

    def rater(self, name: str) -> _Rater:
        """The panel or one judge on all criteria that it judged."""
        pairs = [
            (criterion, self.pairs(criterion, votes, votes.raters()[name]))
            for _, criterion, votes in self.compared.criteria
            if name in votes.raters()
        ]
        return _Rater(name, pairs, self.compared.totals.get(name, []), self.intervals)

    def judges(self) -> dict[str, JudgeMetrics]:
        """Every judge alone."""
        names = dict.fromkeys(judge for _, _, votes in self.compared.criteria for judge in votes.judges)
        by_judge: dict[str, JudgeMetrics] = {}
        for name in names:
            rater = self.rater(name)
            numbers = rater.numbers()
            pooled = rater.binary_pairs()
            labels = ["MET", "UNMET", "CANNOT_ASSESS"][: pooled.classes if pooled is not None else 2]
            by_judge[name] = JudgeMetrics(
                judge_id=name,
                phi=numbers.pop("criterion_phi"),
                confusion_matrix=None if pooled is None else _confusion(pooled, labels),
                n_pairs=sum(pairs.n for _, pairs in rater.pairs),
                **{key: value for key, value in numbers.items() if key in JudgeMetrics.model_fields},
            )
        return by_judge

    def criterion(self, position: int, criterion: Criterion, votes: Votes) -> CriterionMetricsUnion:
        """The panel on one criterion."""
        codes = votes.raters()[PANEL]
        pairs = self.pairs(criterion, votes, codes)
        between = self.compared.agreement[votes.name].between
        among: Mapping[str, MetricValue] = {} if between is None else between.values
        agreed = "alpha_ordinal" if criterion.kind == "ordinal" else "alpha_nominal"
        common: dict[str, Any] = {
            "name": criterion.name or f"C{position + 1}",
            "index": position,
            "n_samples": pairs.n,
            "krippendorff_alpha": _value(among.get(agreed)),
            "fleiss_kappa": _value(among.get("fleiss_kappa")),
            "is_degenerate": len(np.unique(pairs.truth)) < 2 or len(np.unique(pairs.predicted)) < 2,
            "coverage_stats": self.coverage([(position, criterion, votes)]),
        }
        agreement = _kappa(criterion, pairs)
        if criterion.is_binary:
            return self._binary(pairs, agreement, common)
        labels = [*votes.scale.labels, *(["NA"] if pairs.classes > len(votes.scale.labels) else [])]
        common |= {
            "n_options": len(votes.scale.labels),
            "exact_accuracy": _accuracy(pairs),
            "kappa_interpretation": interpret_kappa(agreement),
            "per_option": [_option(pairs, code, label) for code, label in enumerate(labels)],
            "confusion_matrix": ConfusionMatrix(matrix=pairs.confusion().tolist(), labels=labels),
        }
        if criterion.kind == "nominal":
            return NominalCriterionMetrics(kappa=agreement, **common)
        values = votes.scale.numbers()
        predicted, truth = values[pairs.predicted], values[pairs.truth]
        rng = self.intervals.rng("option values", votes.name)
        errors = errors_between(predicted, truth, rng=rng) if pairs.n else None
        level = self.intervals.level
        return OrdinalCriterionMetrics(
            adjacent_accuracy=adjacent_accuracy(pairs, values).value,
            weighted_kappa=agreement,
            spearman=_correlation(predicted, truth, "spearman", level),
            kendall=_correlation(predicted, truth, "kendall", level),
            rmse=None if errors is None else errors.rmse.value,
            mae=None if errors is None else errors.mae.value,
            **common,
        )

    def _binary(self, pairs: Pairs, agreement: float | None, common: dict[str, Any]) -> CriterionMetrics:
        values = binary(pairs)
        two = ConfusionMatrix(matrix=pairs.confusion()[:2, :2][::-1, ::-1].tolist(), labels=["MET", "UNMET"])
        return CriterionMetrics(
            accuracy=values["accuracy"].value,
            precision=values["precision"].value,
            recall=values["recall"].value,
            f1=values["f1_score"].value,
            kappa=agreement,
            kappa_interpretation=interpret_kappa(agreement),
            support_true=int((pairs.truth == 1).sum()),
            support_pred=int((pairs.predicted == 1).sum()),
            confusion_matrix=two
            if pairs.classes == _FEW_SCORES
            else _confusion(pairs, ["MET", "UNMET", "CANNOT_ASSESS"]),
            fpr=two.fpr,
            fnr=two.fnr,
            phi=_number(matthews(marginals(pairs.confusion()))),
            **common,
        )

    def coverage(self, criteria: Sequence[tuple[int, Criterion, Votes]]) -> CoverageStats | None:
        """Return how many pairs entered the metrics; None if abstentions count as verdicts."""
        if self.cannot_assess != "exclude" or self.na_mode != "exclude":
            return None
        truth = np.concatenate([votes.truth for _, _, votes in criteria] or [_NONE])
        predicted = np.concatenate([votes.raters()[PANEL] for _, _, votes in criteria] or [_NONE])
        labelled = truth != ABSENT
        truth, predicted = truth[labelled], predicted[labelled]
        n, covered = len(truth), int(((truth >= 0) & (predicted >= 0)).sum())
        lost = self.compared.n_errored * len(criteria)
        failed = int((predicted == ABSENT).sum())
        # items without any report are in no table
        n_total = n + max(0, lost - failed)
        n_errored = max(lost, failed)
        if not n_total:
            return None
        return CoverageStats(
            n_total=n_total,
            n_covered=covered,
            coverage=covered / n_total,
            judge_abstain_rate=int((predicted == -1).sum()) / n_total,
            gt_abstain_rate=int((truth == -1).sum()) / n_total,
            union_exclusion_rate=1 - covered / n_total,
            n_errored=n_errored,
            error_rate=n_errored / n_total,
        )

    def _abstentions(self, *, binary_only: bool) -> tuple[dict[str, Any], bool]:
        chosen = [
            votes
            for _, criterion, votes in self.compared.criteria
            if criterion.is_binary is binary_only
            # an option that nobody could and nobody did choose says nothing
            if binary_only or criterion.na_index is not None or self._abstained(votes)
        ]
        truth = np.concatenate([votes.truth for votes in chosen] or [_NONE])
        predicted = np.concatenate([votes.raters()[PANEL] for votes in chosen] or [_NONE])
        judged = (truth != ABSENT) & (predicted != ABSENT)
        true_gone, said_gone = truth[judged] == -1, predicted[judged] == -1
        pairs = Pairs(true_gone.astype(np.int64), said_gone.astype(np.int64), 2)
        agreement = _number(kappa(marginals(pairs.confusion()))) if pairs.n else None
        numbers = {
            "count_true": int(true_gone.sum()),
            "count_pred": int(said_gone.sum()),
            "kappa": agreement,
            "kappa_interpretation": None if agreement is None else interpret_kappa(agreement),
            "false_positive": int((said_gone & ~true_gone).sum()),
            "false_negative": int((~said_gone & true_gone).sum()),
        }
        return numbers, any(criterion.is_binary is binary_only for _, criterion, _ in self.compared.criteria)

    def _abstained(self, votes: Votes) -> bool:
        return bool((votes.truth == -1).any() or (votes.raters()[PANEL] == -1).any())

    def cannot_assess_stats(self) -> CannotAssessStats | None:
        """Count how often verdicts abstain on either side."""
        numbers, occurs = self._abstentions(binary_only=True)
        return CannotAssessStats(**{f"ca_{name}": value for name, value in numbers.items()}) if occurs else None

    def na_stats(self) -> NAStats | None:
        """Count how often abstaining options are chosen on either side."""
        numbers, occurs = self._abstentions(binary_only=False)
        return NAStats(**{f"na_{name}": value for name, value in numbers.items()}) if occurs else None

    def mean_alpha(self) -> float | None:
        """The mean of Krippendorff's alpha between judges over the criteria where it is defined."""
        alphas: list[float | None] = []
        for _, criterion, votes in self.compared.criteria:
            between = self.compared.agreement[votes.name].between
            name = "alpha_ordinal" if criterion.kind == "ordinal" else "alpha_nominal"
            alphas.append(None if between is None else _value(between.values.get(name)))
        return _mean(alphas)

    def pooled(self) -> list[PooledScaleMetrics]:
        """All criteria of one kind in one, by the values of their options."""
        by_kind: list[PooledScaleMetrics] = []
        for kind in ("binary", "ordinal", "nominal"):
            parts = [(criterion, votes) for _, criterion, votes in self.compared.criteria if criterion.kind == kind]
            if not parts:
                continue
            pairs = [self.pairs(criterion, votes, votes.raters()[PANEL]) for criterion, votes in parts]
            valued = [
                (votes.scale.numbers(), scale_pairs)
                for (_, votes), scale_pairs in zip(parts, pairs, strict=True)
                if scale_pairs.classes == len(votes.scale.labels)
            ]
            predicted, truth = (
                np.concatenate([values[getattr(scale_pairs, side)] for values, scale_pairs in valued] or [_NONE])
                for side in ("predicted", "truth")
            )
            errors = (
                errors_between(predicted, truth, rng=self.intervals.rng("pooled", kind)) if len(predicted) else None
            )
            n = sum(scale_pairs.n for scale_pairs in pairs)
            right = sum(int((scale_pairs.truth == scale_pairs.predicted).sum()) for scale_pairs in pairs)
            two = _Rater(PANEL, [(c, p) for (c, _), p in zip(parts, pairs, strict=True)], [], self.intervals)
            pooled = two.binary_pairs()
            numbers = {} if pooled is None else binary(pooled)
            gone = sum(int(((votes.truth == -1) | (votes.raters()[PANEL] == -1)).sum()) for _, votes in parts)
            by_kind.append(
                PooledScaleMetrics(
                    scale_type=kind,
                    n_points=n,
                    exact_accuracy=right / n if n else None,
                    value_rmse=None if errors is None else errors.rmse.value,
                    value_mae=None if errors is None else errors.mae.value,
                    value_spearman=correlation(predicted, truth, "spearman").value if len(predicted) else None,
                    value_pearson=correlation(predicted, truth, "pearson").value if len(predicted) else None,
                    kappa=None if pooled is None else _number(kappa(marginals(pooled.confusion()))),
                    phi=None if pooled is None else _number(matthews(marginals(pooled.confusion()))),
                    precision=_value(numbers.get("precision")),
                    recall=_value(numbers.get("recall")),
                    f1=_value(numbers.get("f1_score")),
                    confusion_matrix=None
                    if pooled is None
                    else _confusion(pooled, ["MET", "UNMET", "CANNOT_ASSESS"][: pooled.classes]),
                    n_abstain=gone,
                )
            )
        return by_kind

    def warnings(self) -> list[str]:
        """Return warnings that affect how the metrics should be read."""
        notes = list(self.compared.agreement.notes)
        if self.compared.n_errored:
            notes.append(
                f"{self.compared.n_errored:,} items with a ground truth failed and are excluded from all metrics"
            )
        truths = {truth for _, truth in self.compared.totals.get(PANEL, [])}
        if 0 < len(truths) <= _FEW_SCORES:
            notes.append(
                f"the scores of the ground truth have {len(truths)} distinct values: correlations are unreliable"
            )
        return list(dict.fromkeys(notes))


def interpret_kappa(value: float | None) -> str:
    """Classify an agreement by the bounds of Landis and Koch (1977).

    >>> interpret_kappa(0.5), interpret_kappa(None)
    ('moderate', 'undefined')
    """
    if value is None:
        return "undefined"
    if value < 0:
        return "poor (worse than chance)"
    bounds = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
    return next((word for most, word in bounds if value <= most), "almost perfect")


def _confusion(pairs: Pairs, labels: list[str]) -> ConfusionMatrix:
    """The matrix with MET first; what abstains comes last."""
    order = [1, 0, *range(2, pairs.classes)]
    return ConfusionMatrix(matrix=pairs.confusion()[np.ix_(order, order)].tolist(), labels=labels)


def _option(pairs: Pairs, code: int, label: str) -> OptionMetrics:
    precision, recall, score = one_class(pairs, code)
    return OptionMetrics(
        label=label,
        index=code,
        precision=precision.value,
        recall=recall.value,
        f1=score.value,
        support_true=int((pairs.truth == code).sum()),
        support_pred=int((pairs.predicted == code).sum()),
    )


def _values(criterion: Criterion, pairs: Pairs) -> FloatArray | None:
    return np.asarray(criterion.values) if criterion.kind == "ordinal" else None


def _kappa(criterion: Criterion, pairs: Pairs) -> float | None:
    """Cohen's kappa, on scales weighted by the square of the distance of the options' values."""
    if not pairs.n:
        return None
    weighting: Literal["quadratic", "none"] = "quadratic" if criterion.kind == "ordinal" else "none"
    return _number(kappa_sums(pairs, _values(criterion, pairs), weighting).estimate())


def _accuracy(pairs: Pairs) -> float | None:
    return _number(accuracy_sums(pairs).estimate()) if pairs.n else None


def _correlation(predicted: FloatArray, truth: FloatArray, name: Name, level: float) -> CorrelationResult:
    value = correlation(predicted, truth, name, level=level)
    r = value.value
    interval = value.interval
    ci = None
    if interval is not None and interval.low is not None and interval.high is not None:
        ci = ConfidenceInterval(lower=interval.low, upper=interval.high, confidence=level, method=interval.method)
    return CorrelationResult(
        coefficient=r,
        p_value=None if r is None else _p_value(predicted, truth, name),
        ci=ci,
        interpretation="undefined" if r is None else CorrelationResult.interpret_correlation(r),
        n_samples=value.n,
        method=name,
    )


def _p_value(predicted: FloatArray, truth: FloatArray, name: Name) -> float | None:
    from scipy import stats

    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return _number(tests[name](predicted, truth).pvalue)


def _value(value: MetricValue | None) -> float | None:
    return None if value is None else value.value


def _number(value: Any) -> float | None:
    """Return a float, or None for NaN."""
    number = float(value)
    return None if np.isnan(number) else number


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def _bounds(value: MetricValue | None) -> tuple[float, float] | None:
    interval = None if value is None else value.interval
    if interval is None or interval.low is None or interval.high is None:
        return None
    return interval.low, interval.high

"""The return types of `compute_metrics` and the functions on scores, named as in AutoRubric."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from assay.errors import SpecError
from assay.results.agreement import AgreementResult, CriterionAgreement, Redundant, Values
from assay.results.display import render

if TYPE_CHECKING:
    import pandas

CriterionType = Literal["binary", "ordinal", "nominal"]
CannotAssessMode = Literal["exclude", "as_unmet", "as_category"]
"""The treatment of abstaining verdicts: excluded, the worst verdict, or a class of their own."""
NAMode = Literal["exclude", "as_unmet", "as_category"]
"""The treatment of abstaining options: excluded, the worst option, or a class of their own."""


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True)


class ConfidenceInterval(_Result):
    """A confidence interval with its level."""

    lower: float
    upper: float
    confidence: float = 0.95
    method: str = "normal"

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.upper - self.lower


class CorrelationResult(_Result):
    """A correlation with its p-value and interval; None where it is undefined."""

    coefficient: float | None
    p_value: float | None = None
    ci: ConfidenceInterval | None = None
    interpretation: str
    n_samples: int
    method: str = "spearman"

    @staticmethod
    def interpret_correlation(r: float) -> str:
        """Describe the strength of a correlation in words.

        >>> CorrelationResult.interpret_correlation(-0.55)
        'moderate negative'
        """
        bounds = ((0.9, "very strong"), (0.7, "strong"), (0.5, "moderate"), (0.3, "weak"))
        strength = next((word for least, word in bounds if abs(r) >= least), "very weak")
        return f"{strength} {'negative' if r < 0 else 'positive'}"


class BiasResult(_Result):
    """The mean difference between two sides, with a t-test."""

    mean_bias: float | None
    std_bias: float | None
    is_significant: bool
    p_value: float | None = None
    direction: Literal["positive", "negative", "none"]
    effect_size: float | None = None
    ci: ConfidenceInterval | None = None
    n_samples: int

    @staticmethod
    def interpret_effect_size(d: float) -> str:
        """Describe the size of Cohen's d in a word.

        >>> BiasResult.interpret_effect_size(-0.6)
        'medium'
        """
        bounds = ((0.8, "large"), (0.5, "medium"), (0.2, "small"))
        return next((word for least, word in bounds if abs(d) >= least), "negligible")


class BootstrapResult(_Result):
    """An estimate with an interval and a standard error."""

    estimate: float
    ci: ConfidenceInterval
    standard_error: float
    n_bootstrap: int
    bootstrap_distribution: list[float] | None = None


class BootstrapResults(_Result):
    """The intervals of the three main metrics, resampled by item."""

    accuracy_ci: tuple[float, float] | None
    kappa_ci: tuple[float, float] | None
    rmse_ci: tuple[float, float] | None
    n_bootstrap: int
    confidence_level: float = 0.95


class DistributionResult(_Result):
    """The distribution of scores; None where there are too few."""

    n: int
    mean: float | None
    std: float | None
    variance: float | None
    min: float | None
    max: float | None
    median: float | None
    q25: float | None
    q75: float | None
    iqr: float | None
    skewness: float | None
    kurtosis: float | None
    histogram: tuple[list[float], list[float]] | None = None


class EMDResult(_Result):
    """The distance between two distributions of scores."""

    emd: float | None
    mean_diff: float | None
    std_diff: float | None
    bias_direction: Literal["higher", "lower", "none"]
    bias_magnitude: float | None
    interpretation: str

    @staticmethod
    def interpret_emd(emd: float) -> str:
        """Describe the distance between two distributions in words.

        >>> EMDResult.interpret_emd(0.12)
        'moderate differences'
        """
        bounds = ((0.2, "substantial differences"), (0.1, "moderate differences"), (0.05, "minor differences"))
        return next((word for least, word in bounds if emd >= least), "very similar")


class KSTestResult(_Result):
    """The result of a Kolmogorov-Smirnov test; None without scores."""

    statistic: float | None
    p_value: float | None
    is_significant: bool


class ConfusionMatrix(_Result):
    """The number of times each class of the ground truth (row) was predicted as each class (column)."""

    matrix: list[list[int]]
    labels: list[str]

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.labels)

    @property
    def total(self) -> int:
        """Return the number of pairs."""
        return sum(map(sum, self.matrix))

    def _cell(self, row: int, column: int) -> int:
        if self.labels != ["MET", "UNMET"]:
            raise SpecError(f"true and false positives need the classes MET and UNMET, not {', '.join(self.labels)}")
        return self.matrix[row][column]

    @property
    def tp(self) -> int:
        """True positives: MET on both sides."""
        return self._cell(0, 0)

    @property
    def fn(self) -> int:
        """False negatives: MET that was judged UNMET."""
        return self._cell(0, 1)

    @property
    def fp(self) -> int:
        """False positives: UNMET that was judged MET."""
        return self._cell(1, 0)

    @property
    def tn(self) -> int:
        """True negatives: UNMET on both sides."""
        return self._cell(1, 1)

    @property
    def precision(self) -> float | None:
        """The share of predicted MET that is right."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """The share of true MET that was predicted."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def fpr(self) -> float | None:
        """The share of true UNMET that was judged MET."""
        return _share(self.fp, self.fp + self.tn)

    @property
    def fnr(self) -> float | None:
        """The share of true MET that was judged UNMET."""
        return _share(self.fn, self.fn + self.tp)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class CoverageStats(_Result):
    """The number of pairs in the metrics, and why others were excluded."""

    n_total: int
    n_covered: int
    coverage: float | None = None
    judge_abstain_rate: float | None = None
    gt_abstain_rate: float | None = None
    union_exclusion_rate: float | None = None
    n_errored: int = 0
    error_rate: float | None = None


class CannotAssessStats(_Result):
    """The number of abstaining verdicts on either side, over all binary criteria."""

    ca_count_true: int
    ca_count_pred: int
    ca_kappa: float | None = None
    ca_kappa_interpretation: str | None = None
    ca_false_positive: int
    ca_false_negative: int


class NAStats(_Result):
    """The number of abstaining options on either side, over all criteria with options."""

    na_count_true: int
    na_count_pred: int
    na_kappa: float | None = None
    na_kappa_interpretation: str | None = None
    na_false_positive: int
    na_false_negative: int


class CriterionMetrics(_Result):
    """The panel's agreement with the ground truth on a criterion without options."""

    name: str
    index: int
    criterion_type: Literal["binary"] = "binary"
    n_samples: int
    accuracy: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    kappa: float | None
    kappa_interpretation: str
    krippendorff_alpha: float | None = None
    fleiss_kappa: float | None = None
    support_true: int
    support_pred: int
    confusion_matrix: ConfusionMatrix | None = None
    fpr: float | None = None
    fnr: float | None = None
    phi: float | None = None
    is_degenerate: bool = False
    coverage_stats: CoverageStats | None = None


BinaryCriterionMetrics = CriterionMetrics


class OptionMetrics(_Result):
    """How well one option is distinguished from all others."""

    label: str
    index: int
    precision: float | None
    recall: float | None
    f1: float | None
    support_true: int
    support_pred: int


class OrdinalCriterionMetrics(_Result):
    """The panel's agreement with the ground truth on an ordinal scale."""

    name: str
    index: int
    criterion_type: Literal["ordinal"] = "ordinal"
    n_samples: int
    n_options: int
    exact_accuracy: float | None
    adjacent_accuracy: float | None
    weighted_kappa: float | None
    kappa_interpretation: str
    krippendorff_alpha: float | None = None
    fleiss_kappa: float | None = None
    spearman: CorrelationResult
    kendall: CorrelationResult
    rmse: float | None
    mae: float | None
    per_option: list[OptionMetrics]
    confusion_matrix: ConfusionMatrix
    is_degenerate: bool = False
    coverage_stats: CoverageStats | None = None


class NominalCriterionMetrics(_Result):
    """The panel's agreement with the ground truth on options without an order."""

    name: str
    index: int
    criterion_type: Literal["nominal"] = "nominal"
    n_samples: int
    n_options: int
    exact_accuracy: float | None
    kappa: float | None
    kappa_interpretation: str
    krippendorff_alpha: float | None = None
    fleiss_kappa: float | None = None
    per_option: list[OptionMetrics]
    confusion_matrix: ConfusionMatrix
    is_degenerate: bool = False
    coverage_stats: CoverageStats | None = None


CriterionMetricsUnion = CriterionMetrics | OrdinalCriterionMetrics | NominalCriterionMetrics


class JudgeMetrics(_Result):
    """One judge's agreement with the ground truth."""

    judge_id: str
    criterion_accuracy: float | None
    criterion_precision: float | None
    criterion_recall: float | None
    criterion_f1: float | None
    mean_kappa: float | None
    phi: float | None = None
    confusion_matrix: ConfusionMatrix | None = None
    score_rmse: float | None
    score_mae: float | None
    score_spearman: CorrelationResult | None
    score_kendall: CorrelationResult | None
    score_pearson: CorrelationResult | None
    bias: BiasResult | None
    coverage: Literal["full", "escalated"] = "full"
    n_pairs: int | None = None


class PooledScaleMetrics(_Result):
    """All criteria of one kind pooled, for items with rubrics of their own."""

    scale_type: CriterionType
    n_points: int
    exact_accuracy: float | None
    value_rmse: float | None
    value_mae: float | None
    value_spearman: float | None
    value_pearson: float | None
    kappa: float | None = None
    phi: float | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    confusion_matrix: ConfusionMatrix | None = None
    n_abstain: int = 0


class MetricsResult(_Result):
    """Agreement with the ground truth in AutoRubric's metrics; `agreement` has ours, each with an interval.

    `criterion_` numbers pool all pairs of binary criteria; `mean_kappa` and `macro_accuracy` are means over all
    criteria. What is undefined is None.
    """

    criterion_accuracy: float | None
    criterion_precision: float | None
    criterion_recall: float | None
    criterion_f1: float | None
    mean_kappa: float | None
    per_criterion: list[CriterionMetricsUnion]
    score_rmse: float | None
    score_mae: float | None
    score_spearman: CorrelationResult
    score_kendall: CorrelationResult
    score_pearson: CorrelationResult
    bias: BiasResult
    bootstrap: BootstrapResults | None = None
    per_judge: dict[str, JudgeMetrics] | None = None
    n_items: int
    n_criteria: int
    n_binary_criteria: int = 0
    n_ordinal_criteria: int = 0
    n_nominal_criteria: int = 0
    na_stats: NAStats | None = None
    cannot_assess_stats: CannotAssessStats | None = None
    cannot_assess_mode: CannotAssessMode = "exclude"
    na_mode: NAMode = "exclude"
    n_samples: int | None = None
    mean_krippendorff_alpha: float | None = None
    criterion_phi: float | None = None
    macro_accuracy: float | None = None
    micro_kappa: float | None = None
    coverage_stats: CoverageStats | None = None
    pooled_by_scale: list[PooledScaleMetrics] | None = None
    warnings: list[str] = Field(default_factory=list)
    _agreement: AgreementResult | None = PrivateAttr(default=None)

    @property
    def agreement(self) -> AgreementResult:
        """Return the agreement with an interval for every value: per criterion, per judge and overall."""
        if self._agreement is None:
            raise SpecError("these metrics were not computed by compute_metrics: they have no agreement")
        return self._agreement

    def with_agreement(self, agreement: AgreementResult) -> MetricsResult:
        """Return the metrics with ours attached."""
        result = self.model_copy()
        result._agreement = agreement
        return result

    @property
    def criteria(self) -> tuple[CriterionAgreement, ...]:
        """The agreement on every criterion."""
        return self.agreement.criteria

    @property
    def overall(self) -> Mapping[str, Values]:
        """The agreement over all criteria, by judge."""
        return self.agreement.overall

    @property
    def defined(self) -> Mapping[str, Mapping[str, int]]:
        """Over how many criteria each mean is taken."""
        return self.agreement.defined

    @property
    def between(self) -> Values:
        """The agreement between judges."""
        return self.agreement.between

    @property
    def scores(self) -> Mapping[str, Values]:
        """Return total scores with those of the ground truth, by judge."""
        return self.agreement.scores

    @property
    def totals(self) -> Values:
        """Total scores of the judges beside each other."""
        return self.agreement.totals

    @property
    def redundant(self) -> tuple[Redundant, ...]:
        """Criteria that order items alike."""
        return self.agreement.redundant

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes that affect how the metrics should be read."""
        return self.agreement.notes

    def __getitem__(self, criterion: str) -> CriterionAgreement:
        """The agreement on a criterion, by its name."""
        return self.agreement[criterion]

    def to_dict(self) -> dict[str, Any]:
        """Return our metrics as a JSON document."""
        return self.agreement.to_dict()

    def __repr__(self) -> str:
        """The table that `assay agreement` prints."""
        return super().__repr__() if self._agreement is None else str(render(self._agreement, "text"))

    def summary(self, *, verbose: bool = False) -> str:
        """Summarise the main metrics in a few lines; `verbose` adds the table with all intervals."""
        lines = [
            f"{self.n_items:,} items, {self.n_criteria} criteria ({self.n_binary_criteria} binary, "
            f"{self.n_ordinal_criteria} ordinal, {self.n_nominal_criteria} nominal)",
            f"binary criteria: accuracy {_number(self.criterion_accuracy)}, precision "
            f"{_number(self.criterion_precision)}, recall {_number(self.criterion_recall)}, "
            f"F1 {_number(self.criterion_f1)}, kappa {_number(self.micro_kappa)}",
            f"all criteria: mean accuracy {_number(self.macro_accuracy)}, mean kappa {_number(self.mean_kappa)}",
            f"scores: RMSE {_number(self.score_rmse)}, MAE {_number(self.score_mae)}, "
            f"Spearman {_number(self.score_spearman.coefficient)}, bias {_number(self.bias.mean_bias)}",
        ]
        for criterion in self.per_criterion:
            accuracy = criterion.accuracy if isinstance(criterion, CriterionMetrics) else criterion.exact_accuracy
            kappa = criterion.weighted_kappa if isinstance(criterion, OrdinalCriterionMetrics) else criterion.kappa
            lines.append(
                f"  {criterion.name}: accuracy {_number(accuracy)}, kappa {_number(kappa)}, n {criterion.n_samples:,}"
            )
        for judge, metrics in (self.per_judge or {}).items():
            accuracy, kappa = metrics.criterion_accuracy, metrics.mean_kappa
            lines.append(f"  judge {judge}: accuracy {_number(accuracy)}, mean kappa {_number(kappa)}")
        lines += [f"note: {warning}" for warning in self.warnings]
        if verbose and self._agreement is not None:
            lines.append(str(render(self._agreement, "text")))
        return "\n".join(lines)

    def to_dataframe(self) -> pandas.DataFrame:
        """One row for all criteria, one per criterion and one per judge; needs pandas."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise SpecError("to_dataframe needs pandas: pip install pandas") from None
        rows: list[dict[str, Any]] = [
            {
                "level": "aggregate",
                "name": "overall",
                "criterion_type": "all",
                "accuracy_micro": self.criterion_accuracy,
                "accuracy_macro": self.macro_accuracy,
                "precision_micro": self.criterion_precision,
                "recall_micro": self.criterion_recall,
                "f1_micro": self.criterion_f1,
                "mean_kappa_macro": self.mean_kappa,
                "kappa_micro": self.micro_kappa,
                "phi_micro": self.criterion_phi,
                "n_samples": self.n_samples,
                "rmse": self.score_rmse,
                "mae": self.score_mae,
                "spearman": self.score_spearman.coefficient,
                "kendall": self.score_kendall.coefficient,
                "pearson": self.score_pearson.coefficient,
                "bias": self.bias.mean_bias,
            }
        ]
        for criterion in self.per_criterion:
            row: dict[str, Any] = {
                "level": "criterion",
                "name": criterion.name,
                "criterion_type": criterion.criterion_type,
            }
            row |= criterion.model_dump(include={"n_samples", "krippendorff_alpha", "fleiss_kappa", "is_degenerate"})
            if isinstance(criterion, CriterionMetrics):
                row |= criterion.model_dump(include={"phi", "fpr", "fnr"})
                row |= {
                    "accuracy_micro": criterion.accuracy,
                    "precision_micro": criterion.precision,
                    "kappa_micro": criterion.kappa,
                }
                row |= {"recall_micro": criterion.recall, "f1_micro": criterion.f1}
            else:
                row["accuracy_micro"] = criterion.exact_accuracy
            if isinstance(criterion, OrdinalCriterionMetrics):
                row |= criterion.model_dump(include={"adjacent_accuracy", "weighted_kappa", "rmse", "mae"})
                row |= {"spearman": criterion.spearman.coefficient, "kendall": criterion.kendall.coefficient}
                row["kappa_micro"] = criterion.weighted_kappa
            elif isinstance(criterion, NominalCriterionMetrics):
                row["kappa_micro"] = criterion.kappa
            rows.append(row)
        for judge, metrics in (self.per_judge or {}).items():
            rows.append(
                {
                    "level": "judge",
                    "name": judge,
                    "criterion_type": "all",
                    "accuracy_micro": metrics.criterion_accuracy,
                    "precision_micro": metrics.criterion_precision,
                    "recall_micro": metrics.criterion_recall,
                    "f1_micro": metrics.criterion_f1,
                    "mean_kappa_macro": metrics.mean_kappa,
                    "phi": metrics.phi,
                    "rmse": metrics.score_rmse,
                    "mae": metrics.score_mae,
                }
            )
        return pandas.DataFrame(rows)

    def to_file(self, path: str | Path) -> None:
        """Write the metrics to a JSON file, ours under `agreement`."""
        document = self.model_dump(mode="json")
        if self._agreement is not None:
            document["agreement"] = self._agreement.to_dict()
        Path(path).write_text(json.dumps(document, indent=2, ensure_ascii=False), encoding="utf-8")


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"

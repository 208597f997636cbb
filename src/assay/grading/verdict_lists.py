"""Lists of verdicts: from a report, from a ground truth, without abstentions, as numbers."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import SpecError
from assay.grading.metrics_types import CannotAssessMode, NAMode
from assay.judging.criteria import Criterion, CriterionKind, CriterionVerdict
from assay.judging.reports import CriterionReport, EnsembleEvaluationReport, EvaluationReport
from assay.judging.verdicts import MultiChoiceVerdict, read_verdict

_UNSURE = CriterionVerdict.CANNOT_ASSESS


def classify_criterion(criterion: Criterion) -> CriterionKind:
    """Return whether a criterion is binary, ordinal or nominal."""
    return criterion.kind


def classify_criteria(criteria: Sequence[Criterion]) -> list[CriterionKind]:
    """The kind of every criterion."""
    return [criterion.kind for criterion in criteria]


def get_option_value(criterion: Criterion, index: int) -> float:
    """The value of an option by its index."""
    return criterion.get_option_value(index)


def is_na_option(criterion: Criterion, index: int) -> bool:
    """Return whether an option abstains."""
    criterion.get_option_value(index)
    return criterion.choices[index].na


def resolve_ground_truth(
    ground_truth: Sequence[CriterionVerdict | str], criteria: Sequence[Criterion]
) -> list[CriterionVerdict | int]:
    """A verdict per binary criterion, and the index of the option per criterion with options."""
    if len(ground_truth) != len(criteria):
        raise SpecError(f"there are {len(criteria)} criteria, but the ground truth has {len(ground_truth)} entries")
    resolved: list[CriterionVerdict | int] = []
    for entry, criterion in zip(ground_truth, criteria, strict=True):
        verdict = read_verdict(criterion, entry)
        if isinstance(verdict, MultiChoiceVerdict):
            resolved.append(_UNSURE if verdict.selected_index is None else verdict.selected_index)
        else:
            resolved.append(verdict)
    return resolved


def _verdicts(
    report: EvaluationReport | EnsembleEvaluationReport,
) -> list[tuple[CriterionVerdict | None, MultiChoiceVerdict | None]]:
    entries = report.report or []
    return [
        (entry.verdict, entry.multi_choice_verdict)
        if isinstance(entry, CriterionReport)
        else (entry.final_verdict, entry.final_multi_choice_verdict)
        for entry in entries
    ]


def extract_verdicts_from_report(
    report: EvaluationReport | EnsembleEvaluationReport, num_criteria: int
) -> list[CriterionVerdict]:
    """Return the verdict on every criterion; CANNOT_ASSESS where there is none, as on criteria with options.

    AutoRubric says UNMET there: an outage would count as a verdict.
    """
    verdicts = [verdict or _UNSURE for verdict, _ in _verdicts(report)]
    return (verdicts + [_UNSURE] * num_criteria)[:num_criteria]


def extract_all_verdicts_from_report(
    report: EvaluationReport | EnsembleEvaluationReport, criteria: Sequence[Criterion]
) -> list[CriterionVerdict | int | None]:
    """Return the verdict or the option index on every criterion; None where there is none."""
    entries = _verdicts(report)
    verdicts: list[CriterionVerdict | int | None] = [
        verdict if choice is None else choice.selected_index for verdict, choice in entries
    ]
    return (verdicts + [None] * len(criteria))[: len(criteria)]


def filter_cannot_assess(
    pred_verdicts: Sequence[CriterionVerdict],
    true_verdicts: Sequence[CriterionVerdict],
    mode: CannotAssessMode = "exclude",
) -> tuple[list[CriterionVerdict], list[CriterionVerdict]]:
    """Remove abstentions from two lists of verdicts, replace them by UNMET, or keep them.

    >>> met, unsure = CriterionVerdict.MET, CriterionVerdict.CANNOT_ASSESS
    >>> filter_cannot_assess([met, unsure], [met, met])
    ([<CriterionVerdict.MET: 'MET'>], [<CriterionVerdict.MET: 'MET'>])
    """
    pairs = list(zip(pred_verdicts, true_verdicts, strict=True))
    if mode == "exclude":
        pairs = [pair for pair in pairs if _UNSURE not in pair]
    elif mode == "as_unmet":
        unmet = CriterionVerdict.UNMET
        pairs = [(unmet if a is _UNSURE else a, unmet if b is _UNSURE else b) for a, b in pairs]
    elif mode != "as_category":
        raise SpecError(f'mode is "exclude", "as_unmet" or "as_category", not "{mode}"')
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def filter_na_multi_choice(
    pred_indices: Sequence[int],
    true_indices: Sequence[int],
    criterion: Criterion,
    mode: NAMode = "exclude",
) -> tuple[list[int], list[int], int, int, int]:
    """Two lists of options without those that abstain, and how often both, only the first and only the second did.

    `as_unmet` puts the worst option in their place; `as_category` leaves them, which has no meaning on a scale.
    """
    pairs = list(zip(pred_indices, true_indices, strict=True))
    gone = {index for index, option in enumerate(criterion.choices) if option.na}
    both = sum(a in gone and b in gone for a, b in pairs)
    first = sum(a in gone and b not in gone for a, b in pairs)
    second = sum(a not in gone and b in gone for a, b in pairs)
    if mode == "exclude":
        pairs = [(a, b) for a, b in pairs if a not in gone and b not in gone]
    elif mode == "as_unmet":
        worst, _ = criterion.worst_scored_option()
        pairs = [(worst if a in gone else a, worst if b in gone else b) for a, b in pairs]
    elif mode != "as_category":
        raise SpecError(f'mode is "exclude", "as_unmet" or "as_category", not "{mode}"')
    elif criterion.kind == "ordinal" and gone:
        raise SpecError("an option that abstains has no place on a scale: as_category is for nominal criteria")
    return [a for a, _ in pairs], [b for _, b in pairs], both, first, second


def verdict_to_binary(verdicts: Sequence[CriterionVerdict]) -> list[int]:
    """1 for MET, 0 for everything else."""
    return [int(verdict is CriterionVerdict.MET) for verdict in verdicts]


def verdict_to_string(verdicts: Sequence[CriterionVerdict]) -> list[str]:
    """The verdicts as texts."""
    return [verdict.value for verdict in verdicts]

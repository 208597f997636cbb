"""One submission to grade, with its human labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.errors import SpecError
from assay.judging.criteria import CriterionVerdict
from assay.judging.rubric import Rubric
from assay.judging.verdicts import MultiChoiceVerdict, read_verdict

Truth = CriterionVerdict | str
GroundTruth = list[Truth]


@dataclass(slots=True)
class DataItem:
    """A submission; its own rubric, prompt and reference override those of the dataset.

    `ground_truth` has one entry per criterion, and `ground_truth_reasons` may say why, one entry or None per criterion;
    `annotators` holds verdicts of several people, by name.
    """

    submission: str
    description: str = ""
    ground_truth: GroundTruth | None = None
    rubric: Rubric | None = None
    reference_submission: str | None = None
    prompt: str | None = None
    ground_truth_reasons: list[str | None] | None = None
    annotators: Mapping[str, GroundTruth] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        truth: object = self.ground_truth
        if isinstance(truth, tuple):
            self.ground_truth = list(truth)

    @property
    def reasons(self) -> list[str | None] | None:
        """Return the reasons for the human verdicts; an alias of `ground_truth_reasons`."""
        return self.ground_truth_reasons


def read_truth(entries: Sequence[object], rubric: Rubric) -> GroundTruth:
    """Read a human verdict per criterion in the rubric's terms; a SpecError names an entry that does not fit."""
    if isinstance(entries, str) or not isinstance(entries, Sequence):
        raise SpecError(f"the ground truth is a list with one entry per criterion, not {type(entries).__name__}")
    if len(entries) != len(rubric):
        raise SpecError(f"the rubric has {len(rubric)} criteria, but the ground truth has {len(entries)} entries")
    ground_truth: list[Truth] = []
    for name, criterion, entry in zip(rubric.names, rubric.criteria, entries, strict=True):
        try:
            verdict = read_verdict(criterion, entry)
        except ValueError as error:
            raise SpecError(f'ground truth of "{name}": {error}') from None
        if isinstance(verdict, MultiChoiceVerdict):
            ground_truth.append(verdict.selected_label or CriterionVerdict.CANNOT_ASSESS)
        else:
            ground_truth.append(verdict)
    return ground_truth

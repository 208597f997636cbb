"""A rubric: what a panel of judges looks for, from a file or from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import SpecError
from assay.judging.criteria import Criterion
from assay.judging.length import LengthPenalty, words_in
from assay.judging.rubric import Sheet, sheet_from_file, sheet_from_text, sheet_of
from assay.judging.total import CannotAssess, RubricScore, ScoreValueRule, Scoring, Section, total
from assay.models.event_loop import run_to_end

if TYPE_CHECKING:
    from assay.grading.grader import CriterionGrader
    from assay.judging.reports import EnsembleEvaluationReport


class Rubric:
    """Criteria in order, with the guidelines that all judges read.

    >>> rubric = Rubric([Criterion(requirement="Names the capital"), Criterion(requirement="Is rude", weight=-4.0)])
    >>> rubric.compute_score(["MET", "MET"]).score
    0.6
    """

    def __init__(
        self, criteria: Sequence[Criterion], guidelines: str | None = None, *, sections: Sequence[Section] = ()
    ) -> None:
        wrong = next((each for each in criteria if not isinstance(each, Criterion)), None)
        if wrong is not None:
            raise SpecError(f"a rubric is made of Criterion objects, not {type(wrong).__name__}; see Rubric.from_dict")
        if not criteria:
            raise SpecError("the rubric has no criteria")
        self.sheet = Sheet(criteria=tuple(criteria), sections=tuple(sections), guidelines=guidelines)

    @classmethod
    def _of(cls, sheet: Sheet) -> Rubric:
        return cls(sheet.criteria, sheet.guidelines, sections=sheet.sections)

    @classmethod
    def from_dict(cls, data: Sequence[Any] | Mapping[str, Any]) -> Rubric:
        """A rubric from lists and mappings in any of the layouts of a file."""
        return cls._of(sheet_of(data))

    @classmethod
    def from_yaml(cls, text: str) -> Rubric:
        """A rubric from YAML text."""
        return cls._of(sheet_from_text(text))

    @classmethod
    def from_json(cls, text: str) -> Rubric:
        """A rubric from JSON text."""
        return cls._of(sheet_from_text(text))

    @classmethod
    def from_file(cls, path: str | Path) -> Rubric:
        """A rubric from a YAML or JSON file; what is wrong comes with file, line and column."""
        return cls._of(sheet_from_file(Path(path)))

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria in order."""
        return self.sheet.criteria

    @property
    def guidelines(self) -> str | None:
        """What all judges are told."""
        return self.sheet.guidelines

    @property
    def sections(self) -> tuple[Section, ...]:
        """The named parts of the rubric."""
        return self.sheet.sections

    @property
    def names(self) -> tuple[str, ...]:
        """A name for every criterion, each once."""
        return self.sheet.names

    def __len__(self) -> int:
        return len(self.criteria)

    def __iter__(self) -> Iterator[Criterion]:
        return iter(self.criteria)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rubric) and self.sheet == other.sheet

    def __hash__(self) -> int:
        return hash(self.sheet)

    def __repr__(self) -> str:
        return f"Rubric({len(self)} criteria: {', '.join(self.names)})"

    def compute_score(
        self,
        verdicts: Sequence[object],
        normalize: bool = True,
        cannot_assess: CannotAssess = "skip",
        partial_credit: float = 0.5,
        *,
        min_coverage: float = 0.0,
        score_value: ScoreValueRule = "snapped",
        length_penalty: LengthPenalty | None = None,
        submission: str | None = None,
    ) -> RubricScore:
        """The score of a submission from one verdict a criterion: a verdict, `"MET"`, or the label of an option.

        A length penalty needs the submission, whose words are counted.
        """
        if length_penalty is not None and submission is None:
            raise SpecError("a length penalty needs the submission")
        scoring = Scoring(
            normalize=normalize,
            cannot_assess=cannot_assess,
            partial_credit=partial_credit,
            min_coverage=min_coverage,
            score_value=score_value,
            length_penalty=length_penalty,
        )
        words = None if submission is None else words_in(submission)
        return total(self.criteria, verdicts, scoring, self.sections, words=words)

    def to_dict(self) -> dict[str, Any]:
        """The rubric as a file holds it."""
        written = [criterion.model_dump(mode="json", exclude_defaults=True) for criterion in self.criteria]
        made: dict[str, Any] = {} if self.guidelines is None else {"guidelines": self.guidelines}
        starts = {section.start: section for section in self.sections}
        entries: list[dict[str, Any]] = []
        place = 0
        while place < len(written):
            section = starts.get(place)
            if section is None:
                entries.append(written[place])
                place += 1
            else:
                entries.append({"name": section.name, "criteria": written[section.start : section.stop]})
                place = section.stop
        return {**made, "criteria": entries}

    def to_yaml(self) -> str:
        """The rubric as YAML; `from_yaml` gives the same rubric again."""
        import yaml

        text: str = yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=120)
        return text

    def save(self, path: str | Path) -> None:
        """Write the rubric to a YAML file."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")

    async def grade(
        self,
        to_grade: str | Mapping[str, Any],
        grader: CriterionGrader,
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        row: int = 0,
    ) -> EnsembleEvaluationReport:
        """Let a panel of judges grade one submission; `query` is what the submission answers.

        `row` is the submission's number in a series, for shuffles that balance one.
        """
        return await grader.grade(to_grade, self, query, reference_submission, row=row)

    def grade_sync(
        self,
        to_grade: str | Mapping[str, Any],
        grader: CriterionGrader,
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        row: int = 0,
    ) -> EnsembleEvaluationReport:
        """The same for programs without an event loop."""

        return run_to_end(self.grade(to_grade, grader, query, reference_submission, row=row))

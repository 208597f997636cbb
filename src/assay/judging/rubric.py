"""A rubric: what a panel of judges looks for, from a file or from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, runtime_checkable

from assay.errors import SpecError
from assay.judging.criteria import Criterion
from assay.judging.length import LengthPenalty
from assay.judging.reports import EnsembleEvaluationReport
from assay.judging.rubric_layout import Elsewhere, LayoutReader, nearest_place
from assay.judging.total import CannotAssess, CannotAssessStrategy, RubricScore, ScoreValueRule, Scoring, Section, total
from assay.models.event_loop import run_to_end
from assay.spec.document import Document, Steps
from assay.spec.load import document_of, read_document
from assay.spec.locate import Checker
from assay.spec.source import Source

ToGrade = str | Mapping[str, Any]
"""A text, or a mapping with the text under `output`."""


@runtime_checkable
class RubricGrader(Protocol):
    """A panel that grades one submission by a whole rubric, with its sections."""

    async def grade_by_rubric(
        self,
        to_grade: ToGrade,
        rubric: Rubric,
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        row: int = 0,
    ) -> EnsembleEvaluationReport:
        """Grade the submission and return the panel's report."""
        ...


class CriteriaGrader(Protocol):
    """A user-written grader for a list of criteria."""

    async def grade(
        self,
        to_grade: Any,
        rubric: list[Criterion],
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        guidelines: str | None = None,
    ) -> Any:
        """Grade the submission and return a report of the grader's own type."""
        ...


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Rubric:
    """Criteria in order, with the guidelines that all judges read.

    >>> rubric = Rubric([Criterion(requirement="Names the capital"), Criterion(requirement="Is rude", weight=-4.0)])
    >>> rubric.compute_score(["MET", "MET"])
    0.6
    """

    criteria: tuple[Criterion, ...]
    guidelines: str | None
    sections: tuple[Section, ...]

    def __init__(
        self, rubric: Sequence[Criterion], guidelines: str | None = None, *, sections: Sequence[Section] = ()
    ) -> None:
        wrong = next((entry for entry in rubric if not isinstance(entry, Criterion)), None)
        if wrong is not None:
            raise SpecError(f"a rubric is made of Criterion objects, not {type(wrong).__name__}; see Rubric.from_dict")
        if not rubric:
            raise SpecError("the rubric has no criteria")
        object.__setattr__(self, "criteria", tuple(rubric))
        object.__setattr__(self, "guidelines", guidelines)
        object.__setattr__(self, "sections", tuple(sections))

    @property
    def rubric(self) -> list[Criterion]:
        """The criteria as a list."""
        return list(self.criteria)

    @classmethod
    def from_dict(cls, data: Sequence[Any] | Mapping[str, Any]) -> Rubric:
        """A rubric from lists and mappings in any of the layouts of a file; a SpecError lists all that is wrong."""
        document = Elsewhere(
            path=Path("the rubric"),
            root=Path(),
            data=data,
            positions={},
            sources={},
            locate=lambda steps: nearest_place(data, steps),
        )
        return rubric_in(document)

    @classmethod
    def from_text(cls, text: str, name: str = "rubric") -> Rubric:
        """Read a rubric from YAML or JSON text; `name` stands for the file in error messages."""
        return rubric_in(document_of(Source(Path(name), name, text), Path(), strict=False))

    @classmethod
    def from_yaml(cls, yaml_string: str) -> Rubric:
        """A rubric from YAML text."""
        return cls.from_text(yaml_string)

    @classmethod
    def from_json(cls, json_string: str) -> Rubric:
        """A rubric from JSON text."""
        return cls.from_text(json_string)

    @classmethod
    def from_file(cls, source: str | Path | IO[str] | IO[bytes]) -> Rubric:
        """Read a rubric from a YAML or JSON file, given by path or open; a SpecError locates every problem."""
        if isinstance(source, str | Path):
            return rubric_in(read_document(Path(source), strict=False))
        content = source.read()
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        return cls.from_text(text, str(getattr(source, "name", "rubric")))

    @staticmethod
    def validate_and_create_criteria(data: Sequence[Any] | Mapping[str, Any]) -> list[Criterion]:
        """The criteria of a rubric in any layout; a SpecError lists all that is wrong."""
        return Rubric.from_dict(data).rubric

    @property
    def names(self) -> tuple[str, ...]:
        """Return a unique name for every criterion: its own or its number; repeated names are numbered."""
        names: list[str] = []
        for number, criterion in enumerate(self.criteria, start=1):
            name = criterion.name or f"criterion_{number}"
            suffix = 2
            while name in names:
                name = f"{criterion.name or f'criterion_{number}'}_{suffix}"
                suffix += 1
            names.append(name)
        return tuple(names)

    def __len__(self) -> int:
        return len(self.criteria)

    def __iter__(self) -> Iterator[Criterion]:
        return iter(self.criteria)

    def __repr__(self) -> str:
        return f"Rubric({len(self)} criteria: {', '.join(self.names)})"

    def compute_score(
        self,
        verdicts: Sequence[object],
        normalize: bool = True,
        cannot_assess_strategy: CannotAssessStrategy = CannotAssessStrategy.SKIP,
        partial_credit: float = 0.5,
    ) -> float | None:
        """Compute the score of a submission from one verdict per criterion; `score_details` explains it."""
        rule: Any = CannotAssessStrategy(cannot_assess_strategy).value
        return self.score_details(verdicts, normalize, rule, partial_credit).score

    def score_details(
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
        """The score of a submission from one verdict per criterion: a verdict, `"MET"`, or the label of an option.

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
        words = None if submission is None else scoring.length(submission)
        return total(self.criteria, verdicts, scoring, self.sections, words=words)

    def content(self) -> dict[str, Any]:
        """The rubric in full, as a run stores it; `stored_rubrics` reads it again."""
        return {
            "criteria": [criterion.model_dump(mode="json") for criterion in self.criteria],
            "sections": [section.model_dump() for section in self.sections],
            "guidelines": self.guidelines,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the rubric as file content."""
        criteria = [criterion.model_dump(mode="json", exclude_defaults=True) for criterion in self.criteria]
        starts = {section.start: section for section in self.sections}
        entries: list[dict[str, Any]] = []
        position = 0
        while position < len(criteria):
            section = starts.get(position)
            if section is None:
                entries.append(criteria[position])
                position += 1
            else:
                entries.append({"name": section.name, "criteria": criteria[section.start : section.stop]})
                position = section.stop
        return {**({} if self.guidelines is None else {"guidelines": self.guidelines}), "criteria": entries}

    def to_yaml(self) -> str:
        """Return the rubric as YAML; `from_yaml` reads it back unchanged."""
        import yaml

        text: str = yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=120)
        return text

    def save(self, path: str | Path) -> None:
        """Write the rubric to a YAML file."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")

    async def grade(
        self,
        to_grade: ToGrade,
        grader: RubricGrader | CriteriaGrader,
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        row: int = 0,
    ) -> Any:
        """Let a panel of judges grade one submission; `query` is what the submission answers.

        A panel gives an EnsembleEvaluationReport; a grader of one's own, whatever it reports. `row` is the submission's
        number in a series, for shuffles that balance one.
        """
        if isinstance(grader, RubricGrader):
            return await grader.grade_by_rubric(to_grade, self, query, reference_submission, row=row)
        return await grader.grade(to_grade, self.rubric, query, reference_submission, guidelines=self.guidelines)

    def grade_sync(
        self,
        to_grade: ToGrade,
        grader: RubricGrader | CriteriaGrader,
        query: str | None = None,
        reference_submission: str | None = None,
        *,
        row: int = 0,
    ) -> Any:
        """Let a panel of judges grade one submission, in a program without an event loop."""

        return run_to_end(self.grade(to_grade, grader, query, reference_submission, row=row))


def stored_rubrics(content: Mapping[str, Any]) -> list[Rubric]:
    """Return the rubrics that a run stored: the main one, and those of single items under `others`.

    Imported runs store criteria alone, without sections and guidelines.
    """
    return [
        Rubric(
            [Criterion.model_validate(entry, strict=False) for entry in rubric["criteria"]],
            rubric.get("guidelines"),
            sections=[Section.model_validate(entry) for entry in rubric.get("sections") or ()],
        )
        for rubric in (content, *content.get("others", ()))
    ]


def rubric_in(document: Document) -> Rubric:
    """Read the rubric in a document; a SpecError lists all problems with their locations."""
    checker = Checker(document)
    checker.problems += document.problems
    rubric = read_rubric(document.data, (), checker)
    if rubric is None or checker.problems:
        raise SpecError(checker.problems)
    return rubric


def read_rubric(data: Any, steps: Steps, checker: Checker) -> Rubric | None:
    """The rubric inside a larger document, or None with its problems reported to the checker."""
    before = len(checker.problems)
    reader = LayoutReader(checker)
    reader.layout(data, steps)
    if len(checker.problems) > before:
        return None
    if not reader.criteria:
        checker.report("the rubric has no criteria", steps)
        return None
    return Rubric(reader.criteria, reader.guidelines, sections=reader.sections)

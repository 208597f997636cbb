"""Submissions to grade, with what people said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import SpecError
from assay.grading.dataset_files import read_dataset
from assay.grading.items import DataItem, read_truth
from assay.judging.rubric import Rubric


class RubricDataset:
    """Submissions that are graded by a rubric.

    >>> dataset = RubricDataset(rubric=Rubric.from_dict([{"requirement": "Names the capital"}]))
    >>> dataset.add_item("It is Paris.", "good", ground_truth=["met"])
    >>> dataset[0].ground_truth[0].value
    'MET'
    """

    def __init__(
        self,
        prompt: str | None = None,
        rubric: Rubric | None = None,
        items: Sequence[DataItem] = (),
        name: str | None = None,
        reference_submission: str | None = None,
    ) -> None:
        self.prompt = prompt
        self.rubric = rubric
        self.name = name
        self.reference_submission = reference_submission
        self.items: list[DataItem] = []
        for item in items:
            self._append(item)

    def add_item(
        self,
        submission: str,
        description: str = "",
        ground_truth: Sequence[object] | Mapping[str, Sequence[object]] | None = None,
        *,
        rubric: Rubric | None = None,
        prompt: str | None = None,
        reference_submission: str | None = None,
        reasons: Sequence[str | None] | None = None,
    ) -> None:
        """Add a submission; a truth that does not fit the rubric is an error here, not after the money is spent.

        `ground_truth` has one entry per criterion, or is a mapping of annotators to such lists; `reasons` say why, for
        judges that learn from examples.
        """
        why = None if reasons is None else tuple(reasons)
        item = DataItem(submission, description, None, rubric, prompt, reference_submission, reasons=why)
        self._append(_with_truth(item, ground_truth, self._rubric_of(item)))

    def _append(self, item: DataItem) -> None:
        rubric = self._rubric_of(item)
        _check_reasons(item.reasons, rubric)
        self.items.append(_with_truth(item, item.annotators or item.ground_truth, rubric))

    def _rubric_of(self, item: DataItem) -> Rubric:
        rubric = item.rubric or self.rubric
        if rubric is None:
            raise SpecError("neither the item nor the dataset has a rubric")
        return rubric

    def get_item_rubric(self, index: int) -> Rubric:
        """The rubric that an item is graded by."""
        return self._rubric_of(self.items[index])

    def get_item_prompt(self, index: int) -> str | None:
        """What the submission answers."""
        item = self.items[index]
        return item.prompt if item.prompt is not None else self.prompt

    def get_item_reference_submission(self, index: int) -> str | None:
        """What a good submission looks like."""
        item = self.items[index]
        return item.reference_submission if item.reference_submission is not None else self.reference_submission

    @classmethod
    def from_file(cls, path: str | Path, *, rubric: Rubric | None = None) -> RubricDataset:
        """A dataset from JSON, YAML, JSONL, CSV or Parquet; tables have a column `submission` and need a `rubric`."""
        content = read_dataset(Path(path), rubric)
        return cls(
            prompt=content.prompt,
            rubric=content.rubric,
            items=content.items,
            name=content.name,
            reference_submission=content.reference_submission,
        )

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[DataItem]:
        return iter(self.items)

    def __getitem__(self, index: int) -> DataItem:
        return self.items[index]

    @property
    def criterion_names(self) -> tuple[str, ...]:
        """The names of the dataset's criteria."""
        return () if self.rubric is None else self.rubric.names

    @property
    def num_criteria(self) -> int:
        """How many criteria the dataset's rubric has."""
        return 0 if self.rubric is None else len(self.rubric)


def _with_truth(item: DataItem, given: Any, rubric: Rubric) -> DataItem:
    if given is None:
        return item
    if isinstance(given, Mapping):
        annotators = {str(name): read_truth(each, rubric) for name, each in given.items()}
        return replace(item, annotators=annotators, ground_truth=item.ground_truth)
    return replace(item, ground_truth=read_truth(given, rubric))


def _check_reasons(reasons: object, rubric: Rubric) -> None:
    if reasons is None:
        return
    if not isinstance(reasons, tuple) or any(each is not None and not isinstance(each, str) for each in reasons):
        raise SpecError("the reasons are a list with one text, or None, per criterion")
    if len(reasons) != len(rubric):
        raise SpecError(f"the rubric has {len(rubric)} criteria, but there are {len(reasons)} reasons")

"""Datasets of submissions to grade, with human labels."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.errors import SpecError
from assay.grading.dataset_files import DatasetContent, dataset_of_text, read_dataset
from assay.grading.items import DataItem, read_truth
from assay.judging.rubric import Rubric


@dataclass
class RubricDataset:
    """Submissions that are graded by a rubric.

    >>> dataset = RubricDataset(rubric=Rubric.from_dict([{"requirement": "Names the capital"}]))
    >>> dataset.add_item("It is Paris.", "good", ground_truth=["met"])
    >>> dataset[0].ground_truth[0].value
    'MET'
    """

    prompt: str | None = None
    rubric: Rubric | None = None
    items: list[DataItem] = field(default_factory=list)
    name: str | None = None
    reference_submission: str | None = None

    def __post_init__(self) -> None:
        items, self.items = self.items, []
        for item in items:
            self._append(item)

    def add_item(
        self,
        submission: str,
        description: str = "",
        ground_truth: Sequence[object] | Mapping[str, Sequence[object]] | None = None,
        rubric: Rubric | None = None,
        reference_submission: str | None = None,
        prompt: str | None = None,
        *,
        ground_truth_reasons: Sequence[str | None] | None = None,
        reasons: Sequence[str | None] | None = None,
    ) -> None:
        """Add a submission; a ground truth that does not fit the rubric is rejected here, before money is spent.

        `ground_truth` has one entry per criterion, or is a mapping of annotators to such lists;
        `ground_truth_reasons`, also called `reasons`, say why, for judges that learn from examples.
        """
        given_reasons = ground_truth_reasons if ground_truth_reasons is not None else reasons
        item = DataItem(
            submission,
            description,
            None,
            rubric,
            reference_submission,
            prompt,
            # a text is a sequence of its letters: the check names it
            given_reasons if given_reasons is None or isinstance(given_reasons, str) else list(given_reasons),  # type: ignore[arg-type]
        )
        self._append(_with_truth(item, ground_truth, self._rubric_of(item)))

    def _append(self, item: DataItem) -> None:
        rubric = self._rubric_of(item)
        _check_reasons(item.ground_truth_reasons, rubric)
        self.items.append(_with_truth(item, item.annotators or item.ground_truth, rubric))

    def _rubric_of(self, item: DataItem) -> Rubric:
        rubric = item.rubric or self.rubric
        if rubric is None:
            raise SpecError("neither the item nor the dataset has a rubric")
        return rubric

    def get_item_rubric(self, idx: int) -> Rubric:
        """The rubric that an item is graded by."""
        return self._rubric_of(self.items[idx])

    def get_item_prompt(self, idx: int) -> str | None:
        """Return the prompt that the submission answers."""
        item = self.items[idx]
        return item.prompt if item.prompt is not None else self.prompt

    def get_item_reference_submission(self, idx: int) -> str | None:
        """Return the reference submission."""
        item = self.items[idx]
        return item.reference_submission if item.reference_submission is not None else self.reference_submission

    @classmethod
    def from_file(cls, path: str | Path, *, rubric: Rubric | None = None) -> RubricDataset:
        """A dataset from JSON, YAML, JSONL, CSV or Parquet; tables have a column `submission` and need a `rubric`."""
        return cls._of(read_dataset(Path(path), rubric))

    @classmethod
    def from_json(cls, json_string: str) -> RubricDataset:
        """A dataset from JSON text; a SpecError lists all that is wrong."""
        return cls._of(dataset_of_text(json_string))

    @classmethod
    def _of(cls, content: DatasetContent) -> RubricDataset:
        return cls(
            prompt=content.prompt,
            rubric=content.rubric,
            items=list(content.items),
            name=content.name,
            reference_submission=content.reference_submission,
        )

    def to_json(self, indent: int | None = 2) -> str:
        """Return the dataset as JSON; `from_json` reads it back unchanged."""
        document = {
            "name": self.name,
            "prompt": self.prompt,
            **({} if self.reference_submission is None else {"reference_submission": self.reference_submission}),
            **({} if self.rubric is None else {"rubric": _written(self.rubric)}),
            "items": [_item_as_written(item) for item in self.items],
        }
        return json.dumps(document, indent=indent, ensure_ascii=False)

    def to_file(self, path: str | Path) -> None:
        """Write the dataset to a JSON file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def split_train_test(
        self, n_train: int, *, stratify: bool = True, seed: int | None = None
    ) -> tuple[RubricDataset, RubricDataset]:
        """Split into two datasets, the first with `n_train` items; stratified, both have the same mix of ground truths.

        >>> rubric = Rubric.from_dict([{"requirement": "Polite"}])
        >>> items = [DataItem(f"text {n}", "", ["MET" if n % 2 else "UNMET"]) for n in range(8)]
        >>> dataset = RubricDataset(rubric=rubric, items=items)
        >>> train, test = dataset.split_train_test(4, seed=1)
        >>> sorted(item.ground_truth[0].value for item in train)
        ['MET', 'MET', 'UNMET', 'UNMET']
        """
        if not 0 <= n_train <= len(self):
            raise SpecError(f"n_train must be between 0 and the {len(self):,} items of the dataset, not {n_train}")
        if stratify and any(item.ground_truth is None for item in self.items):
            raise SpecError("a stratified split needs a ground truth for every item; stratify=False needs none")
        order = list(range(len(self)))
        random.Random(seed).shuffle(order)  # noqa: S311 (no secret hangs on it)
        if stratify:
            strata: dict[tuple[str, ...], list[int]] = {}
            for index in order:
                strata.setdefault(tuple(map(str, self.items[index].ground_truth or ())), []).append(index)
            # items of one stratum stand at even distances, so that every part has its share of them
            spread = {
                index: (rank + 0.5) / len(indices) for indices in strata.values() for rank, index in enumerate(indices)
            }
            order.sort(key=spread.__getitem__)
        train = set(order[:n_train])
        first, second = (
            [item for index, item in enumerate(self.items) if (index in train) is chosen] for chosen in (True, False)
        )
        return replace(self, items=first), replace(self, items=second)

    def compute_weighted_score(
        self, verdicts: Sequence[object], normalize: bool = True, rubric: Rubric | None = None
    ) -> float | None:
        """Compute the score of one verdict per criterion, by the dataset's rubric or another one."""
        return (rubric or self._common_rubric()).compute_score(verdicts, normalize)

    def _common_rubric(self) -> Rubric:
        if self.rubric is None:
            raise SpecError("the dataset has no rubric of its own; get_item_rubric gives that of an item")
        return self.rubric

    @property
    def criterion_names(self) -> list[str]:
        """The names of the dataset's criteria; unnamed ones are C1, C2 and so on by their positions."""
        criteria = self._common_rubric().criteria
        return [criterion.name or f"C{number}" for number, criterion in enumerate(criteria, start=1)]

    @property
    def num_criteria(self) -> int:
        """Return the number of criteria in the dataset's rubric."""
        return len(self._common_rubric())

    @property
    def total_positive_weight(self) -> float:
        """The sum of the positive weights of the dataset's rubric."""
        return math.fsum(criterion.weight for criterion in self._common_rubric() if criterion.weight > 0)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[DataItem]:
        return iter(self.items)

    def __getitem__(self, index: int) -> DataItem:
        return self.items[index]


def _written(rubric: Rubric) -> Any:
    """Return the rubric in a dataset file's form: a list of criteria, unless it has guidelines or sections."""
    document = rubric.to_dict()
    return document if rubric.guidelines is not None or rubric.sections else document["criteria"]


def _item_as_written(item: DataItem) -> dict[str, Any]:
    truth: Any = None if item.ground_truth is None else list(map(str, item.ground_truth))
    if item.annotators:
        truth = {name: list(map(str, verdicts)) for name, verdicts in item.annotators.items()}
    further = {
        "rubric": None if item.rubric is None else _written(item.rubric),
        "reference_submission": item.reference_submission,
        "prompt": item.prompt,
        "ground_truth_reasons": item.ground_truth_reasons,
    }
    row = {"submission": item.submission, "description": item.description, "ground_truth": truth}
    return row | {name: value for name, value in further.items() if value is not None}


def _with_truth(item: DataItem, ground_truth: Any, rubric: Rubric) -> DataItem:
    if ground_truth is None:
        return item
    if isinstance(ground_truth, Mapping):
        annotators = {str(name): read_truth(verdicts, rubric) for name, verdicts in ground_truth.items()}
        return replace(item, annotators=annotators, ground_truth=item.ground_truth)
    return replace(item, ground_truth=read_truth(ground_truth, rubric))


def _check_reasons(reasons: object, rubric: Rubric) -> None:
    if reasons is None:
        return
    if not isinstance(reasons, list) or any(reason is not None and not isinstance(reason, str) for reason in reasons):
        raise SpecError("the reasons are a list with one text, or None, per criterion")
    if len(reasons) != len(rubric):
        raise SpecError(f"the rubric has {len(rubric)} criteria, but there are {len(reasons)} reasons")

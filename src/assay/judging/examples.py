"""Few-shot examples for judges: human-labelled submissions, balanced and interleaved, never the item itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.shuffle import digest
from assay.judging.verdicts import verdict_in_words

_BETWEEN = "\x1f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A human verdict on a submission by one criterion: MET, UNMET, CANNOT_ASSESS, or the label of an option."""

    requirement: str
    text: str
    label: str
    prompt: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An example as a judge sees it; `value` is a verdict, or the index of an option."""

    text: str
    value: CriterionVerdict | int
    prompt: str | None = None
    reason: str | None = None


class FewShot:
    """Examples to choose from, `count` for each question; the seed decides which, the same for every submission."""

    def __init__(self, examples: Iterable[Example], *, count: int = 3, balanced: bool = True, seed: int = 0) -> None:
        self.count = count
        self.balanced = balanced
        self.seed = seed
        self._by_requirement: dict[str, list[Example]] = {}
        for example in dict.fromkeys(examples):
            self._by_requirement.setdefault(example.requirement.strip(), []).append(example)
        for pool in self._by_requirement.values():
            pool.sort(key=lambda example: self._drawn(example.requirement.strip(), example.text, example.label))

    def shown_with(self, criterion: Criterion, text: str, prompt: str | None = None) -> tuple[Judged, ...]:
        """Return the examples for one criterion and submission, never the submission itself;

        a differing prompt is included.
        """
        pool = self._by_requirement.get(criterion.requirement.strip(), [])
        judged = [
            Judged(
                text=example.text,
                value=value,
                prompt=None if example.prompt == prompt else example.prompt,
                reason=example.reason,
            )
            for example in pool
            if example.text.strip() != text.strip() and (value := _value(criterion, example.label)) is not None
        ]
        mixed = self._interleaved(criterion, judged if self.balanced else judged[: self.count])
        return tuple(mixed[: self.count])

    @property
    def identity(self) -> str:
        """A digest of all that decides which examples are shown."""
        texts = [
            _BETWEEN.join(
                [
                    example.requirement,
                    example.text,
                    example.label,
                    example.prompt or "",
                    *filter(None, [example.reason]),
                ]
            )
            for pool in self._by_requirement.values()
            for example in pool
        ]
        return digest(_BETWEEN.join([str(self.count), str(self.balanced), str(self.seed), *map(digest, texts)]))

    def _interleaved(self, criterion: Criterion, judged: Sequence[Judged]) -> list[Judged]:
        """One of each answer in turn; which answer begins is drawn, so that none is always left out."""
        groups: dict[CriterionVerdict | int, list[Judged]] = {}
        for example in judged:
            groups.setdefault(example.value, []).append(example)
        asked = criterion.requirement.strip()
        answers = sorted(groups, key=lambda value: self._drawn(asked, str(value)))
        rounds = zip_longest(*(groups[value] for value in answers))
        return [example for one_round in rounds for example in one_round if example is not None]

    def _drawn(self, *parts: str) -> str:
        return digest(_BETWEEN.join([str(self.seed), *parts]))


def _value(criterion: Criterion, label: str) -> CriterionVerdict | int | None:
    """Return the human verdict as the criterion words it; None if it has no such option."""
    try:
        verdict = verdict_in_words(criterion, label)
    except ValueError:
        return None
    return verdict if isinstance(verdict, CriterionVerdict) else verdict.selected_index

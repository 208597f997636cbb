"""Select the samples of a run to show, and their order."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from assay.errors import SpecError
from assay.interop.numbers import as_number
from assay.results.comparison import Comparison, Flip
from assay.results.rules import find_addresses, one_address
from assay.store.decoder import Sample, read_samples
from assay.store.run_spec import RunSpec
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.summary.actions import marked

FIELDS_FROM = 1_000
"""The number of samples that are read to find a run's fields."""
COLUMN = "sample"
CORRECT, SCORE = "is_correct", "score"
Operator = Literal[">", ">=", "=", "!=", "<", "<="]

_CONDITION = re.compile(r"(?P<field>[^<>=!]*[^<>=!\s])\s*(?P<operator><=|>=|!=|==|[<>=])\s*(?P<value>[^<>=].*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition on one field of a sample; `number` is its value if numeric."""

    field: str
    operator: Operator
    value: str
    number: float | None

    def accepts(self, value: object) -> bool:
        """Return whether a value of the field satisfies the condition; a missing one never does."""
        if value is None:
            return False
        number = as_number(value)
        if self.number is None or number is None:
            return (str(value) == self.value) is (self.operator == "=") and self.operator in ("=", "!=")
        equal = math.isclose(number, self.number, rel_tol=1e-12, abs_tol=1e-12)
        if self.operator in ("=", "!="):
            return equal is (self.operator == "=")
        if equal:
            return self.operator in (">=", "<=")
        return number > self.number if self.operator[0] == ">" else number < self.number


def parse_condition(text: str) -> Condition:
    """A condition from text.

    >>> condition = parse_condition("score < 0.5")
    >>> condition.accepts(0.4), condition.accepts(0.5), condition.accepts(None)
    (True, False, False)
    >>> parse_condition("label = good").accepts("good")
    True
    """
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        raise SpecError(f'"{text}" is not a condition: write one such as "score < 0.5", with < <= > >= = or !=')
    value = match["value"].strip().strip("\"'")
    operator: Any = "=" if match["operator"] == "==" else match["operator"]
    number = _number(value)
    if number is None and operator not in ("=", "!="):
        raise SpecError(f'"{text}" is not a condition: {operator} compares numbers, and "{value}" is none')
    return Condition(field=match["field"].strip(), operator=operator, value=value, number=number)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuery:
    """The selection and order of a run's samples.

    `wrong` samples were called incorrect by a scorer, or graded below the middle of the range; with `failed`, either
    is enough. `sort` names a field, with a minus in front for the greatest first; samples that lack it come last.
    `worst` keeps so many samples with the least value of the field that `sort` names, else of the first scorer.
    """

    sample_id: str | None = None
    failed: bool = False
    wrong: bool = False
    where: tuple[Condition, ...] = ()
    sort: str | None = None
    worst: int | None = None
    limit: int | None = None


def query_samples(store: Store, record: RunRecord, query: SampleQuery) -> Iterator[Sample]:
    """The samples that a query asks for."""
    fields = _Fields(store, record)
    conditions = [(fields.find(condition.field), condition) for condition in query.where]
    stored = read_samples(store, record, sample_id=query.sample_id, failed=query.failed and not query.wrong)
    samples = marked(stored, record.spec.actions, record.spec.scorer_keys)
    if query.wrong:
        samples = (s for s in samples if is_wrong(record.spec, s) or (query.failed and s.failures))
    if conditions:
        samples = (s for s in samples if all(test.accepts(_value(s, where)) for where, test in conditions))
    if query.sort is not None or query.worst is not None:
        samples = _sorted(samples, fields, query)
    yield from islice(samples, query.limit)


def _sorted(samples: Iterator[Sample], fields: _Fields, query: SampleQuery) -> Iterator[Sample]:
    descending = query.sort is not None and query.sort.startswith("-")
    if query.worst is not None and descending:
        raise SpecError("--worst shows the least values first: name the field without a minus")
    name = fields.main() if query.sort is None else query.sort.removeprefix("-")
    where = fields.find(name)

    def key(sample: Sample) -> tuple[int, float, str, int]:
        value = _value(sample, where)
        number = as_number(value)
        if value is None:
            return 2, 0.0, "", sample.position
        if number is None:
            return 1, 0.0, str(value), sample.position
        return 0, -number if descending else number, "", sample.position

    if query.worst is not None:
        samples = (sample for sample in samples if _value(sample, where) is not None)
    counts = [n for n in (query.worst, query.limit) if n is not None]
    # only what is shown is kept in memory
    yield from heapq.nsmallest(min(counts), samples, key=key) if counts else sorted(samples, key=key)


Where = tuple[str, str]
"""A scorer and a field of its scores; a column of the dataset under the name of no scorer."""


class _Fields:
    """The fields of a run's samples by their usual names: the field, `scorer/field`, or `sample/column`."""

    def __init__(self, store: Store, record: RunRecord) -> None:
        self._store = store
        self._record = record
        self._known: tuple[dict[str, Where], dict[str, Where]] | None = None

    def find(self, name: str) -> Where:
        """Return the one field that a name refers to; a field of a score takes precedence over a column."""
        scores, columns = self._read()
        matches = find_addresses(scores, name)
        addresses = scores if matches else {**scores, **columns}
        return addresses[one_address(addresses, name)]

    def main(self) -> str:
        """Return the field that rates a sample: that of the first scorer which has one."""
        scores, _ = self._read()
        for field in (CORRECT, SCORE):
            for address, (_, name) in scores.items():
                if name == field:
                    return address
        for scorer in self._record.spec.scorers:
            for field in scorer.ranges:
                if f"{scorer.key}/{field}" in scores:
                    return f"{scorer.key}/{field}"
        raise SpecError(f"run {self._record.id} has no score to sort by: name a field with --sort")

    def _read(self) -> tuple[dict[str, Where], dict[str, Where]]:
        if self._known is None:
            scores: dict[str, Where] = {}
            columns: dict[str, Where] = {}
            for sample in islice(read_samples(self._store, self._record), FIELDS_FROM):
                for key, score in sample.scores.items():
                    scores |= {f"{key}/{name}": (key, name) for name in (*score.values, *score.metadata)}
                columns |= {f"{COLUMN}/{name}": ("", name) for name in sample.sample}
            self._known = scores, columns
        return self._known


def _value(sample: Sample, where: Where) -> Any:
    key, name = where
    if not key:
        return sample.sample.get(name)
    score = sample.scores.get(key)
    return None if score is None else score.values.get(name, score.metadata.get(name))


def is_wrong(spec: RunSpec, sample: Sample) -> bool:
    """Return whether a scorer marked a sample incorrect, or graded it below the middle of the range."""
    return any(quality(spec, key, score.values) == "bad" for key, score in sample.scores.items())


def quality(spec: RunSpec, key: str, values: Mapping[str, Any]) -> Literal["good", "fair", "bad"] | None:
    """Return the quality of a score: right or wrong, or its position in its range; None if unknown."""
    correct = as_number(values.get(CORRECT))
    if correct is not None:
        return "good" if correct >= 1 else "bad" if correct <= 0 else "fair"
    scorer, grade = spec.scorer(key), as_number(values.get(SCORE))
    if scorer is None or grade is None or not (scorer.type == "rubric" or scorer.rubrics):
        return None
    low, high = scorer.ranges.get(SCORE, (0.0, 1.0))
    return "good" if grade >= high else "bad" if grade < (low + high) / 2 else "fair"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedSample:
    """A sample whose score changed between two runs, with its input and the answers of both; one answer per trial."""

    address: str
    letter: str
    against: str
    flip: Flip
    sample: Mapping[str, Any]
    answers_before: tuple[str | None, ...]
    answers_after: tuple[str | None, ...]


def worst_flips(store: Store, records: Sequence[RunRecord], compared: Comparison, most: int) -> list[FlippedSample]:
    """At most so many changed samples per comparison, the greatest losses first, read from the runs compared."""
    by_letter = dict(zip((run.letter for run in compared.runs), records, strict=True))
    flipped = []
    for result in compared.compared:
        for flip in result.flips.greatest_losses(most):
            sides = [
                list(read_samples(store, record, sample_id=flip.sample_id))
                for record in (by_letter[result.against], by_letter[result.letter])
            ]
            inputs = [side[0].sample for side in sides if side]
            flipped.append(
                FlippedSample(
                    address=result.address,
                    letter=result.letter,
                    against=result.against,
                    flip=flip,
                    sample=inputs[0] if inputs else {},
                    answers_before=tuple(sample.output for sample in sides[0]),
                    answers_after=tuple(sample.output for sample in sides[1]),
                )
            )
    return flipped

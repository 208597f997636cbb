"""Plain tables: answers with their scores, or votes of judges, in CSV or JSONL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from assay.engine.importing.values import Imported, ImportedSample, failed, key_of, wrong
from assay.engine.measures import as_number, number_in
from assay.engine.table_file import read_table
from assay.errors import SpecError
from assay.types import Outcome, Score, ScoreValue

ANSWERS, VOTES = "answers", "votes"
OUTPUTS = ("output", "answer", "response", "reply", "completion")
SCORES = ("score", "is_correct", "correct", "accuracy")
_VERDICTS = {"met": ("MET", 1.0), "unmet": ("UNMET", 0.0)}
_ABSTAINED = ("", "cannot_assess", "na", "n/a")


def read_answers(path: Path, *, output: str | None = None, scores: Sequence[str] = ()) -> Imported:
    """A row a sample: an answer, the numbers it was given, and whatever else belongs to the sample."""
    rows = read_table(path, [name for name in (output, *scores) if name is not None])
    if not rows:
        raise wrong(path, "the table has no rows")
    there = list(dict.fromkeys(name for row in rows for name in row))
    answer = output or next((name for name in OUTPUTS if name in there), None)
    given = list(scores) or [name for name in SCORES if name in there]
    if answer is None and not given:
        known = ", ".join(there)
        raise wrong(
            path, f"neither an answer nor a score among the columns {known}: name them with --output and --score"
        )
    fields = {name: _field([row.get(name) for row in rows]) for name in given}
    samples = [_answer(row, number, answer, fields) for number, row in enumerate(rows)]
    return Imported(format=ANSWERS, task=key_of(path.stem), model=None, samples=samples)


def _field(cells: Sequence[Any]) -> str:
    """What a column of scores holds: right or wrong, numbers, or labels."""
    numbers = [_cell(cell) for cell in cells if cell not in (None, "")]
    if None in numbers:
        return "label"
    return "is_correct" if set(numbers) <= {0.0, 1.0} else "value"


def _answer(row: Mapping[str, Any], number: int, answer: str | None, fields: Mapping[str, str]) -> ImportedSample:
    said = row.get(answer) if answer is not None else None
    kept = {name: value for name, value in row.items() if name not in (answer, *fields, "sample_id")}
    outcomes = {key_of(name): _scored(row.get(name), key_of(name), field) for name, field in fields.items()}
    missing = answer is not None and said is None and not any(isinstance(o, Score) for o in outcomes.values())
    return ImportedSample(
        sample_id=str(row.get("sample_id", number)),
        sample=kept,
        output=None if said is None else said if isinstance(said, str) else orjson.dumps(said).decode(),
        outcomes=outcomes,
        failure=failed(f'the row has no "{answer}"', "missing_field") if missing else None,
    )


def _scored(cell: Any, key: str, field: str) -> Outcome:
    """A cell as a score; an empty one is a failure, not a zero."""
    if cell in (None, ""):
        return failed("the cell is empty", "missing_field")
    number = _cell(cell)
    return Score(scorer=key, values={field: str(cell) if field == "label" or number is None else number})


def _cell(cell: Any) -> float | None:
    return number_in(cell) if isinstance(cell, str) else as_number(cell)


def read_votes(path: Path) -> Imported:
    """A row a vote: item, judge, label and, if wanted, criterion; the items become samples that a panel judged."""
    items: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for number, row in enumerate(read_table(path, ("item", "judge", "label")), start=1):
        item, judge, label = (_text(row.get(name)) for name in ("item", "judge", "label"))
        if not item or not judge:
            raise SpecError(f"{path}: row {number} has no item or no judge")
        votes = items.setdefault(item, {}).setdefault(_text(row.get("criterion")) or "label", [])
        if any(vote["judge_id"] == judge for vote in votes):
            raise SpecError(f'{path}: row {number}: a second vote of "{judge}" on item {item}')
        votes.append(_vote(judge, label))
    if not items:
        raise wrong(path, "the table has no votes")
    samples = [
        ImportedSample(sample_id=item, sample={"item": item}, outcomes={"rubric": _panel(criteria)})
        for item, criteria in items.items()
    ]
    return Imported(format=VOTES, task=key_of(path.stem), model=None, samples=samples)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _vote(judge: str, label: str) -> dict[str, Any]:
    verdict = _VERDICTS.get(label.casefold())
    if verdict is not None:
        return {"judge_id": judge, "verdict": verdict[0], "value": verdict[1]}
    if label.casefold() in _ABSTAINED:
        return {"judge_id": judge, "na": True}
    number = number_in(label)
    return {"judge_id": judge, "selected_label": label, **({} if number is None else {"value": number})}


def _panel(criteria: Mapping[str, list[dict[str, Any]]]) -> Outcome:
    """All votes on an item; votes that are numbers give each criterion its mean, and these the item its score."""
    means: dict[str, ScoreValue] = {}
    for name, votes in criteria.items():
        numbers = [vote["value"] for vote in votes if "value" in vote]
        if numbers and len(numbers) == sum("na" not in vote for vote in votes):
            means[name] = sum(numbers) / len(numbers)
    score: dict[str, ScoreValue] = {"score": sum(map(float, means.values())) / len(means)} if means else {}
    values = {**{name: mean for name, mean in means.items() if name != "score"}, **score}
    return Score(scorer="rubric", values=values, metadata={"votes": dict(criteria)})

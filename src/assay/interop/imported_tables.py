"""Plain tables: answers with their scores, or votes of judges, in CSV or JSONL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from assay.datasets.json_document import wrong
from assay.interop.imported_values import Imported, ImportedSample, failed, key_of
from assay.interop.numbers import as_number, number_in
from assay.interop.table_file import Refused, read_table, row_lines
from assay.spec.nearest import listing
from assay.types import Outcome, Score, ScoreValue

ANSWERS, VOTES = "answers", "votes"
OUTPUTS = ("output", "answer", "response", "reply", "completion")
SCORES = ("score", "is_correct", "correct", "accuracy")
_VERDICTS = {"met": ("MET", 1.0), "unmet": ("UNMET", 0.0)}
_ABSTAINED = ("", "cannot_assess", "na", "n/a")
_RIGHT = ("correct", "is_correct")
"""The columns whose words tell whether an answer is right."""
_WORDS = {
    **dict.fromkeys(("yes", "y", "true", "t", "right", "correct", "pass"), 1.0),
    **dict.fromkeys(("no", "n", "false", "f", "wrong", "incorrect", "fail"), 0.0),
}
LABEL = "label"
ODD_SHOWN = 5


def read_answers(path: Path, *, output: str | None = None, scores: Sequence[str] = ()) -> Imported:
    """Read one row per sample: an answer, its scores, and all other columns of the sample."""
    rows = read_table(path, [name for name in (output, *scores) if name is not None])
    if not rows:
        raise wrong(path, "the table has no rows")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    defaults = (
        next((name for name in OUTPUTS if name in columns), None),
        tuple(name for name in SCORES if name in columns),
    )
    answer, score_columns = output or defaults[0], tuple(scores) or defaults[1]
    if answer is None and not score_columns:
        names = ", ".join(columns)
        raise wrong(
            path, f"neither an answer nor a score among the columns {names}: name them with --output and --score"
        )
    fields = {name: _field(name, [row.get(name) for row in rows]) for name in score_columns}
    samples = [_answer(row, number, answer, fields) for number, row in enumerate(rows)]
    return Imported(
        format=ANSWERS,
        task=key_of(path.stem),
        model=None,
        samples=samples,
        notes=tuple(_odd_cells(path, rows, fields)),
        chosen=(None if answer == defaults[0] else answer, () if score_columns == defaults[1] else score_columns),
    )


def _field(name: str, cells: Sequence[Any]) -> str:
    """Determine the type of a score column from most of its cells: right or wrong, numbers, or labels."""
    numbers = [_cell(name, cell) for cell in cells if not _empty(cell)]
    distinct = {number for number in numbers if number is not None}
    if 2 * numbers.count(None) >= max(len(numbers), 1):
        return LABEL
    return "is_correct" if distinct <= {0.0, 1.0} else "value"


def _odd_cells(path: Path, rows: Sequence[Mapping[str, Any]], fields: Mapping[str, str]) -> Iterator[str]:
    """Note the cells in numeric columns that are not numbers."""
    for name, field in fields.items():
        odd = [
            place
            for place, row in enumerate(rows)
            if field != LABEL and not _empty(row.get(name)) and _cell(name, row[name]) is None
        ]
        if odd:
            lines = row_lines(path)
            examples = listing([f'line {lines[place]}: "{rows[place][name]}"' for place in odd], most=ODD_SHOWN)
            yield f'{len(odd):,} of {len(rows):,} cells of "{name}" are no number, so their samples failed ({examples})'


def _answer(row: Mapping[str, Any], number: int, answer: str | None, fields: Mapping[str, str]) -> ImportedSample:
    output = row.get(answer) if answer is not None else None
    sample = {name: value for name, value in row.items() if name not in (answer, *fields, "sample_id")}
    outcomes = {key_of(name): _scored(row.get(name), name, field) for name, field in fields.items()}
    missing = answer is not None and output is None and not any(isinstance(o, Score) for o in outcomes.values())
    return ImportedSample(
        sample_id=str(row.get("sample_id", number)),
        sample=sample,
        output=None if output is None else output if isinstance(output, str) else orjson.dumps(output).decode(),
        outcomes=outcomes,
        failure=failed(f'the row has no "{answer}"', "missing_field") if missing else None,
    )


def _scored(cell: Any, name: str, field: str) -> Outcome:
    """Convert a cell to a score; an empty or non-numeric cell in a numeric column is a failure, not a zero."""
    if _empty(cell):
        return failed("the cell is empty", "missing_field")
    if field == LABEL:
        return Score(scorer=key_of(name), values={LABEL: str(cell)})
    number = _cell(name, cell)
    if number is None:
        return failed(f'"{cell}" in the column "{name}" is not a number', "parse")
    return Score(scorer=key_of(name), values={field: number})


def _empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _cell(name: str, cell: Any) -> float | None:
    """Convert a cell to a number, directly or by its word in a column of right and wrong."""
    if not isinstance(cell, str):
        return as_number(cell)
    word = _WORDS.get(cell.strip().casefold()) if name.strip().casefold() in _RIGHT else None
    return number_in(cell) if word is None else word


def read_votes(path: Path) -> Imported:
    """Read one row per vote: item, judge, label and optionally criterion; items become samples of a panel."""
    items: dict[str, dict[str, list[dict[str, Any]]]] = {}
    refused = Refused(path)
    for number, row in enumerate(read_table(path, ("item", "judge", "label")), start=1):
        item, judge, label = (_text(row.get(name)) for name in ("item", "judge", "label"))
        if not item or not judge:
            refused.add(number, "there is no item or no judge")
            continue
        votes = items.setdefault(item, {}).setdefault(_text(row.get("criterion")) or LABEL, [])
        if any(vote["judge_id"] == judge for vote in votes):
            refused.add(number, f'a second vote of "{judge}" on item {item}')
        votes.append(_vote(judge, label))
    refused.check()
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
    """Combine all votes on an item; numeric votes give each criterion its mean, and these the item its score."""
    means: dict[str, ScoreValue] = {}
    for name, votes in criteria.items():
        numbers = [vote["value"] for vote in votes if "value" in vote]
        if numbers and len(numbers) == sum("na" not in vote for vote in votes):
            means[name] = sum(numbers) / len(numbers)
    score: dict[str, ScoreValue] = {"score": sum(map(float, means.values())) / len(means)} if means else {}
    values = {**{name: mean for name, mean in means.items() if name != "score"}, **score}
    return Score(scorer="rubric", values=values, metadata={"votes": dict(criteria)})

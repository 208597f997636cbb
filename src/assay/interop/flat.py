"""Samples as flat rows, one column per field, as tables and CSV files need them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson


def flat_rows(samples: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One flat row per sample: `sample.NAME`, `output`, `SCORER.FIELD`, and the failures in words.

    >>> entry = {"sample_id": "1", "trial": 0, "sample": {"q": "?"}, "output": "B",
    ...          "scores": {"s": {"values": {"is_correct": 1.0}, "metadata": {"seen": ["B"]}}}, "failures": []}
    >>> next(flat_rows([entry]))["s.seen"]
    '["B"]'
    """
    for entry in samples:
        row: dict[str, Any] = {"sample_id": entry["sample_id"], "trial": entry["trial"]}
        row |= {f"sample.{name}": _plain(value) for name, value in entry["sample"].items()}
        row["output"] = entry["output"]
        for key, score in entry["scores"].items():
            row |= {f"{key}.{name}": _plain(value) for name, value in score["metadata"].items()}
            row |= {f"{key}.{name}": _plain(value) for name, value in score["values"].items()}
        if "excluded_by" in entry:
            row["excluded_by"] = ", ".join(entry["excluded_by"])
        row["failures"] = "; ".join(_failure_text(failure) for failure in entry["failures"])
        yield row


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return orjson.dumps(value).decode()


def _failure_text(failure: Mapping[str, Any]) -> str:
    where = f"{failure['scorer']}: " if failure["scorer"] else ""
    return f"{where}{failure['kind']}: {failure['detail']}"

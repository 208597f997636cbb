"""Disagreements between the readers of multiple-choice replies, and the accuracy by each reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_HEAD = "the readers disagree: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The choice that each reader found in the reply to one sample."""

    sample_id: str
    ground_truth: str
    readers: Mapping[str, str | None]
    disputed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeReport:
    """The disputed samples, and the accuracy over all samples if one reader alone decided."""

    n: int
    disputed: tuple[str, ...]
    accuracy: Mapping[str, float]


def disputed_detail(ground_truth: str, readers: Mapping[str, str | None]) -> str:
    """Encode the readings of a disputed sample as the detail of its failure; `readings_of_failure` decodes it."""
    return _HEAD + orjson.dumps({"ground_truth": ground_truth, "readers": readers}).decode()


def readings_of_failure(sample_id: str, detail: str) -> Readings | None:
    """Decode the readings from a failure's detail; None for any other failure.

    >>> readings_of_failure("7", disputed_detail("B", {"first": "A", "statement": "B"})).readers
    {'first': 'A', 'statement': 'B'}
    """
    if not detail.startswith(_HEAD):
        return None
    stored = orjson.loads(detail.removeprefix(_HEAD))
    return Readings(sample_id=sample_id, ground_truth=stored["ground_truth"], readers=stored["readers"], disputed=True)


def readings_of_score(sample_id: str, metadata: Mapping[str, Any]) -> Readings | None:
    """The readings in a score's metadata, None for an extraction without readers."""
    if not metadata.get("readers"):
        return None
    truth = metadata["ground_truth_choice"]
    return Readings(sample_id=sample_id, ground_truth=truth, readers=metadata["readers"], disputed=False)


def dispute_report(readings: Iterable[Readings]) -> DisputeReport:
    """The accuracy under each reader; where a reader read nothing, the sample counts as wrong."""
    every = list(readings)
    names = dict.fromkeys(name for reading in every for name in reading.readers)
    return DisputeReport(
        n=len(every),
        disputed=tuple(reading.sample_id for reading in every if reading.disputed),
        accuracy={
            name: sum(reading.readers.get(name) == reading.ground_truth for reading in every) / len(every)
            for name in names
        },
    )

"""The common form in which every reader returns a foreign log: samples with answers, scores and failures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.spec.task import ScoreAggregator
from assay.types import Failure, FailureKind, Item, Outcome

STAGE = "import"
NO_SCORE = Failure(stage="score", kind="missing_field", detail="the imported file holds no score of this sample")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSample:
    """One sample or one trial; `failure` explains a missing answer, `outcomes` has each scorer's result."""

    sample_id: str
    sample: Mapping[str, Any]
    output: str | None = None
    trace: tuple[Item, ...] = ()
    trial: int = 0
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFigure:
    """A figure of the source's summary and its address in the imported run: `metric` of the scorer `scorer`.

    `of` says what of that metric it equals: its value, its sum over the samples, how many of them lack it (`rest`: the
    number less the sum), or the failures of the scorer. A figure without a metric is not imported; one with a `command`
    is computed by that command of assay.
    """

    name: str
    value: float
    scorer: str | None = None
    metric: str | None = None
    of: Literal["value", "sum", "rest", "failed"] = "value"
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A foreign result: `rubric` has the criteria of a panel, `partial` means that the source was not finished.

    `chosen` are the columns of answers and scores where they are others than those taken unless told. `aggregators`
    say how trials become one score, where that is not the mean. `figures` are those of the source's own summary, None
    where it has no summary; `deviations` names the fields of which the source also gives the standard deviation.
    """

    format: str
    task: str
    model: str | None
    samples: Sequence[ImportedSample]
    trials: int = 1
    rubric: Sequence[Mapping[str, Any]] | None = None
    partial: bool = False
    notes: tuple[str, ...] = ()
    chosen: tuple[str | None, tuple[str, ...]] = (None, ())
    aggregators: tuple[ScoreAggregator, ...] = ()
    figures: tuple[SourceFigure, ...] | None = None
    deviations: frozenset[tuple[str, str]] = frozenset()


def key_of(name: str) -> str:
    """Turn a name into a key of letters, digits, dashes and underscores.

    >>> key_of("my pkg/scorer v2")
    'my_pkg_scorer_v2'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "imported"


def failed(detail: str, kind: FailureKind | None = None) -> Failure:
    """Convert a failure of the source; its kind is derived from its message unless given."""
    reason = detail.strip() or "the source gives no reason"
    return Failure(stage=STAGE, kind=kind or _kind(reason.casefold()), detail=reason[:2_000])


def _kind(text: str) -> FailureKind:
    signs: dict[FailureKind, tuple[str, ...]] = {
        "timeout": ("timeout", "timed out", "time limit"),
        "http": ("rate limit", "429", "500", "503", "apistatus", "infrastructure"),
        "connection": ("connection", "network", "socket"),
        "refusal": ("refus", "content_filter", "content filter"),
        "parse": ("parse", "json", "decod"),
    }
    return next((kind for kind, words in signs.items() if any(word in text for word in words)), "code")

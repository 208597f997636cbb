"""The unit of a live run: one sample of one trial, and what came of it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import orjson

from assay.models.cache_key import canonical
from assay.models.client import Client
from assay.runner.scoring import Solved
from assay.spec import LoadedScorer, LoadedSolver
from assay.types import Failure, Outcome, Reply, Request, Rows, Sampling, Trace

_NOBODY = Trace(())
_SAMPLING = tuple(entry.name for entry in fields(Sampling))


# not frozen: one per model call
@dataclass(slots=True, kw_only=True)
class Cell:
    """One sample of one trial; `done` when an earlier process has finished it."""

    position: int
    trial: int
    sample_id: str
    sample: Mapping[str, Any]
    text: str
    done: bool = False


class Call(NamedTuple):
    """A call made by a cell: its key, whether it was paid for before, whether the answer was cut off."""

    key: bytes
    cached: bool
    cut: bool = False


@dataclass(slots=True)
class Answered:
    """A cell with all that came of it; of the rows that a postprocessor makes of a cell, one is the `first`."""

    cell: Cell
    calls: list[Call]
    answer: str | None = None
    trace: Trace = _NOBODY
    failure: Failure | None = None
    judged: dict[int, Outcome] = field(default_factory=dict)
    first: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The inputs of the engine: the task's parts, the models with their defaults by key, and the concurrency."""

    solver: LoadedSolver | None
    scorers: Sequence[LoadedScorer]
    clients: Mapping[str | None, Client]
    sampling: Mapping[str | None, Sampling | None]
    width: int
    reads_sample: frozenset[str | None] = frozenset()
    """The models that are functions and look at the sample."""


_WITHIN_BITS = 16
"""Fewer than 65,536 identical calls occur within one sample; the bits above distinguish samples."""
_TRIAL_BITS = 16
"""There are fewer than 65,536 trials; the bits above count how often a judge was asked before."""


class CountedOnly(Exception):
    """Ends a solver after its first question when calls are only counted."""


class Occurrences:
    """Numbers identical questions in sample order, so that each random answer has its own key."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}

    def number(self, request: Request) -> int:
        """Return the number of earlier identical questions; always 0 if the answer is not random."""
        if request.sampling.temperature == 0:
            return 0
        digest = hash(canonical(request))
        n = self._seen.get(digest, 0)
        self._seen[digest] = n + 1
        return n


class CellAsk:
    """One cell's access to the models: adds their defaults, its trial and occurrence, and records the calls."""

    def __init__(self, work: Work, occurrences: Occurrences, cell: Cell) -> None:
        self._work = work
        self._occurrences = occurrences
        self._occurrence: int | None = None
        self._cell = cell
        self._n_asked = 0
        self._answered: list[int] = []
        self.calls: list[Call] = []

    async def __call__(self, request: Request, model: str | None = None) -> Reply:
        default = self._work.sampling[model]
        repeat = self._cell.trial + (request.repeat << _TRIAL_BITS)
        if default is not None or repeat:
            request = replace(request, sampling=completed(request.sampling, default), repeat=repeat)
        if model in self._work.reads_sample:
            row = {"sample_id": self._cell.sample_id, **self._cell.sample}
            request = replace(request, sample=row)
        if self._occurrence is None:
            self._occurrence = self._occurrences.number(request)
        if self._cell.done:
            raise CountedOnly
        if self._occurrence:
            # a solver numbers the twins within one sample; here come those of other samples
            request = replace(request, occurrence=(self._occurrence << _WITHIN_BITS) + request.occurrence)
        number, self._n_asked = self._n_asked, self._n_asked + 1
        reply = await self._work.clients[model].ask(request)
        cut = reply.finish_reason == "length" and request.purpose == "answer"
        # judges are asked side by side: their calls are noted as they were asked, whoever answers first
        place = bisect(self._answered, number)
        self._answered.insert(place, number)
        self.calls.insert(place, Call(reply.key, reply.cached, cut))
        return reply


def completed(asked: Sampling, default: Sampling | None) -> Sampling:
    """Complete a request with the model's defaults where the task sets nothing.

    >>> completed(Sampling(temperature=0.0), Sampling(temperature=1.0, max_tokens=9)).max_tokens
    9
    """
    if default is None:
        return asked
    filled = {name: getattr(default, name) for name in _SAMPLING if getattr(asked, name) is None}
    return replace(asked, **filled)


def solved_batch(group: Sequence[Answered], slots: Sequence[int], *, has_solver: bool) -> Solved:
    """Answered cells as a batch, ready to be scored and committed; `slots` are those of the judges."""
    cells = [answered.cell for answered in group]
    nothing = Failure(stage="score", kind="abstained", detail="there is no answer to judge")
    return Solved(
        rows=Rows(
            positions=[cell.position for cell in cells],
            ids=[cell.sample_id for cell in cells],
            samples=[cell.sample for cell in cells],
            answers=[answered.answer or "" for answered in group] if has_solver else None,
            traces=[answered.trace for answered in group] if has_solver else None,
        ),
        inputs=[cell.text for cell in cells],
        trials=[cell.trial for cell in cells],
        calls=[_calls_text(answered.calls) for answered in group],
        failures={place: a.failure for place, a in enumerate(group) if a.failure is not None},
        judged={slot: [answered.judged.get(slot, nothing) for answered in group] for slot in slots},
    )


def _calls_text(calls: Sequence[Call]) -> str | None:
    if not calls:
        return None
    entries = ({"key": call.key.hex(), "cached": call.cached, **({"cut": True} if call.cut else {})} for call in calls)
    return orjson.dumps(list(entries)).decode()

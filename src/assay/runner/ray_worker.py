"""The code inside a Ray actor: it calls models and scores rows for the driver, and decides nothing.

Prices, limits, retries, the reply cache and the store stay with the driver. This module does not import Ray.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import AssayError
from assay.models.client import CallError
from assay.models.connect import connect
from assay.models.connection import Connection
from assay.prepare.permission import CodeOptions, permit_models, with_sandbox
from assay.runner.scoring import score_rows
from assay.spec import LoadedScorer, LoadedTask
from assay.spec.definitions import Definitions
from assay.types import Failure, Reply, Request, Rows, ScoreColumns
from assay.version import __version__

LINGER_S = 0.002
"""Replies that arrive so close together travel to the driver together: a message costs more than a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An actor's description of a run; `references` name the models that it connects to itself."""

    loaded: LoadedTask
    references: Sequence[Any]
    definitions: Definitions
    root: Path
    environment: Mapping[str, str] = field(repr=False)
    code: CodeOptions
    version: str = __version__
    python: tuple[int, int] = (sys.version_info[0], sys.version_info[1])


@dataclass(frozen=True, slots=True)
class Lapse:
    """A call that gave no reply, as it travels: a failure of the call, or an error that stops the run."""

    failure: Failure | None
    status: int | None = None
    retry_after_s: float | None = None
    fatal: str = ""


Outcome = Reply | Lapse


class Worker:
    """The state of one actor."""

    def __init__(self) -> None:
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._outcomes: list[tuple[int, Outcome]] = []
        self._ready = asyncio.Event()
        self._connections: list[Connection] = []
        self._scorers: Sequence[LoadedScorer] = ()
        self._stack = ExitStack()

    async def setup(self, payload: bytes) -> tuple[str, int]:
        """Connect to the models and prepare the scorers; returns an error, or an empty text, and the process id."""
        try:
            job: Job = pickle.loads(payload)  # noqa: S301 - from the driver, over Ray's own channel
            if job.version != __version__:
                return f"the actor runs assay {__version__}, the driver {job.version}", os.getpid()
            self._scorers = self._stack.enter_context(with_sandbox(job.loaded, job.code)).scorers
            for reference in job.references:
                connection = connect(reference, root=job.root, environment=job.environment, definitions=job.definitions)
                self._connections.append(connection)
            permit_models([], self._connections, job.code)
        except (AssayError, ImportError, AttributeError) as error:
            return str(error), os.getpid()
        return "", os.getpid()

    async def deliver(self, calls: Sequence[tuple[int, int, Request]]) -> None:
        """Accept calls, each with a number, the index of its model, and the request."""
        for number, model, request in calls:
            self._tasks[number] = asyncio.create_task(self._ask(number, model, request))

    async def _ask(self, number: int, model: int, request: Request) -> None:
        outcome: Outcome
        try:
            outcome = await self._connections[model].client.ask(request)
        except CallError as error:
            outcome = Lapse(error.failure, error.status, error.retry_after_s)
        except AssayError as error:
            outcome = Lapse(None, fatal=str(error))
        finally:
            self._tasks.pop(number, None)
        self._outcomes.append((number, outcome))
        self._ready.set()

    async def withdraw(self, numbers: Sequence[int]) -> None:
        """Cancel calls that nobody waits for any more."""
        for number in numbers:
            task = self._tasks.pop(number, None)
            if task is not None:
                task.cancel()

    async def poll(self) -> list[tuple[int, Outcome]]:
        """Wait for outcomes and return all that are ready."""
        await self._ready.wait()
        await asyncio.sleep(LINGER_S)
        self._ready.clear()
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    async def score(self, slots: Sequence[int], rows: Rows) -> Mapping[int, ScoreColumns]:
        """Score rows with the scorers in some slots."""
        return await asyncio.to_thread(score_rows, self._scorers, slots, rows)

    async def close(self) -> None:
        """Give back connections and sandboxes."""
        for connection in self._connections:
            await connection.close()
        self._stack.close()

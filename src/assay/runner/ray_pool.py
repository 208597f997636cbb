"""The driver's side of `--executor ray`: leases calls and rows to actors, and leases them again when an actor dies.

The driver keeps everything that decides: cache, prices, limits, retries, occurrences and the store. An actor gets a
call only after its key was found nowhere, its price was reserved and its model had a free slot. So a run on Ray asks,
pays and scores exactly what a local run does, and limits hold over all actors together.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any

from assay.errors import MissingExtra, RunError
from assay.models.client import CallError
from assay.runner.ray_worker import Job, Lapse, Outcome, Worker
from assay.types import Failure, Reply, Request, Rows, ScoreColumns

LEASES = 4
"""A call is leased so often before it counts as failed: an actor that dies of one call takes others along."""
REPLACEMENTS = 8
"""So many actors may die in a run before it stops."""
SMALLEST_LEASE = 200
"""Fewer rows are not split among actors: sending them costs more than scoring them."""
START_TIMEOUT_S = 120
CLOSE_TIMEOUT_S = 5
REACH_TIMEOUT_S = 10


class ActorLost(Exception):
    """The actor that worked on a call is gone."""


@dataclass(slots=True, eq=False)
class _Member:
    """An actor with what it works on."""

    actor: Any
    pid: int
    pending: dict[int, asyncio.Future[Outcome]] = field(default_factory=dict)
    outbox: list[tuple[int, int, Request]] = field(default_factory=list)
    withdrawn: list[int] = field(default_factory=list)
    wake: asyncio.Event = field(default_factory=asyncio.Event)


def import_ray() -> Any:
    """Import Ray with its usage statistics off; a MissingExtra without it."""
    # read when Ray is imported and when a cluster starts
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.cloudpickle
        import ray.exceptions
    except ImportError:
        raise MissingExtra("ray", "--executor ray") from None
    return ray


def keep_quiet(ray: Any) -> None:
    """Silence Ray's own messages; the pool reports what an actor's death means for the run."""
    # it announces its token authentication on every start
    logging.getLogger("ray").setLevel(logging.ERROR)
    # it prints messages of the cluster on stdout, where they would break `--json`, and has no setting for it
    worker = ray._private.worker
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


_LOCK = threading.Lock()
_USERS = 0
_IS_OURS = False


def _connect(ray: Any, actors: int) -> None:
    """Join the cluster at RAY_ADDRESS, or start one on this machine; several runs of one process share it."""
    global _USERS, _IS_OURS
    with _LOCK:
        if not ray.is_initialized():
            keep_quiet(ray)
            address = os.environ.get("RAY_ADDRESS")
            if address:
                _refuse_unreachable(address)
            options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
            if not address:
                options |= {"num_cpus": max(actors, os.cpu_count() or 1), "include_dashboard": False}
            try:
                with _own_signals():
                    ray.init(**options)
            # a boundary to foreign code: Ray raises errors of many kinds, and all mean the same here
            except Exception as error:
                place = f"the Ray cluster at {address}" if address else "a Ray cluster on this machine"
                line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
                raise RunError(f"{place} cannot be used: {line.strip()}") from error
            _IS_OURS = True
        _USERS += 1


def _refuse_unreachable(address: str) -> None:
    """Raise a RunError if nothing listens at the address of a cluster; Ray itself would retry for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        # "auto" and "local" are not addresses
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_TIMEOUT_S).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunError(f"the Ray cluster at {address} cannot be used: {reason}; check RAY_ADDRESS") from error


def _disconnect(ray: Any) -> None:
    global _USERS, _IS_OURS
    with _LOCK:
        _USERS -= 1
        if _USERS == 0 and _IS_OURS:
            _IS_OURS = False
            ray.shutdown()


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep our signal handlers: Ray's handler for SIGTERM would end the process without draining."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Pool:
    """The actors of one run."""

    def __init__(self, job: Job, *, actors: int, resources: Mapping[str, float]) -> None:
        self._ray = import_ray()
        self._n = actors
        self._payload: bytes = self._ray.cloudpickle.dumps(job)
        options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, **resources}
        self._options = options
        self._members: list[_Member] = []
        self._starting = 0
        self._deaths = 0
        self._numbers = count()
        self._loops: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._scorer = 0
        self._closed = False

    def start(self) -> None:
        """Start the actors and wait until they are ready."""
        _connect(self._ray, self._n)
        try:
            self._members = self._new_members(self._n)
        except BaseException:
            _disconnect(self._ray)
            raise

    @property
    def pids(self) -> list[int]:
        """The processes of the actors that live."""
        return [member.pid for member in self._members]

    def _new_members(self, n: int) -> list[_Member]:
        remote = self._ray.remote(Worker)
        actors = [remote.options(**self._options).remote() for _ in range(n)]
        try:
            answers = self._ray.get([actor.setup.remote(self._payload) for actor in actors], timeout=START_TIMEOUT_S)
        except self._ray.exceptions.GetTimeoutError as error:
            needed, free = _words(self._options), _words(self._ray.available_resources())
            raise RunError(
                f"the Ray cluster did not start {n} actors within {START_TIMEOUT_S} s; each needs {needed}, "
                f"and free are {free}: use fewer --actors or a larger cluster"
            ) from error
        except self._ray.exceptions.RayError as error:
            line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise RunError(f"a Ray actor could not start: {line.strip()}") from error
        for words, _ in answers:
            if words:
                raise RunError(f"a Ray actor could not start: {words}")
        return [_Member(actor, pid) for actor, (_, pid) in zip(actors, answers, strict=True)]

    # -- asking ------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start to exchange messages with the actors, in the running event loop."""
        for member in self._members:
            self._attend(member)

    def _attend(self, member: _Member) -> None:
        for work in (self._send(member), self._receive(member)):
            task = asyncio.get_running_loop().create_task(work)
            self._loops.add(task)
            task.add_done_callback(self._loops.discard)

    async def ask(self, model: int, request: Request) -> Reply:
        """Lease a call to the least busy actor, and to another one if that actor dies."""
        for _ in range(LEASES):
            member = await self._least_busy()
            number = next(self._numbers)
            future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
            member.pending[number] = future
            member.outbox.append((number, model, request))
            member.wake.set()
            try:
                outcome = await future
            except ActorLost:
                continue
            except asyncio.CancelledError:
                member.pending.pop(number, None)
                member.withdrawn.append(number)
                member.wake.set()
                raise
            if not isinstance(outcome, Lapse):
                return outcome
            if outcome.failure is None:
                raise RunError(outcome.fatal)
            raise CallError(outcome.failure, status=outcome.status, retry_after_s=outcome.retry_after_s)
        detail = f"{LEASES} Ray actors died while they worked on this call"
        raise CallError(Failure(stage="solve", kind="connection", detail=detail, retryable=True))

    async def _least_busy(self) -> _Member:
        while not self._members:
            if self._starting == 0:
                raise RunError(f"{self._deaths} Ray actors died: what was answered is kept; look into Ray's logs")
            self._changed.clear()
            await self._changed.wait()
        return min(self._members, key=lambda member: len(member.pending))

    async def _send(self, member: _Member) -> None:
        while True:
            await member.wake.wait()
            member.wake.clear()
            # what gathers while a message is under way goes into the next one
            calls, member.outbox = member.outbox, []
            withdrawn, member.withdrawn = member.withdrawn, []
            try:
                if calls:
                    await member.actor.deliver.remote(calls)
                if withdrawn:
                    await member.actor.withdraw.remote(withdrawn)
            except self._ray.exceptions.RayError:
                self._lose(member)
                return

    async def _receive(self, member: _Member) -> None:
        while True:
            try:
                outcomes = await member.actor.poll.remote()
            except self._ray.exceptions.RayError:
                self._lose(member)
                return
            for number, outcome in outcomes:
                future = member.pending.pop(number, None)
                if future is not None and not future.done():
                    future.set_result(outcome)

    def _lose(self, member: _Member) -> None:
        """Give up on an actor: its calls go to others, and a new actor replaces it."""
        if member not in self._members or self._closed:
            return
        self._members.remove(member)
        # one that only cannot be reached must not ask on
        self._ray.kill(member.actor)
        self._deaths += 1
        print(f"a Ray actor died; its {len(member.pending):,} calls go to another one", file=sys.stderr)
        if self._deaths <= REPLACEMENTS:
            self._starting += 1
            task = asyncio.get_running_loop().create_task(self._replace())
            self._loops.add(task)
            task.add_done_callback(self._loops.discard)
        for future in member.pending.values():
            if not future.done():
                future.set_exception(ActorLost())
        self._changed.set()

    async def _replace(self) -> None:
        try:
            with suppress(RunError):
                (member,) = await asyncio.to_thread(self._new_members, 1)
                self._members.append(member)
                self._attend(member)
        finally:
            self._starting -= 1
            self._changed.set()

    # -- scoring -----------------------------------------------------------------------------------------------------

    def score(self, slots: Sequence[int], rows: Rows) -> Mapping[int, ScoreColumns]:
        """Score rows on the actors, split evenly; called from a thread, not from the event loop."""
        n = len(rows)
        if not slots or n == 0:
            return {}
        n_parts = max(1, min(len(self._members), n // SMALLEST_LEASE))
        cuts = [n * part // n_parts for part in range(n_parts + 1)]
        spans = [range(low, high) for low, high in pairwise(cuts)]
        refs = [self._score_somewhere(slots, rows.pick(list(span))) for span in spans]
        parts = [self._scored(ref, slots, rows, span) for ref, span in zip(refs, spans, strict=True)]
        return {slot: _joined([part[slot] for part in parts], spans) for slot in slots}

    def _score_somewhere(self, slots: Sequence[int], rows: Rows) -> Any:
        members = list(self._members)
        if not members:
            raise RunError(f"{self._deaths} Ray actors died: what was answered is kept; look into Ray's logs")
        self._scorer += 1
        return members[self._scorer % len(members)].actor.score.remote(slots, rows)

    def _scored(self, ref: Any, slots: Sequence[int], rows: Rows, span: range) -> Mapping[int, ScoreColumns]:
        for _ in range(LEASES):
            try:
                scored: Mapping[int, ScoreColumns] = self._ray.get(ref)
                return scored
            except self._ray.exceptions.RayActorError:
                # scoring asks nobody and pays nothing: doing it again is safe
                self._discard_dead()
                ref = self._score_somewhere(slots, rows.pick(list(span)))
        raise RunError(f"{LEASES} Ray actors died while they scored: what was answered is kept")

    def _discard_dead(self) -> None:
        """Remove dead actors; without an event loop only whoever waits for one notices its death."""
        if self._loops:
            return
        alive = []
        for member in self._members:
            try:
                self._ray.get(member.actor.withdraw.remote([]), timeout=START_TIMEOUT_S)
                alive.append(member)
            except self._ray.exceptions.RayError:
                self._deaths += 1
        self._members = alive
        if not alive and self._deaths <= REPLACEMENTS:
            self._members = self._new_members(1)

    # -- end ---------------------------------------------------------------------------------------------------------

    async def stop_exchange(self) -> None:
        """End the exchange of messages."""
        self._closed = True
        loops = list(self._loops)
        for task in loops:
            task.cancel()
        await asyncio.gather(*loops, return_exceptions=True)

    def close(self) -> None:
        """Let the actors return what they hold, and end them."""
        self._closed = True
        with suppress(self._ray.exceptions.RayError):
            closing = [member.actor.close.remote() for member in self._members]
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_TIMEOUT_S) if closing else None
        for member in self._members:
            self._ray.kill(member.actor)
        _disconnect(self._ray)


class LeasedClient:
    """A model as the driver asks it: the request travels to an actor, which has the connection."""

    def __init__(self, pool: Pool, place: int, local: Any) -> None:
        self.name: str = local.name
        self.codes = getattr(local, "codes", ())
        self.reads_sample = getattr(local, "reads_sample", False)
        self.secrets = getattr(local, "secrets", ())
        self._pool = pool
        self._place = place

    async def ask(self, request: Request) -> Reply:
        return await self._pool.ask(self._place, request)


def _joined(parts: Sequence[ScoreColumns], spans: Sequence[range]) -> ScoreColumns:
    """The scores of consecutive rows as columns of all rows; a value that a part lacks is None."""
    if len(parts) == 1:
        return parts[0]
    values: dict[str, list[Any]] = {}
    metadata: dict[str, list[Any]] = {}
    for columns, whole in ((values, "values"), (metadata, "metadata")):
        for name in dict.fromkeys(name for part in parts for name in getattr(part, whole)):
            columns[name] = []
            for part, span in zip(parts, spans, strict=True):
                columns[name] += getattr(part, whole).get(name, [None] * len(span))
    return ScoreColumns(
        values=values,
        metadata=metadata,
        failures={
            span.start + place: failure
            for part, span in zip(parts, spans, strict=True)
            for place, failure in part.failures.items()
        },
        unsettled=frozenset(
            span.start + place for part, span in zip(parts, spans, strict=True) for place in part.unsettled
        ),
    )


def _words(resources: Mapping[str, Any]) -> str:
    names = {"num_cpus": "CPU", "num_gpus": "GPU", "CPU": "CPU", "GPU": "GPU"}
    return ", ".join(f"{resources[name]:g} {word}" for name, word in names.items() if resources.get(name)) or "nothing"

"""The parent's side of conversations: many at once in a few workers, with every question answered here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import orjson

from assay.sandbox.conversation_worker import STEP
from assay.sandbox.frames import FrameError, framed
from assay.sandbox.process import Channel, result_of
from assay.sandbox.program import CallFailed, Result

TICK_S = 0.1
MOST_RESTARTS = 3
Answer = Callable[[list[Any]], Awaitable[Any]]
"""The reply to a list of items, as plain data."""


class _WorkerGone(Exception):
    """The worker was lost during this conversation; `blamed` if another conversation caused it."""

    def __init__(self, detail: str, *, blamed: bool) -> None:
        super().__init__(detail)
        self.blamed = blamed


class _Held:
    """A conversation in a worker; `silent_s` is how long its code has had the word."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.asking: set[asyncio.Task[None]] = set()
        self.silent_s = 0.0

    def fail(self, error: BaseException) -> None:
        if not self.result.done():
            self.result.set_exception(error)


class ConversationHost:
    """A worker that runs conversations, on the event loop of the run."""

    def __init__(self, worker: Channel, most_s: float) -> None:
        self._worker = worker
        self._most_s = most_s
        self._loop = asyncio.get_running_loop()
        self._held: dict[int, _Held] = {}
        self._next = 1
        self._rest = b""
        self.lost = False
        self.tainted = False
        self._loop.add_reader(worker.origin, self._readable)
        self._ticking = self._loop.create_task(self._watch())

    @property
    def load(self) -> int:
        """Return the number of running conversations."""
        return len(self._held)

    async def converse(self, row: Any, answer: Answer) -> Result:
        """Run one conversation to its end; an exception from answering ends it and is raised."""
        number, held = self._next, _Held(answer)
        self._next += 1
        self._held[number] = held
        self._send({"start": number, "row": row})
        try:
            return await held.result
        except _WorkerGone:
            # what was asked is paid for: the answers are remembered when it is asked again
            await asyncio.gather(*held.asking, return_exceptions=True)
            raise
        finally:
            if self._held.pop(number, None) is not None and not self.lost:
                self._send({"cancel": number})
            for task in held.asking:
                task.cancel()
            if self.tainted and not self._held and not self.lost:
                self.end()

    def end(self) -> None:
        """End the worker and all its conversations."""
        self.lost = True
        self._ticking.cancel()
        if not self._loop.is_closed():
            self._loop.remove_writer(self._worker.to)
            self._loop.remove_reader(self._worker.origin)
        self._worker.end()

    def _send(self, message: Any) -> None:
        idle = not self._rest
        self._rest += framed(orjson.dumps(message, default=str, option=orjson.OPT_NON_STR_KEYS))
        if idle:
            self._loop.add_writer(self._worker.to, self._writable)

    def _writable(self) -> None:
        try:
            self._rest = bytes(self._worker.write(memoryview(self._rest)))
        except FrameError as error:
            self._gone(str(error))
            return
        if not self._rest:
            self._loop.remove_writer(self._worker.to)

    def _readable(self) -> None:
        try:
            for message in self._worker.read():
                self._received(message)
        except FrameError as error:
            self._gone(str(error))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            self._gone("the worker sent an invalid result")

    def _received(self, message: Any) -> None:
        if "ask" in message:
            held = self._held.get(message["ask"])
            if held is not None:
                asking = self._ask(message["ask"], held, message["number"], list(message["items"]))
                task = self._loop.create_task(asking)
                held.asking.add(task)
                task.add_done_callback(held.asking.discard)
            return
        result = result_of(message["result"])
        held = self._held.pop(message["end"], None)
        if held is not None and not held.result.done():
            held.result.set_result(result)

    async def _ask(self, number: int, held: _Held, question: int, items: list[Any]) -> None:
        try:
            reply = await held.answer(items)
        # whoever began the conversation gets what answering raised, a spent budget as well as a refused call
        except Exception as error:
            held.fail(error)
            return
        held.silent_s = 0.0
        if number in self._held and not self.lost:
            self._send({"answer": number, "number": question, "reply": reply})

    async def _watch(self) -> None:
        """Count the time that each conversation's code takes; answering does not count, nor does waiting for others."""
        while True:
            await asyncio.sleep(TICK_S)
            running = STEP.unpack_from(self._worker.board)[0]
            current = self._held.get(running)
            # the board is a hint that code can write: time that it lays at no door of ours counts for everyone
            if current is None or current.asking:
                running = 0
            for number, held in list(self._held.items()):
                if held.asking or running not in (0, number):
                    continue
                held.silent_s += TICK_S
                if held.silent_s <= self._most_s:
                    continue
                detail = f"took longer than {self._most_s:g} s"
                if running == number:
                    self._gone(detail)
                    return
                held.result.set_result(CallFailed(detail))
                # a thread cannot be ended: the process goes when the others in it are done
                self.tainted = True

    def _gone(self, detail: str) -> None:
        """The worker is lost: the conversation whose code was running is to blame, the others begin again."""
        if self.lost:
            return
        running = STEP.unpack_from(self._worker.board)[0]
        self.end()
        held, self._held = self._held, {}
        # with several held and none of them running nobody can be blamed: all begin again
        culprit = running if running in held else next(iter(held)) if len(held) == 1 else None
        for number, conversation in held.items():
            if number == culprit and not conversation.result.done():
                conversation.result.set_result(CallFailed(detail))
            else:
                conversation.fail(_WorkerGone(detail, blamed=culprit is not None))


class IsolatedConversations:
    """Conversations that each have their own process."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, Channel | CallFailed]], *, most_s: float) -> None:
        self._start = start
        self._most_s = most_s
        self._hosts: set[ConversationHost] = set()

    async def converse(self, row: Any, answer: Answer) -> Result:
        """One conversation to its end, in a process that ends with it."""
        worker = await self._start()
        if isinstance(worker, CallFailed):
            return worker
        host = ConversationHost(worker, self._most_s)
        self._hosts.add(host)
        try:
            return await host.converse(row, answer)
        finally:
            self._hosts.discard(host)
            if not host.lost:
                host.end()

    def end(self) -> None:
        """End every process."""
        for host in self._hosts:
            if not host.lost:
                host.end()


class ConversationHosts:
    """The workers of one program, a few at most; a conversation goes where the fewest are."""

    def __init__(
        self, start: Callable[[], Coroutine[Any, Any, Channel | CallFailed]], *, most_s: float, width: int
    ) -> None:
        self._start = start
        self._most_s = most_s
        self._width = width
        self._hosts: list[ConversationHost] = []
        self._leaving: list[ConversationHost] = []
        self._starting = asyncio.Lock()

    async def converse(self, row: Any, answer: Answer) -> Result:
        """Run one conversation to its end, restarting it if another one crashed its worker."""
        lost = 0
        while True:
            host = await self._free()
            if isinstance(host, CallFailed):
                return host
            try:
                return await host.converse(row, answer)
            except _WorkerGone as gone:
                lost += not gone.blamed
                if lost == MOST_RESTARTS:
                    return CallFailed(f"{gone}\n  (its process was lost {lost} times)")

    async def _free(self) -> ConversationHost | CallFailed:
        """Return the least busy worker; start another if all are busy and there is room."""
        self._forget()
        least = min(self._hosts, key=lambda host: host.load, default=None)
        if least is not None and (least.load == 0 or len(self._hosts) >= self._width or self._starting.locked()):
            return least
        async with self._starting:
            self._forget()
            if len(self._hosts) >= self._width:
                return min(self._hosts, key=lambda host: host.load)
            worker = await self._start()
            if isinstance(worker, CallFailed):
                return worker
            self._hosts.append(ConversationHost(worker, self._most_s))
            return self._hosts[-1]

    def _forget(self) -> None:
        """No more conversations for workers that are lost or about to go."""
        self._leaving = [host for host in (*self._leaving, *self._hosts) if host.tainted and not host.lost]
        self._hosts = [host for host in self._hosts if not host.lost and not host.tainted]

    def end(self) -> None:
        """End every worker."""
        for host in (*self._hosts, *self._leaving):
            if not host.lost:
                host.end()

"""Many conversations in one worker: coroutines of the user's that ask a model through the parent.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import io
import json
import os
import struct
import sys
from collections.abc import Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

from assay.sandbox.frames import HEAD_BYTES, length_in, write_message
from assay.sandbox.shims import ModelResponse, RawSample, SolverOutput, SolverTrace, item
from assay.sandbox.snippet import LoadedSnippet, Printed, encode, encoded, told

STEP = struct.Struct("<iI")
"""The content of the status board: the conversation whose code is running (0 for none), and a step counter."""

MOST_THREADS = 32
"""Calls of a function that is no coroutine, at the same time in one process."""


class Conversation:
    """One call of the user's function, its prints, and the answers it waits for."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.printed = Printed()
        self.waiting: dict[int, asyncio.Future[Any]] = {}
        self.asked = 0
        self.last: list[Any] = []


_CURRENT: ContextVar[Conversation | None] = ContextVar("conversation", default=None)


class Model:
    """The model interface of the user's function:

    each question goes to the parent, which has limits, prices and the cache.
    """

    def __init__(self, conversation: Conversation, outgoing: int) -> None:
        self._conversation = conversation
        self._outgoing = outgoing

    async def predict(self, items: Any) -> ModelResponse:
        """The model's answer to a conversation: message objects, mappings, or the text of a user."""
        if isinstance(items, SolverTrace):
            items = items.items
        items = [item(entry) for entry in ([items] if isinstance(items, str | dict) else items)]
        talk = self._conversation
        talk.asked += 1
        number = talk.asked
        answer = talk.waiting[number] = asyncio.get_running_loop().create_future()
        question = f'{{"ask":{talk.number},"number":{number},"items":{encode(items)}}}'
        write_message(self._outgoing, question.encode())
        reply = await answer
        talk.last = [*items, *reply["items"]]
        return ModelResponse(reply["text"], reply["items"], reply["raw_output"])


class Stepped(Coroutine[Any, Any, Any]):
    """A coroutine that shows on the board while it runs: a hang can be laid at the right door."""

    def __init__(self, inner: Coroutine[Any, Any, Any], number: int, board: Any) -> None:
        self._inner = inner
        self._number = number
        self._board = board

    def _stepping(self, step: Any, *arguments: Any) -> Any:
        count = STEP.unpack_from(self._board)[1]
        STEP.pack_into(self._board, 0, self._number, (count + 1) & 0xFFFFFFFF)
        try:
            return step(*arguments)
        finally:
            STEP.pack_into(self._board, 0, 0, (count + 1) & 0xFFFFFFFF)

    def send(self, value: Any) -> Any:
        return self._stepping(self._inner.send, value)

    def throw(self, *arguments: Any) -> Any:
        return self._stepping(self._inner.throw, *arguments)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()


class Routed(io.TextIOBase):
    """Prints go to the conversation that printed them."""

    def __init__(self, otherwise: Printed) -> None:
        self._otherwise = otherwise

    def write(self, text: str) -> int:
        talk = _CURRENT.get()
        return (self._otherwise if talk is None else talk.printed).write(text)

    def writable(self) -> bool:
        return True


def converse(snippet: LoadedSnippet, board: Any, incoming: int, outgoing: int) -> None:
    """Hold conversations until the pipe is closed."""
    sys.stdout = sys.stderr = Routed(Printed())
    asyncio.run(_Talks(snippet, board, incoming, outgoing).run())


class _Talks:
    def __init__(self, snippet: LoadedSnippet, board: Any, incoming: int, outgoing: int) -> None:
        self._snippet = snippet
        self._board = board
        self._incoming = incoming
        self._outgoing = outgoing
        self._buffer = bytearray()
        self._held: dict[int, tuple[Conversation, asyncio.Task[None]]] = {}
        self._threads = ThreadPoolExecutor(MOST_THREADS)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(self._task)
        self._closed = loop.create_future()
        os.set_blocking(self._incoming, False)
        loop.add_reader(self._incoming, self._readable)
        await self._closed

    def _task(self, loop: Any, inner: Any, context: Any = None) -> asyncio.Task[Any]:
        talk = _CURRENT.get() if context is None else context.get(_CURRENT)
        if talk is not None and asyncio.iscoroutine(inner):
            inner = Stepped(inner, talk.number, self._board)
        return asyncio.Task(inner, loop=loop, context=context)

    def _readable(self) -> None:
        try:
            data = os.read(self._incoming, 1 << 20)
        except BlockingIOError:
            return
        if not data:
            self._closed.set_result(None)
            return
        self._buffer += data
        while len(self._buffer) >= HEAD_BYTES:
            end = HEAD_BYTES + length_in(self._buffer)
            if len(self._buffer) < end:
                break
            message = json.loads(bytes(self._buffer[HEAD_BYTES:end]))
            del self._buffer[:end]
            self._received(message)

    def _received(self, message: Any) -> None:
        if "start" in message:
            self._start(message["start"], message["row"])
            return
        held = self._held.get(message.get("answer", message.get("cancel")))
        if held is None:
            return
        talk, task = held
        if "cancel" in message:
            self._held.pop(talk.number)
            task.cancel()
            return
        waiting = talk.waiting.pop(message["number"], None)
        if waiting is not None and not waiting.done():
            waiting.set_result(message["reply"])

    def _start(self, number: int, row: Any) -> None:
        talk = Conversation(number)
        token = _CURRENT.set(talk)
        try:
            self._held[number] = (talk, asyncio.get_running_loop().create_task(self._hold(talk, row)))
        finally:
            _CURRENT.reset(token)

    async def _hold(self, talk: Conversation, row: Any) -> None:
        try:
            outcome = await (self._inferred(row) if self._snippet.shape == "inference" else self._solved(talk, row))
            message = told(talk.printed, result=encoded(outcome, talk.printed))
        except asyncio.CancelledError:
            if talk.number not in self._held:
                raise
            message = told(talk.printed, error="the conversation cancelled itself")
        # the boundary between the user's code and ours: all that it raises is a failure of its sample
        except BaseException as error:
            message = told(talk.printed, error=self._snippet.described(error))
        self._held.pop(talk.number, None)
        write_message(self._outgoing, f'{{"end":{talk.number},"result":{message}}}'.encode())

    async def _solved(self, talk: Conversation, row: Any) -> Any:
        """Let the function lead a conversation."""
        sample, _ = self._snippet.arguments(row)
        trace = SolverTrace()
        returned = await self._snippet.call(sample, Model(talk, self._outgoing), trace)
        return _outcome(returned, trace, talk)

    async def _inferred(self, row: Any) -> Any:
        """Call the user's function; one that is not a coroutine waits in its own thread."""
        body, environment, sample = row
        row = [body, environment, None if sample is None else RawSample(sample)]
        if self._snippet.is_async:
            return await self._snippet.call(*row)
        context = contextvars.copy_context()
        run = functools.partial(context.run, self._snippet.call, *row)
        return await asyncio.get_running_loop().run_in_executor(self._threads, run)


def _outcome(returned: Any, trace: SolverTrace, talk: Conversation) -> dict[str, Any]:
    """Return a solver's result: its answer, else the last reply of the conversation it kept."""
    output = None
    if isinstance(returned, SolverTrace):
        trace = returned
    elif isinstance(returned, SolverOutput):
        output = None if returned.output is None else str(returned.output)
        trace = returned.trace if returned.has_trace else trace
    elif isinstance(returned, ModelResponse):
        output = returned.text
    elif isinstance(returned, str):
        output = str(returned)
    elif isinstance(returned, dict) and returned.keys() <= {"output", "trace"}:
        return _outcome(SolverOutput(returned.get("output"), returned.get("trace")), trace, talk)
    elif returned is not None:
        raise TypeError(
            f"run_solver gave a value of type {type(returned).__name__}: expected text, SolverOutput or nothing"
        )
    return {"output": output, "trace": trace.items or talk.last}

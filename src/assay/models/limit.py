"""No more at once, and no faster, than the endpoint takes: a client that waits for its turn."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from assay.models import logs
from assay.models.client import HOPELESS_AFTER, REJECTED, CallError, Client
from assay.types import Reply, Request, Usage

CAUTIOUS = 10
"""The number of concurrent calls before the first one has succeeded."""
HALVE_EVERY_S = 1.0
"""Refusals that come within this time belong to one overload: the limit is halved once."""
REPLY_TOKENS = 4_096
"""The assumed length of a reply in tokens if the task sets no max_tokens."""
BYTES_A_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of an endpoint: concurrent calls, requests per minute, tokens per minute.

    `declared` says that `concurrent` was asked for, so that nothing may raise it.
    """

    concurrent: int = 100
    declared: bool = False
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


NO_LIMITS = Limits()
"""The default limits: only the number of concurrent calls."""


class Pace:
    """A token bucket that refills evenly over a minute and holds at least one second's worth.

    So no minute sees more than the limit and what one second brings. Who takes from an empty one waits; who wants
    more than it holds goes when it is full, and those after wait longer.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._room = max(self._rate, 1.0)
        self._level = self._room
        self._clock = clock
        self._seen = clock()

    def take(self, amount: float) -> float:
        """Take an amount now, on credit if need be; the answer is how long to wait before using it."""
        moment = self._clock()
        self._level = min(self._room, self._level + (moment - self._seen) * self._rate)
        self._seen = moment
        # more than the bucket holds goes when it is full, and leaves a debt that later takers wait for
        wait_s = max(0.0, (min(amount, self._room) - self._level) / self._rate)
        self._level -= amount
        return wait_s

    def give_back(self, amount: float) -> None:
        """Correct an earlier guess."""
        self._level += amount


class Limited:
    """A client that keeps to its limits; starts with care, halves on refusals, and climbs again one by one."""

    def __init__(self, client: Client, limits: Limits, *, proven: bool = False) -> None:
        self.name = client.name
        self._client = client
        self.full = limits.concurrent
        self._allowed = min(CAUTIOUS, limits.concurrent)
        self._proven = False
        self._answered_before = proven
        self._rejected = 0
        self._closed: CallError | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._halved_at = -HALVE_EVERY_S
        self._requests = Pace(limits.requests_per_minute) if limits.requests_per_minute else None
        self._tokens = Pace(limits.tokens_per_minute) if limits.tokens_per_minute else None
        self._paced = self._requests is not None or self._tokens is not None
        self.in_flight = 0

    @property
    def allowed(self) -> int:
        """Return how many calls may currently be in flight."""
        return self._allowed

    async def ask(self, request: Request) -> Reply:
        await self._enter()
        try:
            guess = await self._keep_pace(request) if self._paced else 0.0
            reply = await self._client.ask(request)
        except CallError as error:
            # 429 means too fast, so the pace drops; the rejections mean never, so the gate may close
            if error.status == 429:
                self._halve()
            elif error.status in REJECTED:
                self._count_rejection(error)
            raise
        else:
            self._succeeded()
            if self._tokens is not None:
                self._tokens.give_back(guess - reply.usage.prompt_tokens - reply.usage.completion_tokens)
            return reply
        finally:
            self._leave()

    async def _keep_pace(self, request: Request) -> float:
        wait_s, guess = 0.0, 0.0
        if self._requests is not None:
            wait_s = self._requests.take(1)
        if self._tokens is not None:
            guess = estimate_tokens(request)
            # one sleep for both limits: two in a row would wait longer than either asks for
            wait_s = max(wait_s, self._tokens.take(guess))
        if wait_s > 0:
            logs.event(logs.DEBUG, "rate limit", model=self.name, wait_s=round(wait_s, 3))
            try:
                await asyncio.sleep(wait_s)
            except asyncio.CancelledError:
                # a call that was never made used nothing
                if self._requests is not None:
                    self._requests.give_back(1)
                if self._tokens is not None:
                    self._tokens.give_back(guess)
                raise
        return guess

    def _count_rejection(self, error: CallError) -> None:
        """Reject waiting and later calls after every call was rejected, so that they need not find out."""
        self._rejected += 1
        answered = self._proven or self._answered_before
        if error.status == 401 or not answered or self._rejected >= HOPELESS_AFTER:
            self._closed = error
            self._allowed = 0
            for turn in self._waiting:
                if not turn.done():
                    turn.set_exception(_same(error))
            self._waiting.clear()

    async def _enter(self) -> None:
        if self._closed is not None:
            raise _same(self._closed)
        # nobody overtakes a call that already waits
        if self.in_flight < self._allowed and not self._waiting:
            self.in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # the turn was granted as the call was cancelled: pass it on, or its slot is lost for good
                if turn.exception() is None:
                    self._leave()
            else:
                # an admission in the same moment may have taken it out already
                with contextlib.suppress(ValueError):
                    self._waiting.remove(turn)
            raise

    def _leave(self) -> None:
        self.in_flight -= 1
        # the limit may have been raised meanwhile: one that leaves can let in several
        while self._waiting and self.in_flight < self._allowed:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)

    def _succeeded(self) -> None:
        self._rejected = 0
        if self._closed is not None:
            return
        if not self._proven:
            self._proven = True
            # one reply proves key, address and model: there is no more reason for caution
            self._allowed = self.full
        elif self._allowed < self.full:
            self._allowed += 1

    def _halve(self) -> None:
        moment = time.monotonic()
        if moment - self._halved_at >= HALVE_EVERY_S and self._closed is None:
            self._halved_at = moment
            # never 0: without a call in flight nothing could succeed and raise the limit again
            self._allowed = max(1, self._allowed // 2)
            logs.event(logs.WARNING, "fewer concurrent calls", model=self.name, allowed=self._allowed)


def _same(error: CallError) -> CallError:
    """Copy a rejection for another call."""
    return CallError(error.failure, status=error.status)


def most_usage(request: Request, reply_tokens: int | None = None) -> Usage:
    """The most that a call may use: its prompt, generously counted, and all the tokens it may write.

    `reply_tokens` replaces what a reply is taken to have at most where the request sets no limit.
    """
    # a token is at least one byte, so bytes bound the prompt's tokens from above; a few more frame each message
    text = (estimate_tokens(request) - (request.sampling.max_tokens or 0)) * BYTES_A_TOKEN
    prompt = int(text + 16 * len(request.messages) + 64)
    return Usage(prompt_tokens=prompt, completion_tokens=request.sampling.max_tokens or reply_tokens or REPLY_TOKENS)


def estimate_tokens(request: Request) -> float:
    """Tokens that a call may use at most: its text at four bytes a token, plus what it may write."""
    size = sum(len(str(item.get("content", "")).encode()) for item in request.messages)
    if request.body is not None:
        size += len(str(request.body).encode())
    return size / BYTES_A_TOKEN + (request.sampling.max_tokens or 0)

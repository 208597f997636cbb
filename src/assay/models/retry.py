"""Asking again when that can help, and only as often as was agreed."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from assay.models import logs
from assay.models.client import HOPELESS_AFTER, REJECTED, CallError, Client, ModelRejected
from assay.types import Reply, Request

LOST_AFTER = 100
"""Stop the run when this many calls in a row have failed at an endpoint that did answer once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The number of attempts per request, and the waiting times."""

    max_retries: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    longest_retry_after_s: float = 120.0


USUAL_RETRIES = RetryPolicy()


class RetryBudget:
    """Retries of a whole run: as many as calls, and a few to begin with, so that an outage cannot go on for ever."""

    def __init__(self, head_start: int = 100) -> None:
        self._left = head_start

    def call_started(self) -> None:
        self._left += 1

    def consume(self) -> bool:
        """Use up one retry of the budget; False when none is left."""
        if self._left <= 0:
            return False
        self._left -= 1
        return True


class Retrying:
    """A client that waits and asks again after failures that may pass; a slot is free while it waits."""

    def __init__(
        self, client: Client, policy: RetryPolicy, budget: RetryBudget, *, key_hint: str = "", proven: bool = False
    ) -> None:
        self.name = client.name
        self._client = client
        self._policy = policy
        self._budget = budget
        self._key_hint = key_hint
        self._succeeded = proven
        self._failed = 0
        self._rejected = 0
        self._empty = 0
        self._finish_reason: str | None = None
        self.waiting: dict[int, tuple[str, float]] = {}
        """The reason and end (loop time) of every current wait, by call."""

    async def ask(self, request: Request) -> Reply:
        self._stop_if_always_empty()
        self._budget.call_started()
        attempt = 0
        while True:
            if logs.is_on():
                logs.bind(attempt=attempt + 1)
            try:
                reply = await self._client.ask(request)
            except CallError as error:
                self._stop_if_hopeless(error)
                if not await self._wait_to_retry(error, attempt):
                    # counted only here: a call that succeeds when it is tried again is no failure
                    self._count_failure(error)
                    raise
                attempt += 1
            else:
                self._count_reply(reply)
                return reply

    def _count_reply(self, reply: Reply) -> None:
        self._rejected = 0
        if not reply.has_content:
            self._empty += 1
            self._finish_reason = reply.finish_reason
        else:
            self._succeeded = True
            self._failed = self._empty = 0

    def _stop_if_always_empty(self) -> None:
        """Stop the run if all replies are empty; checked before the next call, since a paid reply is stored first."""
        if self._empty >= (LOST_AFTER if self._succeeded else HOPELESS_AFTER):
            reason = f" (finish reason {self._finish_reason})" if self._finish_reason else ""
            which = "the last" if self._succeeded else "the first"
            raise ModelRejected(f"{which} {self._empty} replies of {self.name} have no content{reason}")

    def _stop_if_hopeless(self, error: CallError) -> None:
        """A key that is refused stays refused; the others may be about one request once a call has succeeded."""
        if error.status not in REJECTED:
            return
        self._rejected += 1
        if error.status == 401 or not self._succeeded or self._rejected >= HOPELESS_AFTER:
            hint = f" {self._key_hint}" if error.status in (401, 403) and self._key_hint else ""
            if error.status == 404:
                hint = " Check the name of the model and the address of its endpoint."
            raise ModelRejected(f"{self.name} refuses all calls: {error.failure.detail.rstrip('.')}.{hint}") from error

    def _count_failure(self, error: CallError) -> None:
        self._failed += 1
        if not self._succeeded and self._failed >= HOPELESS_AFTER:
            raise ModelRejected(
                f"none of the first {self._failed} calls to {self.name} succeeded: {error.failure.detail}"
            ) from error
        if error.failure.retryable and self._failed >= LOST_AFTER:
            raise ModelRejected(
                f"{self.name} has stopped answering: {self._failed} calls in a row failed: {error.failure.detail}"
            ) from error

    async def _wait_to_retry(self, error: CallError, attempt: int) -> bool:
        """Wait as long as is right; False when asking again is no use or not allowed."""
        policy = self._policy
        if not error.failure.retryable or attempt >= policy.max_retries:
            return False
        # full jitter: callers that failed together must not come back together
        wait_s = random.uniform(0, min(policy.longest_wait_s, policy.first_wait_s * 2**attempt))  # noqa: S311
        if error.retry_after_s is not None:
            if error.retry_after_s > policy.longest_retry_after_s:
                return False
            # on top of the jitter: the server may have told many callers the same moment
            wait_s += error.retry_after_s
        # asked last, so that a call which is not retried anyway uses nothing up
        if not self._budget.consume():
            return False
        reason = str(error.status) if error.status is not None else error.failure.kind
        logs.event(logs.WARNING, "retry", model=self.name, reason=reason, wait_s=round(wait_s, 3))
        loop = asyncio.get_running_loop()
        ticket = id(error)
        self.waiting[ticket] = (reason, loop.time() + wait_s)
        try:
            await asyncio.sleep(wait_s)
        finally:
            del self.waiting[ticket]
        return True

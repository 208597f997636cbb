"""Reuse replies by key, and let identical concurrent calls share one request."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from assay.models import logs
from assay.models.cache_key import call_key, canonical
from assay.models.client import Client
from assay.models.price import Prices
from assay.types import CallMemory, PaidCall, Reply, Request


class Remembered:
    """A client that looks into the memory first and keeps what it pays for."""

    def __init__(self, client: Client, memory: CallMemory, prefix: bytes, *, prices: Prices | None = None) -> None:
        self.name = client.name
        self._client = client
        self._memory = memory
        self._prefix = prefix
        self._prices = prices
        # the calls that are under way; a future exists only where a twin waits for the reply
        self._running: dict[bytes, asyncio.Future[Reply] | None] = {}

    async def ask(self, request: Request) -> Reply:
        content = canonical(request)
        key = call_key(self._prefix, content)
        while True:
            reply = self._memory.get(key)
            if reply is not None:
                return reply
            if key not in self._running:
                return await self._pay(request, key, content)
            running = self._running[key]
            if running is None:
                running = self._running[key] = asyncio.get_running_loop().create_future()
            try:
                # shielded: a twin that is stopped must not cancel the call that others wait for
                return replace(await asyncio.shield(running), cached=True)
            except asyncio.CancelledError:
                # when only the one that paid was stopped, the next in line pays
                if not running.cancelled() or _is_stopped():
                    raise

    async def _pay(self, request: Request, key: bytes, content: bytes) -> Reply:
        self._running[key] = None
        if logs.is_on():
            logs.bind(call=key.hex()[:16])
        try:
            reply = await self._client.ask(request)
            # in place: every client builds a new reply per call, and a copy costs more than the key
            reply.key = key
            cost_usd = None if self._prices is None else self._prices.cost(reply.usage)
            self._memory.keep(
                PaidCall(
                    key=key, model=self.name, purpose=request.purpose, request=content, reply=reply, cost_usd=cost_usd
                )
            )
        except BaseException as error:
            shared = self._running.pop(key)
            if shared is not None and isinstance(error, asyncio.CancelledError):
                shared.cancel()
            elif shared is not None:
                shared.set_exception(error)
                # twins that wait see the error; without any, nobody needs to hear of it again
                shared.exception()
            raise
        # only now: until the reply is in the memory, twins have to find the call that is running
        shared = self._running.pop(key)
        if shared is not None:
            shared.set_result(reply)
        return reply


def _is_stopped() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

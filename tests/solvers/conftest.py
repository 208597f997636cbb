"""A model made of replies, and a way to let a solver talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from assay.models.client import CallError
from assay.types import Failure, Reply, Request, Rows


class Told:
    """Answers in turn, by model; remembers what it was asked. A reply is a text, a Reply, or a Failure to raise."""

    def __init__(self, *replies: Any, **others: list[Any]) -> None:
        self._replies: dict[str | None, list[Any]] = {None: list(replies), **others}
        self.asked: list[tuple[str | None, Request]] = []

    async def __call__(self, request: Request, model: str | None = None) -> Reply:
        self.asked.append((model, request))
        await asyncio.sleep(0)
        said = self._replies[model].pop(0)
        if isinstance(said, Failure):
            raise CallError(said)
        if isinstance(said, Reply):
            return said
        return Reply(text=said, items=({"type": "message", "role": "assistant", "content": said},))

    def conversations(self, model: str | None = None) -> list[list[tuple[str, str]]]:
        """Role and content of every message, for each time that the model was asked."""
        return [[(m["role"], m["content"]) for m in r.messages] for key, r in self.asked if key == model]


@pytest.fixture(scope="session")
def told() -> type[Told]:
    return Told


@pytest.fixture(scope="session")
def solve() -> Callable[..., Any]:
    """Let a solver of these settings answer one sample."""
    from assay.solvers.kinds import KINDS

    kinds = {kind.name: kind for kind in KINDS}

    def solved(settings: Mapping[str, Any], ask: Any, **sample: Any) -> Any:
        kind = kinds[settings["type"]]
        rows = Rows(positions=[0], ids=["7"], samples=[sample])
        return asyncio.run(kind.solve(kind.settings.model_validate(settings), rows, ask))

    return solved

"""The policies around the models of a run."""

from __future__ import annotations

import asyncio

from assay.models.connect import connect
from assay.runner.models import Models
from assay.types import Request


def test_without_a_memory_every_question_is_asked(tmp_path):
    asked = []

    def model(messages, **parameters):
        asked.append(messages)
        return "yes"

    async def ask_twice():
        models = Models({"m": connect(model, root=tmp_path, environment={})}, memory=None)
        question = Request(messages=({"role": "user", "content": "?"},))
        replies = [await models.by_key["m"].client.ask(question) for _ in range(2)]
        await models.close()
        return [reply.text for reply in replies]

    assert asyncio.run(ask_twice()) == ["yes", "yes"]
    assert len(asked) == 2

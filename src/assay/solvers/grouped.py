"""`grouped_single_turn_solver`: several questions about one sample, answered separately."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import orjson

from assay.registry import AskingSolverKind
from assay.solvers.asking import STAGE, AskingSolverSpec, answer_in, reply_items
from assay.solvers.inputs import GenericInput, asked, rendered_json, request_from
from assay.types import Ask, Failure, Item, Reply, Request, Rows, Sampling, Solution, Trace


class GroupedSingleTurnSolver(AskingSolverSpec):
    """A list or mapping of inputs for each sample, one call each; the answer is the JSON of all answers."""

    type: Literal["grouped_single_turn_solver"]
    input_builder: GenericInput


async def grouped(settings: GroupedSingleTurnSolver, rows: Rows, ask: Ask) -> Solution | Failure:
    """Ask everything at once; one call without an answer leaves the sample without one."""
    inputs = rendered_json(settings.input_builder.template, rows)
    if isinstance(inputs, Failure):
        return inputs
    if not isinstance(inputs, list | dict):
        detail = f"the template must render a list or a mapping of inputs, got {orjson.dumps(inputs).decode()[:80]}"
        return Failure(stage=STAGE, kind="template", detail=detail)
    names: list[Any] = list(inputs) if isinstance(inputs, dict) else list(range(len(inputs)))
    requests = _requests([inputs[name] for name in names], names, settings.sampling.value)
    if isinstance(requests, Failure):
        return requests
    answers: list[str] = []
    items: list[Item] = []
    for name, request, reply in zip(names, requests, await _replies(requests, ask), strict=True):
        answer = answer_in(reply)
        if isinstance(answer, Failure):
            return replace(answer, detail=f"input {name}: {answer.detail}")
        answers.append(answer)
        items += ({**item, "input": name} for item in (*asked(request), *reply_items(reply)))
    whole = dict(zip(names, answers, strict=True)) if isinstance(inputs, dict) else answers
    return Solution(answer=orjson.dumps(whole).decode(), trace=Trace(tuple(items)))


def _requests(inputs: Sequence[Any], names: Sequence[Any], sampling: Sampling) -> list[Request] | Failure:
    """A question for every input; one that comes again is numbered, so that a random answer is drawn anew."""
    requests: list[Request] = []
    seen: Counter[bytes] = Counter()
    for name, value in zip(names, inputs, strict=True):
        request = request_from(value, sampling)
        if isinstance(request, Failure):
            return replace(request, detail=f"input {name}: {request.detail}")
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        requests.append(
            replace(request, occurrence=seen[text]) if seen[text] and sampling.temperature != 0 else request
        )
        seen[text] += 1
    return requests


async def _replies(requests: Sequence[Request], ask: Ask) -> list[Reply]:
    """All replies, or the first error; the others are waited for, because they are paid for and remembered."""
    replies: list[Reply] = []
    for outcome in await asyncio.gather(*(ask(request) for request in requests), return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
        replies.append(outcome)
    return replies


KIND = AskingSolverKind(settings=GroupedSingleTurnSolver, solve=grouped)

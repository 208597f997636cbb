"""`single_turn_solver`: one question, one answer."""

from __future__ import annotations

from typing import Literal

from assay.registry import AskingSolverKind
from assay.solvers.asking import AskingSolverSpec, answer_in, reply_items
from assay.solvers.inputs import InputBuilder, asked, request_of
from assay.types import Ask, Failure, Rows, Solution, Trace


class SingleTurnSolver(AskingSolverSpec):
    """One question to the model per sample, built from messages or from a template."""

    type: Literal["single_turn_solver"]
    input_builder: InputBuilder


async def single_turn(settings: SingleTurnSolver, rows: Rows, ask: Ask) -> Solution | Failure:
    """Ask once and take the reply for the answer."""
    request = request_of(settings.input_builder, rows, settings.sampling.value)
    if isinstance(request, Failure):
        return request
    reply = await ask(request)
    answer = answer_in(reply)
    if isinstance(answer, Failure):
        return answer
    return Solution(answer=answer, trace=Trace((*asked(request), *reply_items(reply))))


KIND = AskingSolverKind(settings=SingleTurnSolver, solve=single_turn)

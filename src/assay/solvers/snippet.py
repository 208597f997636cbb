"""`python`: a user's coroutine runs the conversation in the sandbox; its model calls are made by the parent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import orjson

from assay.registry import AskingSolverKind, InSandbox
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program
from assay.solvers.asking import STAGE, AskingSolverSpec, reply_items
from assay.solvers.conversation import UnreadableError, answer_of, as_trace
from assay.spec.code import SolverCode
from assay.spec.isolation import Isolation, isolation_of
from assay.types import Ask, Failure, Reply, Request, Rows, Sampling, Solution, Trace


class PythonSolver(AskingSolverSpec):
    """A Python coroutine of yours asks the model as it likes; it runs in a sandbox, and only with --allow-code."""

    type: Literal["python"]
    run_solver_snippet: SolverCode
    isolation: Isolation | None = None


async def snippet(settings: PythonSolver, rows: Rows, ask: Ask, *, sandbox: Sandbox) -> Solution | Failure:
    """Let the code lead the conversation; a call that fails ends it, and is the failure of the sample."""
    asking = _Asking(ask, settings.sampling.value)
    row = [rows.samples[0], rows.ids[0], None, None]
    code = settings.run_solver_snippet
    program = Program.of(code, "conversation", isolation=isolation_of(code, settings.isolation))
    try:
        result = await sandbox.converse(program, row, asking)
        if isinstance(result, CallFailed):
            return Failure(stage=STAGE, kind="code", detail=result.detail)
        return _solution(result.value)
    except UnreadableError as error:
        return error.as_failure()


class _Asking:
    """Calls the model on behalf of the code."""

    def __init__(self, ask: Ask, sampling: Sampling) -> None:
        self._ask = ask
        self._sampling = sampling
        self._seen: Counter[bytes] = Counter()

    async def __call__(self, items: list[Any]) -> dict[str, Any]:
        if not items:
            raise UnreadableError("code", "model.predict got an empty prompt")
        text = orjson.dumps(items, option=orjson.OPT_SORT_KEYS)
        twins = self._seen[text] if self._sampling.temperature != 0 else 0
        self._seen[text] += 1
        # a question that comes again is numbered, so that a random answer is drawn anew
        request = Request(messages=as_trace(items).items, sampling=self._sampling, occurrence=twins)
        return _plain(await self._ask(request))


def _plain(reply: Reply) -> dict[str, Any]:
    """A reply as the code gets it; `raw_output` has the form of a chat completion."""
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    usage = {"prompt_tokens": reply.usage.prompt_tokens, "completion_tokens": reply.usage.completion_tokens}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return {"text": reply.text, "items": reply_items(reply), "raw_output": {"choices": [choice], "usage": usage}}


def _solution(outcome: Mapping[str, Any]) -> Solution:
    """Return the answer that the code names, else that of its conversation."""
    trace = as_trace(outcome["trace"]) if outcome["trace"] else Trace(())
    output = outcome["output"]
    return Solution(answer=answer_of(trace) if output is None else str(output), trace=trace)


KIND = AskingSolverKind(settings=PythonSolver, solve=InSandbox(snippet))

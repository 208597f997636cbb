"""A model that is a function of the user's, in the sandbox: `run_inference(body, environment, sample=None)`."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from assay.errors import SpecError
from assay.models.adapter import Identity
from assay.models.client import CallError
from assay.models.dialect import Dialect, EndpointQuirks, malformed
from assay.models.endpoint import Answer
from assay.models.redact import redacted
from assay.models.retry import RetryPolicy
from assay.models.wire import read_answer
from assay.sandbox.linux import CodeLimits
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program, Result
from assay.spec.code import Code
from assay.spec.isolation import isolation_of
from assay.spec.model import CustomInference
from assay.types import Failure, FailureKind, Reply, Request

USUAL_TIMEOUT_S = 120.0
RETRIES = RetryPolicy(max_retries=1)
"""The retries of a code model: only timeouts are retried, since network errors are the code's own responsibility."""
TOOK_LONGER = "took longer than"


class CodeClient:
    """Calls the user's function; refuses until permission is given."""

    def __init__(self, name: str, config: CustomInference, dialect: Dialect, *, secrets: Sequence[str] = ()) -> None:
        self.name = name
        self.codes: tuple[Code, ...] = (config.run_inference_snippet,)
        self._environment = dict(config.environment)
        self._timeout_s = config.timeout or USUAL_TIMEOUT_S
        self._dialect = dialect
        self.secrets = tuple(secrets)
        isolation = isolation_of(config.run_inference_snippet, config.isolation)
        self._program = Program.of(config.run_inference_snippet, "inference", network=True, isolation=isolation)
        self.reads_sample = config.run_inference_snippet.takes(3)
        self._trusted: bool | None = None
        self._sandbox: Sandbox | None = None

    def allow(self, *, trusted: bool) -> None:
        """The code may run: in the sandbox, or without one where it is trusted."""
        self._trusted = trusted

    async def ask(self, request: Request) -> Reply:
        body = orjson.loads(self._dialect.body(request, EndpointQuirks()))
        started = time.monotonic()
        row = [body, self._environment, request.sample]
        result = await self._opened().converse(self._program, row, _nobody_to_ask)
        try:
            return read_answer(self._dialect, self._answer(result, time.monotonic() - started), request)
        except CallError as error:
            raise redacted(error, self.secrets) from error.__cause__

    def _opened(self) -> Sandbox:
        if self._trusted is None:
            raise SpecError(f"{self.name} is Python code, which runs only with permission: `assay run --allow-code`")
        if self._sandbox is None:
            self._sandbox = Sandbox(limits=CodeLimits(call_s=self._timeout_s), trusted=self._trusted)
        return self._sandbox

    def _answer(self, result: Result, latency_s: float) -> Answer:
        """Convert the function's return value to an endpoint's answer."""
        if isinstance(result, CallFailed):
            late = result.detail.startswith(TOOK_LONGER)
            kind: FailureKind = "timeout" if late else "code"
            raise CallError(Failure(stage="solve", kind=kind, detail=result.detail, retryable=late))
        return Answer(status=200, body=_body(result.value, self._dialect), headers={}, latency_s=latency_s)

    async def close(self) -> None:
        """End the processes."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None


async def _nobody_to_ask(items: list[Any]) -> Any:
    raise malformed("the code of a model may not ask a model")


def _body(value: Any, dialect: Dialect) -> bytes:
    """The bytes of an answer: text that is no JSON object is the reply itself, unless an adapter reads it."""
    if not isinstance(value, str):
        return orjson.dumps(value)
    if isinstance(dialect, Identity) and not _is_object(value):
        return orjson.dumps(
            {"choices": [{"message": {"role": "assistant", "content": value}, "finish_reason": "stop"}]}
        )
    return value.encode(errors="backslashreplace")


def _is_object(text: str) -> bool:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(document, dict) and bool({"choices", "items", "error"} & document.keys())


def identity_of(config: CustomInference, adapter: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return what determines replies:

    the code, the adapter, and the environment as written, with digests of its values.
    """
    return {
        "provider": "custom_inference",
        "code": hashlib.sha256(str(config.run_inference_snippet).encode()).hexdigest(),
        "model": config.model_key,
        "adapter": adapter,
        "environment": {name: hashlib.sha256(str(text).encode()).hexdigest()[:16] for name, text in variables.items()},
    }

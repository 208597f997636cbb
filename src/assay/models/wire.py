"""A model behind an address: a dialect over a transport that bends to what the endpoint does not take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from assay.models import logs
from assay.models.client import CallError
from assay.models.dialect import PARAMETERS, Dialect, EndpointQuirks, SchemaStep, error_message, safe, unusable
from assay.models.endpoint import Answer, Endpoint
from assay.models.limit import most_usage
from assay.models.redact import redact, redacted
from assay.types import Reply, Request

if TYPE_CHECKING:
    from assay.models.transport import Transport

_NEXT_STEP: dict[SchemaStep, SchemaStep] = {"json_schema": "json_object", "json_object": "text"}
_ABOUT_SCHEMA = re.compile(r"response[_ ]?format|json[_ ]?schema|json[_ ]?object|structured|output_config|text\.format")
_ABOUT_RANGE = re.compile(
    r"between|range|at most|at least|maximum|minimum|(less|greater|larger|smaller) than|exceed|too "
)
_SENT_AS = {"reasoning_effort": ("reasoning_effort", "effort", "reasoning"), "stop": ("stop", "stop_sequences")}
_MOST_TRIES = len(PARAMETERS) + 4
"""Every parameter dropped, both steps of the ladder, one renaming, and the call that succeeds."""


def transport_to(endpoint: Endpoint) -> Transport:
    """A transport for an endpoint; only now is the HTTP library loaded."""
    from assay.models.transport import Transport

    return Transport(endpoint)


class WireClient:
    """A client made of a dialect and a transport. Parameters that the endpoint rejects by name are left out afterwards.

    `notes` says what was left out, for people.
    """

    def __init__(
        self,
        name: str,
        dialect: Dialect,
        transport: Transport,
        *,
        manner: EndpointQuirks = EndpointQuirks(),  # noqa: B008 - a frozen value
        secrets: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.notes: list[str] = []
        self._dialect = dialect
        self._transport = transport
        self._manner = manner
        self.secrets = tuple(secrets)
        self._untold = manner.without

    async def ask(self, request: Request) -> Reply:
        if self._untold:
            self._tell(request)
        try:
            # an endpoint usually names one parameter per refusal, so several rounds may be needed
            for _ in range(_MOST_TRIES):
                manner = self._manner
                answer = await self._transport.post(self._dialect.body(request, manner))
                if answer.status not in (400, 422) or not self._bends(answer, request, manner):
                    break
            return read_answer(self._dialect, answer, request)
        except CallError as error:
            raise redacted(error, self.secrets) from error.__cause__

    def _tell(self, request: Request) -> None:
        """Say once which parameters are left out because the dialect has no field for them."""
        for name in sorted(self._untold):
            if getattr(request.sampling, name) is not None:
                self.notes.append(f"{self.name}: has no parameter {name}, so it is left out")
                self._untold -= {name}

    def _bends(self, answer: Answer, request: Request, manner: EndpointQuirks) -> bool:
        """Return whether a retry would be asked differently; adjusts to the rejection if no other call has done so."""
        # another call learned meanwhile what this one was refused for
        if self._manner is not manner:
            return True
        message = _message(answer)
        bent, note = _bent(message.lower(), request, manner)
        if bent is manner:
            return False
        self._manner = bent
        self.notes.append(f"{self.name}: {note} ({redact(message, self.secrets)[:200]})")
        logs.event(logs.WARNING, "request changed", model=self.name, http=answer.status, detail=note)
        return True


def read_answer(dialect: Dialect, answer: Answer, request: Request) -> Reply:
    """The reply in an answer, checked; raises CallError for whatever cannot be used.

    A reply that does not say what it costs is charged with the most that was possible.
    """
    try:
        reply = safe(dialect.reply(answer))
    except CallError:
        raise
    # the answer is a stranger's: whatever it breaks is the failure of this sample
    except Exception as error:
        raise unusable(f"{type(error).__name__}: {error}") from error
    return replace(reply, usage=most_usage(request)) if reply.usage_missing else reply


def _message(answer: Answer) -> str:
    try:
        document = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        document = None
    return error_message(document, answer.body)


def _bent(message: str, request: Request, manner: EndpointQuirks) -> tuple[EndpointQuirks, str]:
    """The manner that a refusal asks for and what changes by it; the same manner when it asks for nothing."""
    sampling = request.sampling
    if sampling.max_tokens is not None and manner.length_field not in manner.without:
        other = "max_tokens" if manner.length_field == "max_completion_tokens" else "max_completion_tokens"
        if _names(message, other) and _names(message, manner.length_field):
            return replace(manner, length_field=other), f"{other} is sent instead of {manner.length_field}"
    if request.schema is not None and manner.schema != "text" and _ABOUT_SCHEMA.search(message):
        step = _NEXT_STEP[manner.schema]
        return replace(manner, schema=step), f"takes no {manner.schema}, so replies are asked for as {step}"
    # the value is wrong, not the parameter: dropping it would change the task without a word
    if _ABOUT_RANGE.search(message):
        return manner, ""
    for name in PARAMETERS:
        sent = (manner.length_field, "max_output_tokens") if name == "max_tokens" else _SENT_AS.get(name, (name,))
        if getattr(sampling, name) is None or name in manner.without:
            continue
        if any(_names(message, field) for field in sent):
            return replace(manner, without=manner.without | {name}), f"rejects {name}, so it is left out"
    return manner, ""


def _names(message: str, parameter: str) -> bool:
    return re.search(rf"(?<![a-z_]){re.escape(parameter)}(?![a-z_])", message) is not None

"""Adapters: two templates that describe an endpoint with its own request and reply formats; and the built-in ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from assay.errors import Problem, SpecError, TemplateFailure
from assay.models.anthropic import Anthropic
from assay.models.chat import Chat, reply_of, request_body
from assay.models.client import CallError
from assay.models.dialect import Dialect, EndpointQuirks, billed, error_message, malformed, parameters, read_json
from assay.models.endpoint import Answer, status_error
from assay.models.responses import Responses, output_items, text_of_items
from assay.spec.definitions import NOTHING, Definitions
from assay.spec.model import AdapterFile, find_adapter
from assay.spec.nearest import nearest
from assay.templates import check_syntax, render_value
from assay.types import Failure, Reply, Request, Usage

IDENTITY = "latticeflow$identity"
ANTHROPIC = "assay$anthropic_messages"
BUILT_IN: Mapping[str, Callable[[str | None], Dialect]] = {
    IDENTITY: lambda model: Identity(model),
    "latticeflow$openai_chat_completion": Chat,
    "latticeflow$openai_responses": Responses,
    ANTHROPIC: Anthropic,
}


@dataclass(frozen=True, slots=True)
class Identity:
    """An endpoint that uses assay's own formats: chat completions, or the body unchanged.

    `any_answer` makes an answer of another shape its own text, as models of the task `custom` give it.
    """

    model: str | None
    any_answer: bool = False

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        if request.body is not None and not isinstance(request.body, Mapping):
            return orjson.dumps(request.body)
        return orjson.dumps(request_body(request, self.model, manner))

    def reply(self, answer: Answer) -> Reply:
        document = read_json(answer)
        if not 200 <= answer.status < 300:
            raise status_error(answer, error_message(document, answer.body))
        return output_reply(document, answer, any_answer=self.any_answer)


@dataclass(frozen=True, slots=True)
class Adapter:
    """An endpoint with its own format: one template builds the body, another reads the answer."""

    process_input: str
    process_output: str
    model: str | None
    any_answer: bool = False

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        try:
            body = render_value(self.process_input, _input_variables(request, self.model, manner))
        except TemplateFailure as error:
            raise CallError(Failure(stage="solve", kind="template", detail=str(error))) from None
        return body.encode() if isinstance(body, str) else orjson.dumps(body)

    def reply(self, answer: Answer) -> Reply:
        text = answer.body.decode(errors="replace")
        variables = {"body": text, "status_code": answer.status, "model_info": {"model_key": self.model}}
        try:
            document = _parsed(render_value(self.process_output, variables))
        except TemplateFailure as error:
            raise self._unreadable(answer, error) from None
        if not 200 <= answer.status < 300:
            error_field = document.get("error") if isinstance(document, Mapping) else None
            raise status_error(
                answer, error_message({"error": error_field}, b"") if error_field else _error_text(answer)
            )
        return output_reply(document, answer, any_answer=self.any_answer)

    def _unreadable(self, answer: Answer, error: TemplateFailure) -> CallError:
        """Return whether a failed template says nothing about the template itself:

        the answer was an error or incomplete.
        """
        if not 200 <= answer.status < 300:
            return status_error(answer, _error_text(answer))
        if not _is_json(answer.body):
            return malformed(f"the answer is not valid JSON: {error}")
        return CallError(Failure(stage="solve", kind="template", detail=str(error)))


def _input_variables(request: Request, model: str | None, manner: EndpointQuirks) -> dict[str, Any]:
    """Return the variables of an input template: the chat completions request, and its parameters separately."""
    return {
        "input": request.body if request.body is not None else request_body(request, None, manner),
        "model_info": {"model_key": model},
        "kwargs": parameters(request.sampling, manner),
    }


def _parsed(rendered: Any) -> Any:
    """JSON text as its value, also where a template wrote the text as a JSON string."""
    for _ in range(2):
        if not isinstance(rendered, str):
            break
        try:
            rendered = orjson.loads(rendered)
        except orjson.JSONDecodeError as error:
            raise TemplateFailure(f"process_output returned invalid JSON: {error.msg}") from None
    return rendered


def output_reply(document: Any, answer: Answer, *, any_answer: bool = False) -> Reply:
    """Read the reply from an output template's result: choices, items, or an error."""
    if isinstance(document, Mapping):
        if isinstance(document.get("items"), list):
            return _items_reply(document, answer)
        if document.get("error") and "choices" not in document:
            detail = error_message(document, b"")
            raise CallError(Failure(stage="solve", kind="http", detail=detail))
    if any_answer and not (isinstance(document, Mapping) and "choices" in document):
        text = document if isinstance(document, str) else orjson.dumps(document).decode()
        item = {"type": "message", "role": "assistant", "content": text}
        return Reply(text=text, items=(item,), usage_missing=True, latency_s=answer.latency_s)
    return reply_of(document, answer.latency_s)


def _items_reply(document: Mapping[str, Any], answer: Answer) -> Reply:
    items = output_items([item for item in document["items"] if isinstance(item, Mapping)])
    usage = billed(
        document.get("usage"),
        ("num_prompt_tokens", "prompt_tokens", "input_tokens"),
        ("num_completion_tokens", "completion_tokens", "output_tokens"),
    )
    return Reply(
        text=text_of_items(items),
        items=items,
        usage=usage or Usage(),
        usage_missing=usage is None,
        finish_reason=document.get("finish_reason"),
        latency_s=answer.latency_s,
    )


def _is_json(body: bytes) -> bool:
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return True


def _error_text(answer: Answer) -> str:
    return error_message(orjson.loads(answer.body) if _is_json(answer.body) else None, answer.body)


def adapter_named(
    key: str,
    model: str | None,
    root: Path,
    environment: Mapping[str, str],
    *,
    any_answer: bool = False,
    definitions: Definitions = NOTHING,
) -> tuple[Dialect, str]:
    """An adapter that ships, is defined by the run file or is a file of the project, and its name or a digest."""
    if key == IDENTITY:
        return Identity(model, any_answer), key
    if key in BUILT_IN:
        return BUILT_IN[key](model), key
    if "$" in key:
        message = f'unknown adapter "{key}"; known: {", ".join(BUILT_IN)}'
        raise SpecError(Problem(message=message, suggestion=nearest(key, BUILT_IN)))
    file = find_adapter(key, root, environment=environment, definitions=definitions)
    sources = (file.process_input.source_code, file.process_output.source_code)
    problems = adapter_problems(file)
    if problems:
        raise SpecError(problems)
    digest = hashlib.sha256(orjson.dumps([str(source) for source in sources])).hexdigest()
    return Adapter(*sources, model, any_answer), digest


def adapter_problems(file: AdapterFile) -> list[Problem]:
    """Return the problems in the templates of an adapter."""
    problems = []
    for name, snippet in (("process_input", file.process_input), ("process_output", file.process_output)):
        wrong = check_syntax(snippet.source_code)
        if wrong is not None:
            problems.append(Problem(message=f"{name}: {wrong}", place=snippet.source_code.place))
    return problems

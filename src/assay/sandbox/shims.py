"""The classes that snippets receive and return, importable in a worker under the names that existing snippets use.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from types import ModuleType
from typing import Any

from assay.types import OTHER_NAMES, Turn, content_text
from assay.types import Trace as Conversation

MODULES = ("latticeflow.core.dtypes", "latticeflow.assessment.dtypes")


class Record(dict[str, Any]):
    """A mapping whose fields are attributes as well."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__} has no {name!r}; it has {', '.join(self) or 'nothing'}"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):  # what copies restore is not a field
            object.__setattr__(self, name, value)
        else:
            self[name] = value

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """The fields as a plain mapping."""
        return dict(self)

    @classmethod
    def model_validate(cls, fields: Mapping[str, Any]) -> Any:
        """An object with these fields."""
        return cls(**fields)


class RawSample(Record):
    """A row of the dataset; `sample_id` exists even if no column has that name."""

    __slots__ = ("_id",)

    def __init__(self, *columns: Any, sample_id: str | None = None, **more: Any) -> None:
        dict.__init__(self, *columns, **more)
        object.__setattr__(self, "_id", sample_id)

    def __missing__(self, name: str) -> Any:
        if name == "sample_id":
            return self._id
        raise KeyError(name)


class ReplyText(str):
    """A reply that is its text, and answers `.choices[0].message.content` like a chat completion."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return str(self)

    @property
    def choices(self) -> list[Record]:
        return [Record(index=0, message=Record(role="assistant", content=str(self)))]

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if key in ("choices", "text") else super().__getitem__(key)


class MessageContent(list[Any]):
    """The parts of a message: prints as its text, and `in` looks into that text."""

    def __str__(self) -> str:
        return content_text(list(self))

    def __contains__(self, part: object) -> bool:
        return part in str(self) if isinstance(part, str) else super().__contains__(part)


class MessageRole(StrEnum):
    """The author of a message."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"


class MessageStatus(StrEnum):
    """The completion status of a message."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"


class InputTextContent(Record):
    """A part of a message: text that goes to a model."""

    def __init__(self, text: str = "", **more: Any) -> None:
        super().__init__({"type": "input_text", "text": text, **more})


class OutputTextContent(Record):
    """A part of a message: text that a model wrote, with its annotations."""

    def __init__(self, text: str = "", annotations: Iterable[Any] = (), **more: Any) -> None:
        super().__init__({"type": "output_text", "text": text, "annotations": list(annotations), **more})


class TraceItem(Record):
    """An item of a conversation: a message, a function call, its output, or another."""


class Message(TraceItem):
    """A message of a conversation."""

    kind: str = "message"
    role_of: str | None = None

    def __init__(self, content: Any = None, **fields: Any) -> None:
        head = {"type": self.kind} if self.role_of is None else {"type": self.kind, "role": self.role_of}
        super().__init__({**head, "content": content, **fields})
        if isinstance(self["content"], list):
            self["content"] = MessageContent(self["content"])

    @property
    def text(self) -> str:
        return content_text(self["content"])


class UserMessage(Message):
    """A user's message."""

    role_of = "user"


class AssistantMessage(Message):
    """A model's message."""

    role_of = "assistant"


class SystemMessage(Message):
    """A system message."""

    role_of = "system"


class DeveloperMessage(Message):
    """The newer name of a system message."""

    role_of = "developer"


class FunctionCall(TraceItem):
    """A function that the model calls."""

    def __init__(self, name: str | None = None, arguments: Any = None, call_id: str | None = None, **more: Any) -> None:
        fields = {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}
        super().__init__({**fields, **more})


class FunctionCallOutput(TraceItem):
    """The output of a function call."""

    def __init__(self, call_id: str | None = None, output: Any = None, **more: Any) -> None:
        super().__init__({"type": "function_call_output", "call_id": call_id, "output": output, **more})


_BY_ROLE: dict[Any, type[Message]] = {
    message_class.role_of: message_class
    for message_class in (UserMessage, AssistantMessage, SystemMessage, DeveloperMessage)
}
_BY_TYPE = {"function_call": FunctionCall, "function_call_output": FunctionCallOutput}


def item(entry: Any) -> Record:
    """An item of a conversation as an object of its class."""
    if isinstance(entry, str):
        return UserMessage(entry)
    if isinstance(entry, Record) or not isinstance(entry, Mapping):
        return entry
    kind = entry.get("type", "message")
    rest = {name: value for name, value in entry.items() if name != "type"}
    if kind == "message":
        return _BY_ROLE.get(entry.get("role"), Message)(**rest)
    return _BY_TYPE[kind](**rest) if kind in _BY_TYPE else TraceItem(entry)


class SolverTrace:
    """A conversation that can be read and added to."""

    def __init__(
        self, items: Iterable[Any] = (), *, trace: Any = None, raw_outputs: Iterable[Any] = (), **_unused: Any
    ) -> None:
        source = items if trace is None else trace
        if isinstance(source, Mapping):
            # the object that AI GO! writes around the items
            source = source["items"]
        self.items = [item(entry) for entry in source]
        self.raw_outputs = list(raw_outputs)

    @classmethod
    def from_items(cls, items: Iterable[Any]) -> SolverTrace:
        """A conversation of these items."""
        return cls(items)

    @property
    def trace(self) -> SolverTrace:
        """The conversation itself, for code that expects it inside a solver's result."""
        return self

    def append(self, entry: Any) -> None:
        """Add one item: a message object, a mapping, or the text of a user."""
        self.items.append(item(entry))

    def extend(self, entries: Iterable[Any]) -> None:
        """Add several items."""
        self.items += [item(entry) for entry in entries]

    def append_system_message(self, content: Any) -> None:
        """Add a system message."""
        self.items.append(SystemMessage(content))

    def append_user_message(self, content: Any) -> None:
        """Add a user message."""
        self.items.append(UserMessage(content))

    def add_model_response(self, response: Any) -> None:
        """Add a model's reply."""
        self.extend(response.items)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(Conversation(tuple(self.items)), name)

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name) if isinstance(name, str) else self.items[name]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


Trace = SolverTrace


class ModelResponse:
    """A model's response: its text, the items that join the conversation, and the raw answer."""

    def __init__(self, text: str | None = None, items: Iterable[Any] = (), raw_output: Any = None) -> None:
        self.text = text
        self.items = [item(entry) for entry in items]
        self.raw_output = raw_output

    @property
    def choices(self) -> list[Record]:
        return ReplyText(self.text or "").choices

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __str__(self) -> str:
        return self.text or ""


class ModelUsage(Record):
    """Tokens that were billed."""


class ModelOutput(Record):
    """A model's output; prints as its text."""

    def __str__(self) -> str:
        for choice in self.get("choices") or ():
            content = choice.get("message", {}).get("content") if isinstance(choice, Mapping) else None
            return content_text(content) if content is not None else ""
        replies = Conversation(tuple(item(entry) for entry in self.get("items") or ())).get_last_assistant_text()
        return replies or str(self.get("output") or self.get("answer") or "")


class ChatCompletionModelOutput(ModelOutput):
    """The answer of a chat model: `choices` and `usage`."""


class OpenResponsesModelOutput(ModelOutput):
    """The answer of a model as items of a conversation: `items` and `usage`."""


class RAGCompletionOutput(ModelOutput):
    """The answer of a model that looked things up: choices with `references`."""


class ChatCompletionOutputMessage(Record):
    """The message of a choice: `role` and `content`."""

    def __init__(self, content: Any = None, role: str = "assistant", **more: Any) -> None:
        super().__init__({"role": role, "content": content, **more})


class ChatCompletionChoice(Record):
    """One of the answers of a chat model: its `message` and why it ended."""

    def __init__(self, message: Any = None, index: int = 0, finish_reason: str | None = "stop", **more: Any) -> None:
        super().__init__({"index": index, "message": message, "finish_reason": finish_reason, **more})


class ChatCompletionInput(Record):
    """The input of a chat model: `messages` and parameters."""


class SystemTaskOutput(Record):
    """The result of a system task: `metrics`, each with `value` and optionally `reason`."""


class SolverOutput:
    """A solver's output for a sample: the answer and the conversation that led to it."""

    __slots__ = ("_given", "_trace", "output")

    def __init__(self, output: Any = "", trace: Any = None) -> None:
        self.output = ReplyText(output) if isinstance(output, str) else output
        self._given = trace
        self._trace: SolverTrace | None = trace if isinstance(trace, SolverTrace) else None

    @property
    def has_trace(self) -> bool:
        """Return whether the output includes a conversation."""
        return self._given is not None

    @property
    def trace(self) -> SolverTrace:
        if self._trace is None:
            reply = [{"type": "message", "role": "assistant", "content": str(self.output)}]
            self._trace = SolverTrace(reply if self._given is None else self._given)
        return self._trace

    @property
    def messages(self) -> list[Record]:
        """The items of the conversation."""
        return self.trace.items

    @property
    def raw_outputs(self) -> list[Any]:
        """The answer, alone in a list."""
        return [self.output]

    @property
    def solver_outputs(self) -> Any:
        """The outputs of a grouped solver, a list or by their names."""
        answers = json.loads(str(self.output))
        if isinstance(answers, dict):
            return {name: SolverOutput(text) for name, text in answers.items()}
        return [SolverOutput(text) for text in answers]

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


class SingleSolverOutput(SolverOutput):
    """A solver's output for a sample, given as messages and output."""

    __slots__ = ()

    def __init__(self, messages: Any = None, output: Any = "", trace: Any = None, **_unused: Any) -> None:
        super().__init__(output, trace if messages is None else messages)


class SampleScore:
    """The values and the metadata of a score; `score["field"]` looks in the values, then in the metadata."""

    __slots__ = ("metadata", "values")

    def __init__(
        self,
        scores: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        self.values = dict((values if scores is None else scores) or {})
        self.metadata = dict(metadata or {})

    @property
    def scores(self) -> dict[str, Any]:
        return self.values

    def __getitem__(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        if name in self.metadata:
            return self.metadata[name]
        if name in ("values", "scores", "metadata"):
            return getattr(self, name)
        if OTHER_NAMES.get(name) in self.metadata:
            return self.metadata[OTHER_NAMES[name]]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self.values or name in self.metadata

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            fields = ", ".join((*self.values, *self.metadata)) or "nothing"
            raise AttributeError(f"the score has no {name!r}; it has {fields}") from None

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or the default where the score has none."""
        try:
            return self[name]
        except KeyError:
            return default


PUBLIC: Mapping[str, Any] = {
    public.__name__: public
    for public in (
        RawSample,
        SampleScore,
        SolverOutput,
        SingleSolverOutput,
        SolverTrace,
        Turn,
        TraceItem,
        MessageRole,
        MessageStatus,
        InputTextContent,
        OutputTextContent,
        ChatCompletionModelOutput,
        ChatCompletionChoice,
        ChatCompletionOutputMessage,
        ChatCompletionInput,
        OpenResponsesModelOutput,
        RAGCompletionOutput,
        ModelResponse,
        ModelUsage,
        SystemTaskOutput,
        Message,
        UserMessage,
        AssistantMessage,
        SystemMessage,
        DeveloperMessage,
        FunctionCall,
        FunctionCallOutput,
    )
} | {
    "Trace": SolverTrace,
    "MessageItem": Message,
    "FunctionCallItem": FunctionCall,
    "FunctionCallOutputItem": FunctionCallOutput,
}
"""The names that snippets may import."""


def _absent(module: str, name: str) -> Any:
    """List the existing names in the ImportError that `from module import name` shows to the snippet's author."""
    if name.startswith("__"):
        raise AttributeError(name)
    suggestions = get_close_matches(name, PUBLIC, n=1)
    hint = f"; did you mean {suggestions[0]}?" if suggestions else "."
    raise ImportError(f"{module} has no {name!r}{hint} There is {', '.join(sorted(PUBLIC))}")


def install() -> None:
    """Make the classes importable under the names that snippets use."""
    for path in MODULES:
        parts = path.split(".")
        for cut in range(1, len(parts) + 1):
            name = ".".join(parts[:cut])
            module = sys.modules.setdefault(name, ModuleType(name))
            module.__path__ = []
            if cut > 1:
                setattr(sys.modules[".".join(parts[: cut - 1])], parts[cut - 1], module)
        vars(sys.modules[path]).update({**PUBLIC, "__getattr__": partial(_absent, path)})

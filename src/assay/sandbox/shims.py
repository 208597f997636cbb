"""What snippets are given and may give back, importable inside a worker under the names that existing snippets use.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from assay.types import Trace as Conversation
from assay.types import content_text

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


class RawSample(Record):
    """A row of the dataset; `sample_id` is there even when no column has that name."""

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


class Content(list[Any]):
    """The parts of a message: prints as its text, and `in` looks into that text."""

    def __str__(self) -> str:
        return content_text(list(self))

    def __contains__(self, wanted: object) -> bool:
        return wanted in str(self) if isinstance(wanted, str) else super().__contains__(wanted)


class Message(Record):
    """An item of a conversation."""

    kind: str = "message"
    role_of: str | None = None

    def __init__(self, content: Any = None, **fields: Any) -> None:
        head = {"type": self.kind} if self.role_of is None else {"type": self.kind, "role": self.role_of}
        super().__init__({**head, "content": content, **fields})
        if isinstance(self["content"], list):
            self["content"] = Content(self["content"])

    @property
    def text(self) -> str:
        return content_text(self["content"])


class UserMessage(Message):
    """What a user says."""

    role_of = "user"


class AssistantMessage(Message):
    """What a model says."""

    role_of = "assistant"


class SystemMessage(Message):
    """What the model is told before anything is said."""

    role_of = "system"


class DeveloperMessage(Message):
    """The newer name of a system message."""

    role_of = "developer"


class FunctionCall(Record):
    """A function that the model calls."""

    def __init__(self, name: str | None = None, arguments: Any = None, call_id: str | None = None, **more: Any) -> None:
        fields = {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}
        super().__init__({**fields, **more})


class FunctionCallOutput(Record):
    """What a function gave."""

    def __init__(self, call_id: str | None = None, output: Any = None, **more: Any) -> None:
        super().__init__({"type": "function_call_output", "call_id": call_id, "output": output, **more})


_BY_ROLE: dict[Any, type[Message]] = {
    made.role_of: made for made in (UserMessage, AssistantMessage, SystemMessage, DeveloperMessage)
}
_BY_TYPE = {"function_call": FunctionCall, "function_call_output": FunctionCallOutput}


def item(given: Any) -> Record:
    """An item of a conversation as an object of its class."""
    if isinstance(given, str):
        return UserMessage(given)
    if isinstance(given, Record) or not isinstance(given, Mapping):
        return given
    kind = given.get("type", "message")
    rest = {name: value for name, value in given.items() if name != "type"}
    if kind == "message":
        return _BY_ROLE.get(given.get("role"), Message)(**rest)
    return _BY_TYPE[kind](**rest) if kind in _BY_TYPE else Record(given)


class SolverTrace:
    """A conversation that can be read and added to."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self.items = [item(each) for each in items]

    def append(self, given: Any) -> None:
        """Add one item: a message object, a mapping, or the text of a user."""
        self.items.append(item(given))

    def extend(self, given: Iterable[Any]) -> None:
        """Add several items."""
        self.items += [item(each) for each in given]

    def append_system_message(self, content: Any) -> None:
        """Add what the model is told."""
        self.items.append(SystemMessage(content))

    def append_user_message(self, content: Any) -> None:
        """Add what the user says."""
        self.items.append(UserMessage(content))

    def add_model_response(self, response: Any) -> None:
        """Add what the model said."""
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
    """What a model answered: its text, the items that join the conversation, and the answer as it came."""

    def __init__(self, text: str | None = None, items: Iterable[Any] = (), raw_output: Any = None) -> None:
        self.text = text
        self.items = [item(each) for each in items]
        self.raw_output = raw_output

    @property
    def choices(self) -> list[Record]:
        return ReplyText(self.text or "").choices

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __str__(self) -> str:
        return self.text or ""


class SolverOutput:
    """What the solver made of a sample: the answer and the conversation that led to it."""

    __slots__ = ("_given", "_trace", "output")

    def __init__(self, output: Any = "", trace: Any = None) -> None:
        self.output = ReplyText(output) if isinstance(output, str) else output
        self._given = trace
        self._trace: SolverTrace | None = trace if isinstance(trace, SolverTrace) else None

    @property
    def has_trace(self) -> bool:
        """Whether a conversation was given with the output."""
        return self._given is not None

    @property
    def trace(self) -> SolverTrace:
        if self._trace is None:
            said = [{"type": "message", "role": "assistant", "content": str(self.output)}]
            self._trace = SolverTrace(said if self._given is None else self._given)
        return self._trace

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


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
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self.values or name in self.metadata

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            there = ", ".join((*self.values, *self.metadata)) or "nothing"
            raise AttributeError(f"the score has no {name!r}; it has {there}") from None

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or the default where the score has none."""
        return self.values.get(name, self.metadata.get(name, default))


_PUBLIC = (
    RawSample,
    SampleScore,
    SolverOutput,
    SolverTrace,
    ModelResponse,
    Message,
    UserMessage,
    AssistantMessage,
    SystemMessage,
    DeveloperMessage,
    FunctionCall,
    FunctionCallOutput,
)


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
        for made in _PUBLIC:
            setattr(sys.modules[path], made.__name__, made)
        sys.modules[path].Trace = SolverTrace  # type: ignore[attr-defined]

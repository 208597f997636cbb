"""The frozen values and column batches that travel between the packages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, Protocol

FailureKind = Literal[
    "parse",
    "refusal",
    "timeout",
    "http",
    "connection",
    "template",
    "missing_field",
    "abstained",
    "code",
    "budget",
    "store",
]
Purpose = Literal["score", "qa"]
ScoreValue = float | int | bool | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A step without a result; recorded with its cause and never turned into a score."""

    stage: str
    kind: FailureKind
    detail: str
    retryable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The values of one scorer for one sample; `unsettled` if a part of it failed in a way that a retry may fix."""

    scorer: str
    values: Mapping[str, ScoreValue]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    unsettled: bool = False


Outcome = Score | Failure

OTHER_NAMES: Mapping[str, str] = {
    "ground_truth_correct_choice": "ground_truth_choice",
    "ground_truth_choices": "choices",
}
"""AI GO!'s names for the metadata fields of `string_equals_mcqa`; metrics, filters and snippets may use either name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval and its method; a bound that cannot be computed is None.

    `standard_error` is that of the value in the interval, None where the method has none.
    """

    low: float | None
    high: float | None
    method: str
    level: float = 0.95
    n_effective: float | None = None
    clusters: int | None = None
    caveat: str | None = None
    standard_error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricValue:
    """A value with its uncertainty; None, with a reason, where it is undefined."""

    value: float | None
    n: int
    interval: Interval | None = None
    reason: str | None = None

    @property
    def standard_error(self) -> float | None:
        """The standard error of the value; None where its method has none."""
        return None if self.interval is None else self.interval.standard_error


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """The result of one metric: its values by name, its details, and the same for each group."""

    values: Mapping[str, MetricValue]
    detail: Mapping[str, Any] = field(default_factory=dict)
    n_excluded: int = 0
    groups: Mapping[str, Mapping[str, MetricValue]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that were billed."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


Item = Mapping[str, Any]


TEXT_PARTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
MESSAGE_PARTS = TEXT_PARTS | {"refusal", "input_image", "input_file", "input_video"}
"""The types of message parts; text parts store their content under `text`, refusals under `refusal`."""


def content_text(content: object) -> str:
    """The text of a message's content: itself, or its text parts joined."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "".join(
            part if isinstance(part, str) else str(part.get("text", "")) if isinstance(part, Mapping) else ""
            for part in content
        )
    return ""


def _is_message(item: Item, role: str | None = None) -> bool:
    return item.get("type", "message") == "message" and (role is None or item.get("role") == role)


@dataclass(frozen=True)
class Trace:
    """A conversation as a list of items: messages, function calls and their outputs."""

    items: tuple[Item, ...]

    @classmethod
    def from_items(cls, items: Iterable[Item]) -> Trace:
        """A conversation of these items."""
        return cls(tuple(items))

    def _messages(self, role: str) -> tuple[Item, ...]:
        return tuple(item for item in self.items if _is_message(item, role))

    @cached_property
    def system_messages(self) -> tuple[Item, ...]:
        return self._messages("system")

    @cached_property
    def preamble(self) -> tuple[Item, ...]:
        """Return the items before the first user or assistant message: the instructions."""
        first = next(
            (
                i
                for i, item in enumerate(self.items)
                if not _is_message(item) or item.get("role") in ("user", "assistant")
            ),
            len(self.items),
        )
        return self.items[:first]

    @cached_property
    def conversation_items(self) -> tuple[Item, ...]:
        """Return everything after the preamble."""
        return self.items[len(self.preamble) :]

    @cached_property
    def function_call_pairs(self) -> tuple[tuple[Item, Item | None], ...]:
        """Every function call with its output, None where it has none."""
        return tuple((call, self.get_function_output_for_call(call)) for call in self.function_calls)

    def get_function_output_for_call(self, call: Item | str) -> Item | None:
        """Return the output of a function call, identified by the call itself or by its id; None without one."""
        call_id = call if isinstance(call, str) else call.get("call_id")
        return next((output for output in self.function_outputs if output.get("call_id") == call_id), None)

    def get_function_call_arguments(self, call: Item | str) -> Any:
        """Return the arguments of a call, identified by itself or by its id;

        JSON is parsed, other text is returned unchanged.
        """
        if isinstance(call, str):
            named = next(
                (function_call for function_call in self.function_calls if function_call.get("call_id") == call), None
            )
            if named is None:
                raise KeyError(f"no function call has the id {call!r}")
            call = named
        arguments = call.get("arguments")
        try:
            return json.loads(arguments) if isinstance(arguments, str) else arguments
        except ValueError:
            return arguments

    def get_function_output_text(self, output: Item | str) -> str | None:
        """Return the text of an output, identified by itself, by its call or by the call's id; None without one."""
        if isinstance(output, str) or output.get("type") == "function_call":
            named = self.get_function_output_for_call(output)
            if named is None:
                return None
            output = named
        value = output.get("output")
        if isinstance(value, str) or value is None:
            return value
        return content_text(value) if isinstance(value, Sequence) else json.dumps(value)

    @cached_property
    def assistant_messages(self) -> tuple[Item, ...]:
        return self._messages("assistant")

    @cached_property
    def user_messages(self) -> tuple[Item, ...]:
        return self._messages("user")

    @cached_property
    def function_calls(self) -> tuple[Item, ...]:
        return tuple(i for i in self.items if i.get("type") == "function_call")

    @cached_property
    def function_outputs(self) -> tuple[Item, ...]:
        return tuple(i for i in self.items if i.get("type") == "function_call_output")

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """The conversation cut before every user message; what comes before the first one has none."""
        turns: list[list[Item]] = []
        for item in self.items:
            role = item.get("role") if item.get("type", "message") == "message" else None
            if role == "user" or (not turns and role != "system"):
                turns.append([])
            if turns:
                turns[-1].append(item)
        return tuple(Turn.of(Trace(tuple(items))) for items in turns)

    def get_last_user_text(self) -> str | None:
        """Return the text of the last user message, or None without one."""
        return content_text(self.user_messages[-1].get("content")) if self.user_messages else None

    def get_first_system_prompt(self) -> str | None:
        """Return the text of the first system message, or None without one."""
        prompts = self.system_messages
        return content_text(prompts[0].get("content")) if prompts else None

    def get_function_calls_by_name(self, name: str) -> tuple[Item, ...]:
        """The calls of one function, in order."""
        return tuple(call for call in self.function_calls if call.get("name") == name)

    def get_last_assistant_text(self) -> str | None:
        """Return the text of the last reply; None without a reply or if it has no content."""
        for item in reversed(self.assistant_messages):
            content = item.get("content")
            return None if content is None else content_text(content)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A user message and what came of it."""

    user_message: Item | None
    assistant_messages: tuple[Item, ...]
    function_calls: tuple[Item, ...]

    @classmethod
    def of(cls, part: Trace) -> Turn:
        return cls(
            user_message=part.user_messages[0] if part.user_messages else None,
            assistant_messages=part.assistant_messages,
            function_calls=part.function_calls,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The sampling settings of a model; None leaves a parameter to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] | None = None
    reasoning_effort: str | None = None


CallPurpose = Literal["answer", "judge", "generate"]


# not frozen: made once or more per model call, where the check on every field is felt
@dataclass(slots=True, kw_only=True)
class Request:
    """One question to a model: the whole conversation so far, and all that decides the reply.

    `repeat` is the trial; `occurrence` tells identical questions apart when the model answers at random.
    `body` replaces the messages for inputs that are not a conversation. `sample` is the row that the question is about,
    for models that are functions and look at it.
    """

    messages: tuple[Item, ...] = ()
    sampling: Sampling = Sampling()
    schema: Mapping[str, Any] | None = None
    purpose: CallPurpose = "answer"
    repeat: int = 0
    occurrence: int = 0
    body: Any = None
    sample: Mapping[str, Any] | None = None


# not frozen: made once or more per model call, where the check on every field is felt
@dataclass(slots=True, kw_only=True)
class Reply:
    """One response of a model. `items` is the reply in the form in which it joins the conversation.

    A reply without content has text None; a refusal says why. One that was paid for before is `cached`. Where the
    endpoint does not say what it bills, or says something that cannot be, the usage is the most that was possible and
    `usage_missing` is set.
    """

    text: str | None
    refusal: str | None = None
    items: tuple[Item, ...] = ()
    usage: Usage = Usage()
    usage_missing: bool = False
    finish_reason: str | None = None
    reasoning: str | None = None
    logprobs: Any = None
    latency_s: float = 0.0
    cached: bool = False
    key: bytes = b""

    @property
    def has_content(self) -> bool:
        """Return whether the reply has content: text, a refusal or a function call."""
        if self.text is not None or self.refusal is not None:
            return True
        return any(item.get("type") == "function_call" for item in self.items)


class Ask(Protocol):
    """The interface through which solvers and judges call a model: the task's own, or another one by its key."""

    async def __call__(self, request: Request, model: str | None = None) -> Reply: ...


# not frozen: made once or more per model call, where the check on every field is felt
@dataclass(slots=True, kw_only=True)
class Solution:
    """A model's answer to a sample, and the conversation that led to it."""

    answer: str
    trace: Trace


MAX_FANOUT = 1 << 12
"""The maximum number of rows that a postprocessor may produce from one sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fanned:
    """One row that a postprocessor produced from a sample and its answer."""

    sample: Mapping[str, Any]
    answer: str
    trace: Trace


# not frozen: made once or more per model call, where the check on every field is felt
@dataclass(slots=True, kw_only=True)
class PaidCall:
    """A paid reply with everything that is stored about it; `cost_usd` is None if the price is unknown."""

    key: bytes
    model: str
    purpose: CallPurpose
    request: bytes
    reply: Reply
    cost_usd: Decimal | None


class CallMemory(Protocol):
    """The cache of paid replies: the store, plus the replies still waiting to be written."""

    def get(self, key: bytes) -> Reply | None:
        """Return the reply stored under this key, or None."""

    def keep(self, call: PaidCall) -> None:
        """Keep a reply; it is durable a moment later."""


# not frozen: made once or more per model call, where the check on every field is felt
@dataclass(slots=True, kw_only=True)
class Rows:
    """A batch of samples in columns, all of the same length: what scorers work on.

    `answers` is None for a task without a solver; an answer is the text of the last reply.
    `traces` is None when every conversation is just its answer.
    """

    positions: Sequence[int]
    ids: Sequence[str]
    samples: Sequence[Mapping[str, Any]]
    answers: Sequence[str] | None = None
    traces: Sequence[Trace] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def pick(self, places: Sequence[int]) -> Rows:
        """Return the rows at these positions."""
        return Rows(
            positions=[self.positions[place] for place in places],
            ids=[self.ids[place] for place in places],
            samples=[self.samples[place] for place in places],
            answers=None if self.answers is None else [self.answers[place] for place in places],
            traces=None if self.traces is None else [self.traces[place] for place in places],
        )


# not frozen: made once or more per model call, where the check on every field is felt
@dataclass(slots=True, kw_only=True)
class Column:
    """One value per row; failed rows have a filler and an entry in `failures`, keyed by their position in the batch."""

    values: list[Any]
    failures: dict[int, Failure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumns:
    """The result of a scorer for a batch: columns of values and metadata, and the rows that failed.

    None in a column means that the row has no such value; `unsettled` rows may become better when asked for again.
    """

    values: dict[str, list[Any]]
    metadata: dict[str, list[Any]] = field(default_factory=dict)
    failures: dict[int, Failure] = field(default_factory=dict)
    unsettled: frozenset[int] = frozenset()

    def only(self, place: int) -> ScoreColumns:
        """Return the result for one row."""
        return ScoreColumns(
            values={name: [column[place]] for name, column in self.values.items()},
            metadata={name: [column[place]] for name, column in self.metadata.items()},
            failures={0: self.failures[place]} if place in self.failures else {},
            unsettled=frozenset({0}) if place in self.unsettled else frozenset(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The spending of a run on one model for one purpose; `cost_usd` is None if a price was unknown.

    `n_usage_missing` replies did not say what they cost and are charged with the most that was possible.
    """

    model: str
    purpose: CallPurpose
    n_calls: int
    usage: Usage
    cost_usd: Decimal | None
    n_usage_missing: int = 0

    def __add__(self, other: Spending) -> Spending:
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return replace(
            self,
            n_calls=self.n_calls + other.n_calls,
            usage=self.usage + other.usage,
            cost_usd=cost,
            n_usage_missing=self.n_usage_missing + other.n_usage_missing,
        )

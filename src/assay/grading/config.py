"""What a person says about judges and scores, before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

import orjson

from assay.errors import SpecError
from assay.judging.total import CannotAssess
from assay.spec.arguments import keywords_named
from assay.types import Sampling

_OURS = frozenset({"model", "messages", "stream"})
_EFFORTS = ("none", "minimal", "low", "medium", "high")


@keywords_named
@dataclass(frozen=True, slots=True)
class LLMConfig:
    """A model and how it is asked; `model` is `provider/name`, a model file, or a Python function.

    `extra_headers` are sent with every call, `extra_params` are merged into its body; both decide which replies are
    taken from the store. Neither is ever stored as it is.

    >>> "sk-1" in repr(LLMConfig("openai/gpt-5-mini", api_key="sk-1"))
    False
    """

    model: str | Callable[..., Any]
    temperature: float | None = 0.0
    max_tokens: int | None = None
    top_p: float | None = None
    timeout: float | None = None
    max_retries: int | None = None
    max_parallel_requests: int | None = None
    api_key: str | None = field(default=None, repr=False)
    api_base: str | None = None
    thinking: str | None = None
    seed: int | None = None
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra_params: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        # copies, so that a change to the caller's own cannot change a judge after it was checked
        object.__setattr__(self, "extra_headers", _headers(self.extra_headers))
        object.__setattr__(self, "extra_params", _params(self.extra_params))
        if self.thinking is not None and self.thinking not in _EFFORTS:
            raise SpecError(f'thinking is one of {", ".join(_EFFORTS)}, not "{self.thinking}"')
        for name in ("timeout", "max_parallel_requests"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise SpecError(f"{name} must be positive, not {value}")

    @property
    def endpoint(self) -> LLMConfig:
        """The config without how words are chosen: what decides where the model is reached."""
        return replace(self, temperature=None, max_tokens=None, top_p=None, seed=None, thinking=None)

    @property
    def sampling(self) -> Sampling:
        """How the model is to choose its words."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            reasoning_effort=self.thinking,
        )


def _headers(given: Mapping[str, str] | None) -> dict[str, str]:
    headers = dict(given or {})
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str) or set("\r\n\0") & set(name + value):
            raise SpecError(f"extra_headers: the header {name!r} must be one line of text")
    return headers


def _params(given: Mapping[str, Any] | None) -> dict[str, Any]:
    params = dict(given or {})
    try:
        orjson.dumps(params)
    except TypeError as error:
        raise SpecError(f"extra_params must be what JSON can say: {error}") from None
    for name in _OURS & params.keys():
        raise SpecError(f'extra_params must not hold "{name}", which assay says itself')
    return params


@keywords_named
@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """One judge of a panel: its model, its name, and how much its vote weighs."""

    llm_config: LLMConfig
    judge_id: str
    weight: float = 1.0


class CannotAssessStrategy(StrEnum):
    """What a criterion counts that nobody could judge."""

    SKIP = "skip"
    ZERO = "zero"
    PARTIAL = "partial"
    FAIL = "fail"


@keywords_named
@dataclass(frozen=True, slots=True)
class CannotAssessConfig:
    """How criteria that nobody could judge enter the score."""

    strategy: CannotAssessStrategy | CannotAssess = "skip"
    partial_credit: float = 0.5


@keywords_named
@dataclass(frozen=True, slots=True)
class FewShotConfig:
    """How many graded examples a judge sees with each criterion, and how they are chosen from the training data.

    `include_reason` also shows why people judged so, where a training item has `reasons`.
    """

    n_examples: int = 3
    balance_verdicts: bool = True
    include_reason: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.n_examples < 0:
            raise SpecError(f"n_examples must not be negative, as {self.n_examples} is")


@keywords_named
@dataclass(frozen=True, slots=True)
class EvalConfig:
    """How a batch runs; `store` is where votes are kept, so that none is paid for twice.

    `max_cost`, in US dollars, is a hard ceiling: what could not be asked any more is left for the next run. `name` and
    `tags` are for finding the run again.
    """

    show_progress: bool = False
    store: str | None = None
    experiment_name: str | None = None
    max_concurrency: int | None = None
    fresh: bool = False
    max_cost: Decimal | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()

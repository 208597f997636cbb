"""The settings of judges and scores, validated before any call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args

import orjson
from pydantic import BaseModel, ConfigDict

from assay.errors import ArgumentError, SpecError
from assay.judging.criteria import CriterionVerdict
from assay.judging.total import CannotAssess, CannotAssessStrategy
from assay.spec.arguments import keywords_named
from assay.spec.load import read_document
from assay.spec.nearest import nearest
from assay.types import Sampling

_OURS = frozenset({"model", "messages", "stream"})
_EFFORTS = ("none", "minimal", "low", "medium", "high")
CACHE_DIR = ".autorubric_cache"
"""The default of `cache_dir`, which means the project's store."""
EXPERIMENTS = "experiments"
"""The default of `experiments_dir`, which means the project's store."""


class ThinkingLevel(StrEnum):
    """The amount of thinking before an answer."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


ThinkingLevelLiteral = Literal["none", "low", "medium", "high"]
_BUDGETS: Mapping[str, int] = {"none": 0, "low": 1024, "medium": 2048, "high": 4096}


@dataclass(frozen=True, slots=True)
class ThinkingConfig:
    """The amount of thinking: a level, or a number of tokens.

    >>> ThinkingConfig("high").get_effective_budget(), ThinkingConfig(budget_tokens=500).get_effective_budget()
    (4096, 500)
    """

    level: ThinkingLevel | ThinkingLevelLiteral = ThinkingLevel.MEDIUM
    budget_tokens: int | None = None

    def __post_init__(self) -> None:
        if str(self.level) not in _EFFORTS:
            raise SpecError(f'thinking is one of {", ".join(_EFFORTS)}, not "{self.level}"')
        if self.budget_tokens is not None and self.budget_tokens < 0:
            raise SpecError(f"budget_tokens must not be negative, as {self.budget_tokens} is")

    def get_effective_budget(self) -> int:
        """Return the token budget, explicit or from the level."""
        return _BUDGETS.get(str(self.level), 512) if self.budget_tokens is None else self.budget_tokens

    def get_reasoning_effort(self) -> str:
        """The level in a word."""
        return str(self.level)

    @property
    def effort(self) -> str:
        """Return the requested level; for a token budget, the lowest level that allows as many."""
        if self.budget_tokens is None:
            return str(self.level)
        return next((level for level, most in _BUDGETS.items() if self.budget_tokens <= most), "high")


ThinkingParam = ThinkingConfig | ThinkingLevel | ThinkingLevelLiteral | int | None
"""The accepted forms of `LLMConfig.thinking`."""


@keywords_named
@dataclass(frozen=True, slots=True)
class LLMConfig:
    """A model and how it is asked; `model` is `provider/name`, a model file, or a Python function.

    `extra_headers` are sent with every call, `extra_params` are merged into its body; both decide which replies are
    taken from the store. Neither is ever stored as it is. `thinking` is a level, or a number of tokens, which becomes
    the least level that allows as many. With `cache_enabled` a bare `rubric.grade` keeps its votes in a store: that of
    the project, or `cache_dir`/assay.db. Prompts are always laid out so that providers cache the part that criteria
    share; `prompt_caching` changes nothing.

    >>> "sk-1" in repr(LLMConfig("openai/gpt-5-mini", api_key="sk-1"))
    False
    """

    model: str | Callable[..., Any]
    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    timeout: float = 60.0
    max_retries: int = 3
    retry_min_wait: float = 1.0
    retry_max_wait: float = 60.0
    max_parallel_requests: int | None = None
    cache_enabled: bool = False
    cache_dir: str | Path = CACHE_DIR
    cache_ttl: int | None = None
    api_key: str | None = field(default=None, repr=False)
    api_base: str | None = None
    thinking: ThinkingParam = None
    prompt_caching: bool = True
    seed: int | None = None
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra_params: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        # copies, so that a change to the caller's own cannot change a judge after it was checked
        object.__setattr__(self, "extra_headers", _headers(self.extra_headers))
        object.__setattr__(self, "extra_params", _params(self.extra_params))
        self.get_thinking_config()
        for name in ("timeout", "max_parallel_requests"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise SpecError(f"{name} must be positive, not {value}")
        for name in ("max_retries", "retry_min_wait", "retry_max_wait"):
            if getattr(self, name) < 0:
                raise SpecError(f"{name} must not be negative, as {getattr(self, name)} is")

    @classmethod
    def from_yaml(cls, path: str | Path) -> LLMConfig:
        """A config from a YAML file with its fields; a SpecError names what is wrong."""
        document = read_document(Path(path), strict=False)
        data = document.data
        if not isinstance(data, Mapping) or "model" not in data:
            raise SpecError(document.problem('expected a mapping with "model"', ()))
        names = [config_field.name for config_field in fields(cls)]
        unknown = [
            document.problem(f'unknown field "{name}"', (name,), nearest(str(name), names), key=True)
            for name in data
            if name not in names
        ]
        if unknown:
            raise SpecError(unknown)
        values: dict[str, Any] = {name: str(value) if isinstance(value, str) else value for name, value in data.items()}
        return cls(**values)

    def to_yaml(self, path: str | Path) -> None:
        """Write the config to a YAML file, including the key, which any reader of the file can see."""
        import yaml

        if not isinstance(self.model, str):
            raise SpecError("a Python function cannot be written to a file")
        thinking = self.get_thinking_config()
        values = {config_field.name: getattr(self, config_field.name) for config_field in fields(self)}
        values["cache_dir"] = str(self.cache_dir)
        if thinking is not None:
            values["thinking"] = thinking.budget_tokens or str(thinking.level)
        stored = {name: value for name, value in values.items() if value not in (None, {})}
        Path(path).write_text(yaml.safe_dump(stored, sort_keys=False, allow_unicode=True), encoding="utf-8")

    def get_thinking_config(self) -> ThinkingConfig | None:
        """Return the thinking settings; None leaves them to the model."""
        thinking = self.thinking
        if thinking is None or isinstance(thinking, ThinkingConfig):
            return thinking
        if isinstance(thinking, int):
            return ThinkingConfig(budget_tokens=thinking)
        return ThinkingConfig(ThinkingLevel(thinking) if thinking in _BUDGETS else thinking)

    @property
    def reasoning_effort(self) -> str | None:
        """Return the reasoning effort as a word; None leaves it to the model."""
        config = self.get_thinking_config()
        return None if config is None else config.effort

    @property
    def endpoint(self) -> LLMConfig:
        """The config without how words are chosen: what decides where the model is reached."""
        return replace(self, temperature=None, max_tokens=None, top_p=None, seed=None, thinking=None)

    @property
    def sampling(self) -> Sampling:
        """Return the sampling settings."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            reasoning_effort=self.reasoning_effort,
        )


def _headers(extra_headers: Mapping[str, str] | None) -> dict[str, str]:
    headers = dict(extra_headers or {})
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str) or set("\r\n\0") & set(name + value):
            raise SpecError(f"extra_headers: the header {name!r} must be one line of text")
    return headers


def _params(extra_params: Mapping[str, Any] | None) -> dict[str, Any]:
    params = dict(extra_params or {})
    try:
        orjson.dumps(params)
    except TypeError as error:
        raise SpecError(f"extra_params must be valid JSON: {error}") from None
    for name in _OURS & params.keys():
        raise SpecError(f'extra_params must not hold "{name}", which assay sets itself')
    return params


@keywords_named
@dataclass(frozen=True, slots=True, init=False)
class JudgeSpec:
    """One judge of a panel: its model, its name, and how much its vote weighs.

    `judge_model_config` is another name of `llm_config`.
    """

    llm_config: LLMConfig
    judge_id: str
    weight: float = 1.0

    def __init__(
        self,
        llm_config: Any = MISSING,
        judge_id: Any = MISSING,
        weight: float = 1.0,
        *,
        judge_model_config: Any = MISSING,
    ) -> None:
        if (llm_config is MISSING) == (judge_model_config is MISSING):
            raise ArgumentError("a judge needs exactly one of llm_config and judge_model_config, which mean the same")
        config = judge_model_config if llm_config is MISSING else llm_config
        if not isinstance(config, LLMConfig):
            raise ArgumentError(f"the model of a judge is an LLMConfig, not {type(config).__name__}")
        if not isinstance(judge_id, str) or not judge_id:
            raise ArgumentError('a judge needs a judge_id, such as "a"')
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
            raise SpecError(f'the weight of judge "{judge_id}" must be a positive number, not {weight}')
        object.__setattr__(self, "llm_config", config)
        object.__setattr__(self, "judge_id", judge_id)
        object.__setattr__(self, "weight", weight)

    @property
    def judge_model_config(self) -> LLMConfig:
        """The model of the judge."""
        return self.llm_config


@keywords_named
class CannotAssessConfig(BaseModel):
    """How criteria that no judge could assess enter the score."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: CannotAssessStrategy = CannotAssessStrategy.SKIP
    partial_credit: float = 0.5

    def __init__(
        self,
        strategy: CannotAssessStrategy | CannotAssess = CannotAssessStrategy.SKIP,
        partial_credit: float = 0.5,
    ) -> None:
        if strategy not in list(CannotAssessStrategy):
            names = ", ".join(CannotAssessStrategy)
            raise SpecError(f'unknown cannot_assess "{strategy}"; known: {names}')
        if not 0 <= partial_credit <= 1:
            raise SpecError(f"partial_credit must be between 0 and 1, not {partial_credit:g}")
        super().__init__(strategy=strategy, partial_credit=partial_credit)


@keywords_named
@dataclass(frozen=True, slots=True)
class FewShotConfig:
    """The number of examples that a judge sees per criterion, and how they are chosen from the training data.

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
class FewShotExample:
    """A submission with its human verdict."""

    submission: str
    verdict: CriterionVerdict
    reason: str | None = None


ProgressStyle = Literal["simple", "detailed"]


@keywords_named
@dataclass(frozen=True, slots=True)
class EvalConfig:
    """The settings of a batch; votes are kept in `store`, so that none is paid for twice.

    `experiments_dir` other than "experiments" keeps the store in that folder, as assay.db. `resume=False` asks
    everything anew, as `fresh` does. `fail_fast` raises an error when an item failed. `max_concurrent_items` limits the
    calls in flight per model, as `max_concurrency` does: items are graded criterion by criterion. `max_cost`, in US
    dollars, is a hard ceiling: what could not be asked any more is left for the next run. `name` and `tags` are for
    finding the run again.
    """

    fail_fast: bool = False
    show_progress: bool = True
    progress_style: ProgressStyle = "simple"
    max_concurrent_items: int | None = None
    experiment_name: str | None = None
    experiments_dir: Path | str = EXPERIMENTS
    resume: bool = True
    store: str | None = field(default=None, kw_only=True)
    max_concurrency: int | None = field(default=None, kw_only=True)
    fresh: bool = field(default=False, kw_only=True)
    max_cost: Decimal | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    tags: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.progress_style not in get_args(ProgressStyle):
            raise SpecError(f'progress_style is "simple" or "detailed", not "{self.progress_style}"')
        if self.max_concurrent_items is not None and self.max_concurrent_items < 1:
            raise SpecError(f"max_concurrent_items must be positive, not {self.max_concurrent_items}")

    def location(self, project: str) -> str:
        """Return the location of the store; `project` is the project's own store."""
        if self.store is not None:
            return self.store
        return project if str(self.experiments_dir) == EXPERIMENTS else str(Path(self.experiments_dir) / "assay.db")

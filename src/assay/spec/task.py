"""The shape of a task file; its dataset, solver, scorers and metrics are checked one by one elsewhere."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from assay.spec.code import EvidenceCode
from assay.spec.fields import Key, Settings


class Aggregator(Settings):
    """The rule that combines the scores of several trials; `threshold` is the lowest score that counts as a success."""

    function: Literal["mean", "median", "mode", "min", "max", "at_least_k", "pass@k", "pass^k"]
    k: int | None = Field(default=None, ge=1)
    threshold: float | None = Field(default=None, allow_inf_nan=False)
    score_name: str | None = None

    @model_validator(mode="after")
    def _k_where_it_is_used(self) -> Aggregator:
        counts = self.function in ("at_least_k", "pass@k", "pass^k")
        if counts and self.k is None:
            raise ValueError(f'{self.function} needs "k"')
        if self.threshold is not None and not counts:
            raise ValueError(
                f'{self.function} counts no successes: only at_least_k, pass@k and pass^k take "threshold"'
            )
        return self


class ScoreAggregator(Settings):
    """The aggregator of one score."""

    score_name: str
    aggregator: Aggregator


class Trials(Settings):
    """Every sample answered several times."""

    num_trials: int = Field(ge=2)
    score_aggregators: list[ScoreAggregator] | None = None


class Action(Settings):
    """The action on samples whose scores match a filter."""

    key: Key
    action: Literal["exclude_from_metrics"]
    filter: Any


class Definition(Settings):
    """The definition of a task: the source of the samples, how they are answered, and how answers are scored."""

    type: Literal["benchmark_task"] = "benchmark_task"
    dataset: dict[str, Any] | None = None
    solver: dict[str, Any] | None = None
    scorers: list[Any] = Field(default_factory=list)
    trials: Trials | None = None
    actions: list[Action] = Field(default_factory=list)
    evaluated_entity_type: Any = None


class SystemDefinition(Settings):
    """A task that gathers evidence by code instead of asking a model."""

    type: Literal["system_task"]
    compute_evidence_snippet: EvidenceCode
    evaluated_entity_type: Any = None


class Task(Settings):
    """A task file."""

    key: Key
    display_name: str
    description: str = ""
    long_description: str | None = None
    tags: list[Any] = Field(default_factory=list)
    tasks: list[Literal["chat_completion", "embeddings", "custom"]] = Field(default_factory=list)
    config_spec: list[Any] = Field(default_factory=list)
    env: list[str] = Field(default_factory=list)
    definition: Definition


class GenerationDebug(Settings):
    """The debug output of dataset generation: the rows that every synthesizer received and returned."""

    enabled: bool = True
    include_io: bool = False


class GeneratorSpecification(Settings):
    """A dataset that a generator makes."""

    dataset_generator_key: Key
    dataset_generator_config: dict[str, Any] | None = None
    num_samples: int = Field(ge=1)
    debug: bool | GenerationDebug | None = None

    @property
    def debug_options(self) -> GenerationDebug | None:
        """Return the debug options; None without any."""
        debug = GenerationDebug() if self.debug is True else self.debug
        return debug if isinstance(debug, GenerationDebug) and debug.enabled else None


class DatasetFile(Settings):
    """A dataset file: its source, or how it is generated."""

    key: Key
    display_name: str
    description: str | None = None
    long_description: str | None = None
    tags: list[Any] = Field(default_factory=list)
    source: dict[str, Any] | None = None
    generator_specification: GeneratorSpecification | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> DatasetFile:
        if (self.source is None) == (self.generator_specification is None):
            raise ValueError('a dataset has either "source" or "generator_specification"')
        return self

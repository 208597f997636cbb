"""The shapes of evaluations, their specifications, policies and run settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from assay.spec.fields import Key, Settings

Operator = Literal[">", ">=", "=", "<", "<="]
Subsampling = Literal["head", "random"]
Count = Annotated[int, Field(ge=1)]


class NumTrials(Settings):
    """The number of answers per sample."""

    num_trials: Count


class NumRuns(Settings):
    """The number of runs of a specification, including the first."""

    num_runs: int = Field(ge=2)


class RepeatedInput(Settings):
    """The specification to repeat, or all specifications of an evaluation."""

    evaluation_key: Key
    task_specification_key: Key | None = None


class Specification(Settings):
    """A task with its parameters, on a model."""

    type: Literal["standard", "repeatability"] = "standard"
    key: Key | None = None
    display_name: str | None = None
    task_key: Key | None = None
    task_config: dict[str, Any] = Field(default_factory=dict)
    model_key: str | None = None
    dataset_key: str | None = None
    task_result_log_path: str | None = None
    num_samples: Count | None = None
    subsampling: Subsampling | None = None
    trials: NumTrials | None = None
    repeatability: NumRuns | None = None
    repeatability_config: NumRuns | None = None
    inputs: list[RepeatedInput] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_what_its_type_wants(self) -> Specification:
        if self.type == "standard" and self.task_key is None:
            raise ValueError('a specification needs "task_key"')
        if self.type == "repeatability" and (self.repeatability_config is None or not self.inputs):
            raise ValueError('a specification of type repeatability needs "repeatability_config" and "inputs"')
        return self


class Evaluation(Settings):
    """Tasks to be run together; its specifications are checked one by one elsewhere."""

    key: Key
    display_name: str
    description: str | None = None
    long_description: str | None = None
    tags: list[Any] = Field(default_factory=list)
    config_spec: list[Any] = Field(default_factory=list)
    task_specifications: list[Any]
    use_cases: Any = None
    domains: Any = None
    providers: Any = None


class Demand(Settings):
    """A condition on a value: a bound, or its existence."""

    type: Literal["threshold", "exists"]
    metric: str
    operator: Operator | None = None
    threshold: float | int | None = None

    @model_validator(mode="after")
    def _has_what_its_type_wants(self) -> Demand:
        conditions = [name for name in ("operator", "threshold") if getattr(self, name) is not None]
        if self.type == "threshold" and len(conditions) < 2:
            missing = next(name for name in ("operator", "threshold") if name not in conditions)
            raise ValueError(f'a rule of type threshold needs "{missing}"')
        if self.type == "exists" and conditions:
            raise ValueError(f'a rule of type exists takes no "{conditions[0]}"')
        return self


class Scope(Settings):
    """The results that a rule applies to; unnamed parts are not restricted."""

    evaluation_keys: list[Key] | None = None
    task_specification_keys: list[Key] | None = None
    scorer_keys: list[Key] | None = None
    metric_keys: list[Key] | None = None


class PolicyRule(Settings):
    """One rule about metrics."""

    key: Key
    display_name: str | None = None
    description: str | None = None
    definition: Demand
    scope: Literal["all_latest"] | Scope = "all_latest"


class Policy(Settings):
    """A set of rules that metrics must satisfy."""

    key: Key
    display_name: str | None = None
    description: str | None = None
    rules: list[PolicyRule] = Field(min_length=1)


class RunConfig(Settings):
    """The defaults for every specification of a run."""

    num_samples: Count | None = None
    subsampling: Subsampling | None = None
    cache_policy: Literal["reuse", "update", "no-cache"] | None = None
    trials_config: NumTrials | None = None
    max_cost: float | int | None = Field(default=None, ge=0)
    max_concurrency: Count | None = None
    seed: int | None = None


class RunFile(Settings):
    """A run file; everything it defines is checked entry by entry elsewhere."""

    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    env: list[str] = Field(default_factory=list)
    model_adapters: list[Any] = Field(default_factory=list)
    models: list[Any] = Field(default_factory=list)
    dataset_generators: list[Any] = Field(default_factory=list)
    datasets: list[Any] = Field(default_factory=list)
    tasks: list[Any] = Field(default_factory=list)
    evaluation: dict[str, Any] | str | None = None
    policies: list[Any] = Field(default_factory=list)
    config: dict[str, Any] = Field(default_factory=dict)
    run_config: RunConfig = RunConfig()

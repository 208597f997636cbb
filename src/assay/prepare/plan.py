"""From a task file and options to a run that can start: everything is checked before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.datasets.open import Subsampling, fingerprint, first_rows
from assay.errors import NotGenerated, Place, Problem, SpecError
from assay.prepare.columns import (
    absent_problems,
    action_column_problems,
    answer_problems,
    column_problems,
    custom_output_problems,
    trace_problems,
)
from assay.prepare.describe import stored_models, stored_scorers, task_provenance
from assay.prepare.model_references import model_keys
from assay.prepare.no_samples import no_dataset
from assay.prepare.permission import CALL_S, CodeOptions, code_problems, require_permission
from assay.prepare.recipes import Make, Results, materialized
from assay.prepare.result_datasets import side_by_side
from assay.registry import Registry
from assay.spec import LoadedDataset, LoadedTask, load_dataset, load_task
from assay.spec.arguments import keywords_named
from assay.spec.definitions import NOTHING, Definitions
from assay.spec.source import problem_in
from assay.spec.task import Trials
from assay.store.row_address import RowLayout
from assay.store.run_spec import RunSpec, StoredDataset
from assay.summary.actions import action_problems

if TYPE_CHECKING:
    from assay.models.connect import Connection

CachePolicy = Literal["reuse", "update", "no-cache"]
"""The use of replies that were paid for earlier."""
ModelReference = str | Callable[..., Any]
ExecutorName = Literal["local", "ray"]
"""Where models are asked and rows are scored: in this process, or in actors of a Ray cluster."""
PlanKind = Literal["run", "grade", "audit"]
"""The purpose of a run; probes of an audit are steps of it, and `latest` never means one."""


@keywords_named
@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a run beside its file; a `repeat` asks the same run again.

    `name` and `tags` are for finding the run again, and so are the `evaluation` and `specification` of a run file. A
    `keyless` plan asks nothing and needs no provider's key.
    """

    model: ModelReference | None = None
    dataset: Path | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    seed: int = 0
    store: str | None = None
    fresh: bool = False
    allow_outside: bool = False
    max_cost: Decimal | None = None
    max_concurrency: int | None = None
    cache_policy: CachePolicy = "reuse"
    subsampling: Subsampling = "head"
    repeat: int = 0
    keyless: bool = False
    allow_code: bool = False
    trust_code: bool = False
    code_timeout: float = CALL_S
    kind: PlanKind = "run"
    name: str | None = None
    tags: tuple[str, ...] = ()
    evaluation: str | None = None
    specification: str | None = None
    executor: ExecutorName = "local"
    actors: int = 2

    def __post_init__(self) -> None:
        # programs may give one tag as a text, whose letters are no tags
        tags: str | Sequence[str] = self.tags
        object.__setattr__(self, "tags", (tags,) if isinstance(tags, str) else tuple(tags))
        if self.max_cost is not None:
            # programs may give any number, which counts by its digits: Decimal(0.1) is not 0.1
            object.__setattr__(self, "max_cost", Decimal(str(self.max_cost)))

    @property
    def code(self) -> CodeOptions:
        """Return the options of user code."""
        return CodeOptions(allow_code=self.allow_code, trust_code=self.trust_code, code_timeout=self.code_timeout)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A task that is ready to run, with the description of its future run."""

    loaded: LoadedTask
    dataset: LoadedDataset
    options: Options
    connections: Mapping[str | None, Connection]
    spec: RunSpec
    references: Mapping[str | None, ModelReference] = field(default_factory=dict)
    """By which names other processes can connect to the models; not set for models that are objects of this one."""
    definitions: Definitions = NOTHING

    @cached_property
    def identity(self) -> str:
        """The digest of all that decides the result."""
        return self.spec.identity()

    @property
    def model_name(self) -> str | None:
        """Return the name of the model that answers, in its usual form."""
        return self.connections[None].name if None in self.connections else None

    @property
    def is_live(self) -> bool:
        """Return whether the task calls a model, to answer or to judge."""
        solver = self.loaded.solver
        return (solver is not None and solver.kind.asks_model) or any(s.kind.asks_model for s in self.loaded.scorers)

    @property
    def trials(self) -> Trials | None:
        """Return the number of answers per sample and how their scores are combined; None for one."""
        return self.loaded.task.definition.trials

    @property
    def layout(self) -> RowLayout:
        """Return the numbering of the run's rows."""
        return RowLayout(1 if self.trials is None else self.trials.num_trials, self.loaded.fan_out)

    @property
    def jail(self) -> Path | None:
        """The folder that data files may not leave; None when they may."""
        return _jail(self.loaded, self.options)


def _jail(loaded: LoadedTask, options: Options) -> Path | None:
    """Return the folder that data files must stay in; a file named on the command line may be anywhere."""
    return None if options.allow_outside or options.dataset is not None else loaded.document.root


def inspect_task(
    path: Path, registry: Registry, options: Options, *, strict: bool
) -> tuple[LoadedTask, LoadedDataset | None, list[Problem]]:
    """Load a task and its dataset and find everything wrong with them, columns included."""
    loaded = load_task(path, registry, config=options.config, strict=strict, allow_outside=options.allow_outside)
    dataset, problems = inspect_loaded(loaded, registry, options)
    return loaded, dataset, problems


def inspect_loaded(
    loaded: LoadedTask,
    registry: Registry,
    options: Options,
    results: Results | None = None,
    make: Make | None = None,
) -> tuple[LoadedDataset | None, list[Problem]]:
    """The dataset of a task, and everything wrong with both.

    `results` gives those of other specifications; `make` generates a dataset that is not there yet, which is passed
    over without it.
    """
    problems = [*loaded.problems, *absent_problems(loaded), *answer_problems(loaded), *action_problems(loaded)]
    problems += code_problems(loaded)
    dataset = None
    try:
        dataset = _dataset(loaded, registry, options, results, make)
        if dataset is not None:
            rows = first_rows(dataset.kind, dataset.settings, dataset.folder, root=_jail(loaded, options))
            if not rows:
                file = getattr(dataset.settings, "file_path", None)
                message = f"the dataset{'' if file is None else f' {file}'} has no samples"
                message += " after its filters" if dataset.settings.filters else ""
                problems.append(problem_in(loaded.document.sources, message, dataset.place))
            problems += [
                *column_problems(loaded, rows),
                *action_column_problems(loaded, rows),
                *trace_problems(loaded, rows),
            ]
    except SpecError as error:
        problems += error.problems
    return dataset, sorted(dict.fromkeys(problems), key=lambda problem: problem.place or Place(""))


def _dataset(
    loaded: LoadedTask, registry: Registry, options: Options, results: Results | None, make: Make | None
) -> LoadedDataset | None:
    """Return the source of the samples: the command line, several datasets, a result, or the task's own dataset."""
    if options.dataset is not None:
        dataset = load_dataset(options.dataset, registry, allow_outside=options.allow_outside)
        return materialized(dataset, registry, results, make)
    if loaded.datasets:
        parts = [(name, materialized(part, registry, results, make)) for name, part in loaded.datasets]
        ready = [(name, part) for name, part in parts if part is not None]
        return side_by_side(ready, root=_jail(loaded, options)) if len(ready) == len(parts) else None
    if loaded.dataset is not None:
        return materialized(loaded.dataset, registry, results, make)
    if loaded.result_of is not None and results is not None:
        return results(loaded.result_of)
    if loaded.result_of is not None:
        message = f'the dataset is the result of the specification "{loaded.result_of}": run both from a run file'
        raise SpecError(loaded.document.problem(message, ("definition", "dataset")))
    return None


def prepare(path: Path, registry: Registry, options: Options, make: Make | None = None) -> Plan:
    """Prepare a run, or raise a SpecError with all problems; `make` generates a missing dataset."""
    loaded = load_task(path, registry, config=options.config, strict=True, allow_outside=options.allow_outside)
    return prepare_loaded(loaded, registry, options, make=make)


def prepare_loaded(
    loaded: LoadedTask,
    registry: Registry,
    options: Options,
    *,
    definitions: Definitions = NOTHING,
    results: Results | None = None,
    make: Make | None = None,
    connections: Mapping[str | None, Connection] | None = None,
) -> Plan:
    """Prepare a run of a loaded task; its models are looked up in `definitions` first.

    `connections` holds the models of a task whose judges are made in Python, by the keys that its settings name.
    """
    dataset, problems = inspect_loaded(loaded, registry, options, results, make)
    if problems:
        raise SpecError(problems)
    if loaded.evidence is not None:
        if options.dataset is not None:
            raise SpecError(f"--dataset {options.dataset}: a system task has no samples, so it would have no effect")
        dataset = no_dataset(loaded)
    if dataset is None and (loaded.dataset is not None or loaded.datasets):
        raise NotGenerated("the dataset is not generated yet: run `assay generate FILE` or `assay run`")
    if dataset is None:
        raise SpecError(f'the task "{loaded.task.key}" names no dataset: add one, or give --dataset FILE')
    references: Mapping[str | None, ModelReference] = {}
    if connections is None:
        references = _references(loaded, options)
        connections = _connections(loaded, options, definitions, references)
    evaluated = connections.get(None)
    if evaluated is not None and evaluated.custom_output:
        wrong = list(custom_output_problems(loaded, evaluated.name))
        if wrong:
            raise SpecError(wrong)
    require_permission(loaded, options.code, connections.values())
    definition = loaded.resolved.get("definition") or {}
    spec = RunSpec(
        kind=options.kind,
        task=loaded.task.key,
        display_name=loaded.task.display_name,
        name=options.name,
        tags=options.tags,
        evaluation=options.evaluation,
        specification=options.specification,
        definition=definition,
        config=dict(loaded.config),
        dataset=StoredDataset(
            source=dataset.written,
            sha256=fingerprint(dataset.kind, dataset.settings, dataset.folder, root=_jail(loaded, options)),
            families=dataset.families,
        ),
        models=stored_models(connections),
        scorers=stored_scorers(loaded),
        trials=loaded.task.definition.trials,
        fans_out=loaded.fan_out > 1,
        actions=tuple(loaded.task.definition.actions),
        limit=options.limit,
        subsampling=options.subsampling,
        seed=options.seed,
        repeat=options.repeat,
        provenance=task_provenance(loaded),
    )
    return Plan(
        loaded=loaded,
        dataset=dataset,
        options=options,
        connections=connections,
        spec=spec,
        references=references,
        definitions=definitions,
    )


def _references(loaded: LoadedTask, options: Options) -> dict[str | None, ModelReference]:
    """Return how the models that the task will call are named, by the keys that its settings use."""
    solver = loaded.solver
    references: dict[str | None, ModelReference] = {key: key for key in model_keys(loaded)}
    if solver is not None and solver.needs_model:
        if options.model is None:
            message = f"{solver.kind.name} asks a model: name it with --model, such as --model openai/gpt-5-mini"
            raise SpecError(problem_in(loaded.document.sources, message, solver.place))
        references[None] = options.model
    elif options.model is not None:
        raise SpecError(f"--model {options.model}: the task asks no model to answer, so it would have no effect")
    return references


def _connections(
    loaded: LoadedTask, options: Options, definitions: Definitions, references: Mapping[str | None, ModelReference]
) -> dict[str | None, Connection]:
    """Connect the models that the task will call, checked by name; no call is made."""
    if not references:
        return {}
    from assay.models.connect import connect
    from assay.models.presets import keyless

    root, environment = loaded.document.root, loaded.document.environment
    readable = keyless(environment) if options.keyless else environment
    connections: dict[ModelReference, Connection] = {}
    for reference in references.values():
        # keys that name the same model share one connection
        if reference not in connections:
            connections[reference] = connect(reference, root=root, environment=readable, definitions=definitions)
    return {key: connections[reference] for key, reference in references.items()}

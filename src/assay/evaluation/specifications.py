"""From a run file to specifications that can start: all are checked before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.datasets.paths import stay_inside
from assay.errors import NotGenerated, Problem, SpecError
from assay.prepare.model_references import model_problems, unknown_model
from assay.prepare.plan import ModelReference, Options, Plan, inspect_loaded, prepare_loaded
from assay.prepare.recipes import Make, Results
from assay.registry import Registry
from assay.spec import LoadedTask
from assay.spec.fields import Located
from assay.spec.nearest import listing, nearest
from assay.spec.run_file import LoadedRun, LoadedSpecification, find_task, load_run, with_trials
from assay.spec.task_file import task_of

if TYPE_CHECKING:
    from assay.spec.evaluation import RepeatedInput, RunConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecificationStep:
    """A specification with its task loaded; `plan` is None while it waits for a result or for rows to be generated.

    `runs` is how often it is run; `repeats_of` is the specification that it runs again to see how much it varies. `log`
    is a file that holds its result already.
    """

    key: str
    specification: LoadedSpecification
    loaded: LoadedTask
    options: Options
    plan: Plan | None
    runs: int = 1
    repeats_of: str | None = None
    log: Path | None = None

    @property
    def after(self) -> str | None:
        """The specification whose result this one reads."""
        return self.loaded.result_of

    @property
    def repeats(self) -> range:
        """Return the repeat indices of its runs; a specification that repeats another reuses its first run."""
        return range(1 if self.repeats_of is not None else 0, self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An evaluation that is ready to run, its steps in an order in which each finds what it reads."""

    run: LoadedRun
    steps: tuple[SpecificationStep, ...]
    options: Options
    registry: Registry
    make: Make | None = None


Choose = Callable[[Sequence[SpecificationStep]], list[SpecificationStep]]
"""Takes the part of an evaluation's steps that is to be run."""


def prepare_run(
    path: Path,
    registry: Registry,
    options: Options,
    overrides: frozenset[str],
    make: Make | None = None,
    choose: Choose = list,
) -> Prepared:
    """Prepare an evaluation, or raise a SpecError with all problems, including those of parts that are not run now.

    `overrides` names the options that were set by hand; `make` generates datasets that are not there yet; `choose`
    takes the part that is to be run.
    """
    run = load_run(path, config=options.config, strict=True, allow_outside=options.allow_outside)
    if run.evaluation is None and not run.problems:
        raise SpecError(f'{path.name} only defines things: add "evaluation" to run something')
    if options.dataset is not None:
        raise SpecError("--dataset does not go with an evaluation: its tasks name their datasets")
    options = _with_run_config(options, run.run_config, overrides)
    steps, problems = inspect_steps(run, registry, options, overrides)
    if options.model is not None and not any(step.options.model is options.model for step in steps):
        message = f"--model {options.model}: no specification is without a model of its own, so it would have no effect"
        problems.append(Problem(message=message))
    if run.problems or problems:
        raise SpecError(dict.fromkeys([*run.problems, *problems]))
    run = replace(run, notes=(*run.notes, *log_notes(steps)))
    prepared = Prepared(run=run, steps=(), options=options, registry=registry, make=make)
    return replace(prepared, steps=_planned(_in_order(choose(steps)), prepared))


def _planned(steps: Sequence[SpecificationStep], prepared: Prepared) -> tuple[SpecificationStep, ...]:
    """The steps with their plans, but for those that wait for a result; all that is wrong comes at once."""
    planned: list[SpecificationStep] = []
    problems: list[Problem] = []
    for step in steps:
        try:
            waits = step.after is not None or step.log is not None
            planned.append(step if waits else replace(step, plan=prepare_step(step, prepared)))
        except NotGenerated:
            planned.append(step)
        except SpecError as error:
            problems += _at(step.specification, error, "model_key")
    if problems:
        raise SpecError(dict.fromkeys(problems))
    return tuple(planned)


def prepare_step(step: SpecificationStep, prepared: Prepared, results: Results | None = None) -> Plan:
    """The plan of one specification."""
    return prepare_loaded(
        step.loaded,
        prepared.registry,
        step.options,
        definitions=prepared.run.definitions,
        results=results,
        make=prepared.make,
    )


def plan_again(plan: Plan, repeat: int) -> Plan:
    """Return a copy of the plan whose calls reuse no reply of another repeat, so that the answers are new."""
    if repeat == 0:
        return plan
    name = None if plan.spec.name is None else f"{plan.spec.name}#{repeat + 1}"
    options = replace(plan.options, repeat=repeat, name=name)
    return replace(plan, options=options, spec=replace(plan.spec.repeated(repeat), name=name))


def _with_run_config(options: Options, config: RunConfig, overrides: frozenset[str]) -> Options:
    """Combine the options with the run file's defaults, which apply where the command line is silent."""
    configured: dict[str, Any] = {
        "limit": config.num_samples,
        "subsampling": config.subsampling,
        "cache_policy": config.cache_policy,
        "max_cost": None if config.max_cost is None else Decimal(str(config.max_cost)),
        "max_concurrency": config.max_concurrency,
        "seed": config.seed,
    }
    return replace(
        options, **{name: value for name, value in configured.items() if value is not None and name not in overrides}
    )


def inspect_steps(
    run: LoadedRun, registry: Registry, options: Options, overrides: frozenset[str] = frozenset()
) -> tuple[list[SpecificationStep], list[Problem]]:
    """Every specification with its task loaded, and everything wrong with any of them."""
    steps: list[SpecificationStep] = []
    problems: list[Problem] = []
    for specification in run.specifications:
        if specification.settings.type == "repeatability":
            continue
        try:
            step = _step(specification, run, registry, options, overrides)
        except SpecError as error:
            problems += _at(specification, error, "task_key")
            continue
        steps.append(step)
        problems += [*step.loaded.problems, *_repeat_problems(step)]
        if step.after is None and not step.loaded.problems:
            problems += inspect_loaded(step.loaded, registry, step.options)[1]
    problems += scope_problems(run)
    if not problems:
        problems += _dependency_problems(steps)
        for specification in run.specifications:
            if specification.settings.type == "repeatability":
                added, wrong = _repeated(specification, run, steps)
                steps += added
                problems += wrong
    return steps, list(dict.fromkeys(problems))


def _step(
    specification: LoadedSpecification, run: LoadedRun, registry: Registry, options: Options, overrides: frozenset[str]
) -> SpecificationStep:
    settings = specification.settings
    assert settings.task_key is not None
    document = find_task(settings.task_key, run.document.root, run.reading)
    trials = settings.trials or run.run_config.trials_config
    if trials is not None:
        document = with_trials(document, trials.num_trials)
    loaded = task_of(document, registry, settings.task_config, run.reading)
    step_options = replace(
        options,
        config=settings.task_config,
        model=_model(settings.model_key, loaded, options),
        limit=options.limit if "limit" in overrides else settings.num_samples or options.limit,
        subsampling=settings.subsampling or options.subsampling,
        name=None if options.name is None else f"{options.name}/{specification.key}",
        evaluation=None if run.evaluation is None else run.evaluation.key,
        specification=specification.key,
    )
    runs = 1 if settings.repeatability is None else settings.repeatability.num_runs
    return SpecificationStep(
        key=specification.key,
        specification=specification,
        loaded=loaded,
        options=step_options,
        plan=None,
        runs=runs,
        log=_log(specification, run),
    )


def _log(specification: LoadedSpecification, run: LoadedRun) -> Path | None:
    """Return the log with the result of a specification, if it names an existing one; paths start at the run file."""
    named = specification.settings.task_result_log_path
    if named is None:
        return None
    path = run.document.path.parent / named
    place = specification.document.spot((*specification.steps, "task_result_log_path")).value
    stay_inside(path, None if run.reading.allow_outside else run.document.root, Located(named, place))
    return path if path.is_file() else None


def log_notes(steps: Sequence[SpecificationStep]) -> list[Problem]:
    """Note every specification whose log file does not exist, so that its task is run instead."""
    return [
        step.specification.problem(
            f'there is no log "{step.specification.settings.task_result_log_path}": the task is run',
            "task_result_log_path",
        )
        for step in steps
        if step.specification.settings.task_result_log_path is not None and step.log is None and not step.repeats_of
    ]


def _model(key: str | None, loaded: LoadedTask, options: Options) -> ModelReference | None:
    """The model of a specification, else the one of the command line; none for a task that asks none."""
    asks = loaded.solver is not None and loaded.solver.needs_model
    return (key if key is not None else options.model) if asks else None


def step_model_problems(step: SpecificationStep, run: LoadedRun) -> list[Problem]:
    """Report the problems of the models that a specification and its task name, without connecting."""
    problems = list(model_problems(step.loaded, run.definitions))
    if isinstance(step.options.model, str):
        wrong = unknown_model(str(step.options.model), step.loaded, run.definitions)
        problems += _at(step.specification, SpecError(wrong), "model_key") if wrong else []
    return problems


def scope_problems(run: LoadedRun) -> list[Problem]:
    """Keys in the scopes of policies that this run does not have: such a rule would look at nothing."""
    if run.evaluation is None:
        return []
    keys_by_scope = {
        "evaluation_keys": [run.evaluation.key],
        "task_specification_keys": [specification.key for specification in run.specifications],
    }
    problems = []
    for i, policy in enumerate(run.policies):
        for j, rule in enumerate(policy.rules):
            for name, keys in keys_by_scope.items():
                scope_keys = getattr(rule.scope, name, None) or ()
                # a policy may be shared by run files that have other specifications beside these
                if scope_keys and not set(scope_keys) & set(keys):
                    steps = ("policies", i, "rules", j, "scope", name)
                    message = f'no result has the key "{scope_keys[0]}"; known: {listing(keys)}'
                    problems.append(run.document.problem(message, steps, nearest(scope_keys[0], keys)))
    return problems


def _repeat_problems(step: SpecificationStep) -> list[Problem]:
    """Recorded answers are the same each time: repeating them would show nothing."""
    if step.runs == 1 or any(
        part.kind.asks_model for part in (step.loaded.solver, *step.loaded.scorers) if part is not None
    ):
        return []
    return [step.specification.problem("repeatability asks again, but this task asks no model", "repeatability")]


def _at(specification: LoadedSpecification, error: SpecError, field: str) -> list[Problem]:
    """Locate problems without a location at the field that led to them."""
    return [
        problem
        if problem.place
        else replace(specification.problem(problem.message, field), suggestion=problem.suggestion)
        for problem in error.problems
    ]


def _dependency_problems(steps: Sequence[SpecificationStep]) -> list[Problem]:
    """Report a dependency on a result that no specification produces, or on itself."""
    by_key = {step.key: step for step in steps}
    problems = []
    for step in steps:
        if step.after is None:
            continue
        place = ("definition", "dataset")
        if step.after not in by_key:
            closest = nearest(step.after, by_key)
            alternatives = "" if closest else f"; known: {listing(by_key)}"
            message = f'there is no specification "{step.after}" whose result could be the dataset{alternatives}'
            problems.append(step.loaded.document.problem(message, place, closest))
        elif _waits_for_itself(step, by_key):
            message = f'"{step.key}" waits for its own result through "{step.after}"'
            problems.append(step.loaded.document.problem(message, place))
    return problems


def _waits_for_itself(step: SpecificationStep, by_key: Mapping[str, SpecificationStep]) -> bool:
    seen = {step.key}
    after = step.after
    while after is not None and after in by_key:
        if after in seen:
            return True
        seen.add(after)
        after = by_key[after].after
    return False


def _repeated(
    specification: LoadedSpecification, run: LoadedRun, steps: Sequence[SpecificationStep]
) -> tuple[list[SpecificationStep], list[Problem]]:
    """The specifications that one of type repeatability runs again."""
    settings = specification.settings
    assert settings.repeatability_config is not None
    targets: list[SpecificationStep] = []
    problems: list[Problem] = []
    for target in settings.inputs:
        wrong, suggestion = _unknown_input(target, run, steps)
        if wrong is not None:
            problems.append(specification.problem(wrong, "inputs", suggestion=suggestion))
            continue
        targets += [step for step in steps if target.task_specification_key in (None, step.key) and not step.repeats_of]
    several = len(targets) > 1
    repeated = []
    for step in targets:
        key = f"{specification.key}_{step.key}" if several else specification.key
        # the name that the person gave stands before the slash
        name = None if step.options.name is None else f"{step.options.name.removesuffix(step.key)}{key}"
        options = replace(step.options, name=name, specification=key)
        limit, subsampling = settings.num_samples or options.limit, settings.subsampling or options.subsampling
        # other samples than those of the first run cannot be compared with it: all runs are its own then
        is_same = (limit, subsampling) == (options.limit, options.subsampling)
        repeat = replace(
            step,
            key=key,
            specification=specification,
            options=replace(options, limit=limit, subsampling=subsampling),
            runs=settings.repeatability_config.num_runs,
            repeats_of=step.key if is_same else None,
            log=None,
        )
        repeated.append(repeat)
    return repeated, problems


def _unknown_input(
    target: RepeatedInput, run: LoadedRun, steps: Sequence[SpecificationStep]
) -> tuple[str, str | None] | tuple[None, None]:
    """Report an unknown specification to repeat, with the nearest name."""
    assert run.evaluation is not None
    key = run.evaluation.key
    if target.evaluation_key != key:
        message = f'only this evaluation, "{key}", can be repeated, not "{target.evaluation_key}"'
        return message, nearest(target.evaluation_key, [key])
    keys = [step.key for step in steps]
    if target.task_specification_key is not None and target.task_specification_key not in keys:
        message = f'there is no specification "{target.task_specification_key}"; known: {listing(keys)}'
        return message, nearest(target.task_specification_key, keys)
    return None, None


def _in_order(steps: Sequence[SpecificationStep]) -> list[SpecificationStep]:
    """The steps so that each comes after the one whose result it reads; otherwise as written."""
    by_key = {step.key: step for step in steps}
    ordered: dict[str, SpecificationStep] = {}

    def place(step: SpecificationStep) -> None:
        if step.key in ordered:
            return
        if step.after is not None:
            place(by_key[step.after])
        ordered[step.key] = step

    for step in steps:
        place(step)
    return list(ordered.values())

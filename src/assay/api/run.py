"""Running and checking files: what the command line and Python programs call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from assay.api.result import Result
from assay.builtin import registry
from assay.datasets.open import Subsampling
from assay.errors import Problem, SpecError
from assay.prepare.plan import CachePolicy, ExecutorName, Options, prepare
from assay.prepare.recipes import Make, Recipe
from assay.registry import Registry
from assay.results.evaluation import EvaluationRunReport
from assay.results.rules import MAX_FAILURES, FailureMode, FailureRule
from assay.results.run import RunReport
from assay.runner.progress import Listener, Progress, silent
from assay.runner.session import arun_task, run_task
from assay.spec import arguments
from assay.spec.environment import environment_of
from assay.spec.generator import GeneratedDataset
from assay.spec.nearest import listing, nearest
from assay.spec.project import project_folder
from assay.store.runs import LATEST, find, newest_finished
from assay.store.store import Store, default_location, open_for_planning, open_store

if TYPE_CHECKING:
    from assay.generation.generate import Generated
    from assay.models.ping import PingResult
    from assay.results.estimate import Estimate
    from assay.runner.rescore import Rescored


__all__ = [
    "Listener",
    "Options",
    "Progress",
    "arun",
    "check",
    "failed_share",
    "generate_file",
    "is_evaluation",
    "notes_on",
    "ping_model",
    "plan_evaluation",
    "plan_file",
    "rescore_run",
    "run",
    "run_evaluation",
    "run_evaluation_file",
    "run_file",
    "silent",
]


_INTERNAL = ("repeat", "keyless", "kind", "evaluation", "specification")
OPTION_NAMES = tuple(field.name for field in fields(Options) if field.name not in _INTERNAL)
"""The names of the run options that a program may set."""
_EXPECTED = {
    "path": arguments.PATH,
    "paths": arguments.PATH,
    "dataset": arguments.PATH,
    "config": arguments.MAPPING,
    "limit": arguments.COUNT,
    "store": arguments.TEXT,
    "model": arguments.MODEL,
    "seed": arguments.WHOLE,
    "fresh": arguments.FLAG,
    "allow_outside": arguments.FLAG,
    "max_cost": arguments.NOT_NEGATIVE,
    "max_concurrency": arguments.COUNT,
    "cache_policy": arguments.one_of(get_args(CachePolicy)),
    "subsampling": arguments.one_of(get_args(Subsampling)),
    "allow_code": arguments.FLAG,
    "trust_code": arguments.FLAG,
    "code_timeout": arguments.POSITIVE,
    "executor": arguments.one_of(get_args(ExecutorName)),
    "actors": arguments.COUNT,
    "name": arguments.TEXT,
    "tags": arguments.TEXT_OR_TEXTS,
    "failures": arguments.one_of(get_args(FailureMode)),
    "max_failures": arguments.SHARE,
}


def run_file(path: Path, options: Options, *, listener: Listener = silent) -> tuple[RunReport, tuple[Problem, ...]]:
    """Run a task file; return its report and the notes from loading it."""
    notes_made: list[Problem] = []
    plan = prepare(path, registry(), options, _maker(options, listener, notes_made))
    store = open_store(options.store or default_location(plan.loaded.document.root))
    try:
        report = run_task(plan, store, listener=listener)
        changed = [note for connection in plan.connections.values() for note in connection.notes]
        return report, (*plan.loaded.notes, *notes_made, *(Problem(message=note) for note in dict.fromkeys(changed)))
    finally:
        store.close()


def _maker(options: Options, listener: Listener = silent, notes: list[Problem] | None = None) -> Make:
    """Return the function that generates a missing dataset; it appends its notes to `notes`."""

    def make(recipe: Recipe) -> None:
        from assay.generation.generate import generate
        from assay.prepare.recipes import collision_notes

        if notes is not None:
            notes.extend(collision_notes(recipe))
        generate(recipe, options, listener=listener)

    return make


def generate_file(
    path: Path, options: Options, *, key: str | None = None, listener: Listener = silent
) -> tuple[Recipe, Generated | None]:
    """Generate the rows of a dataset; return what they depend on and the new rows, None if they were up to date."""
    from assay.generation.generate import generate
    from assay.prepare.recipes import recipe

    kinds = registry()
    dataset = _generated_dataset(path, key, kinds)
    plan = recipe(dataset, kinds, None, _maker(options, listener))
    if plan.is_made and not options.fresh:
        return plan, None
    return plan, generate(plan, options, listener=listener)


def notes_on(recipe: Recipe) -> list[Problem]:
    """Return notes on the rows of a generated dataset, such as colliding columns."""
    from assay.prepare.recipes import collision_notes

    return collision_notes(recipe)


def _generated_dataset(path: Path, key: str | None, kinds: Registry) -> GeneratedDataset:
    """The generated dataset of a dataset file, or of a run file by its key."""
    from assay.spec.dataset import dataset_of, load_dataset
    from assay.spec.run_file import load_run

    if is_evaluation(path):
        run = load_run(path, strict=True)
        definitions = {name: run.definitions.find("dataset", name) for name in run.definitions.keys("dataset")}
        keys = [
            name
            for name, definition in definitions.items()
            if definition is not None and "generator_specification" in definition.data
        ]
        name = key if key is not None else keys[0] if len(keys) == 1 else None
        document = run.definitions.find("dataset", name) if name is not None else None
        if document is None:
            unknown_key = "" if name is None else f'no dataset "{name}" is defined in {path.name}: '
            message = f"{unknown_key}its generated datasets are {listing(keys)}; name one with --dataset KEY"
            raise SpecError(Problem(message=message, suggestion=nearest(name or "", keys)))
        dataset = dataset_of(document, kinds, run.reading)
    else:
        dataset = load_dataset(path, kinds)
    if not isinstance(dataset, GeneratedDataset):
        raise SpecError(f'the dataset "{dataset.key}" is not generated: it has a source of its own')
    return dataset


def is_evaluation(path: Path) -> bool:
    """Return whether a file contains specifications to run together: an evaluation or a run file."""
    from assay.spec.kind import kind_of
    from assay.spec.load import read_document

    return kind_of(read_document(path, strict=False, allow_outside=True).data) in ("evaluation", "run")


def run_evaluation_file(
    path: Path,
    options: Options,
    *,
    given: frozenset[str] = frozenset(),
    listener: Listener = silent,
    failures: FailureRule | None = None,
    only: Sequence[str] = (),
    shard: tuple[int, int] = (1, 1),
) -> tuple[EvaluationRunReport, tuple[Problem, ...]]:
    """Run the specifications of a run file; options named in `given` override those of the file.

    `failures` says how failed samples count in its policies. `only` names the specifications to run; `shard` (2, 8)
    means the second of eight parts. Policies over all results are judged only when all are run.
    """
    from assay.evaluation.part import Part, steps_of
    from assay.evaluation.run import Evaluating
    from assay.evaluation.specifications import prepare_run

    generated_notes: list[Problem] = []
    part = Part(tuple(only), *shard)
    make = _maker(options, listener, generated_notes)
    prepared = prepare_run(path, registry(), options, given, make, lambda steps: steps_of(part, steps))
    store = open_store(options.store or default_location(prepared.run.document.root))
    try:
        report = Evaluating(prepared, store, listener, failures, is_whole=part.is_whole).run()
    finally:
        store.close()
    notes = (*prepared.run.notes, *(note for step in prepared.steps for note in step.loaded.notes))
    return report, tuple(dict.fromkeys((*notes, *generated_notes)))


@arguments.arguments_checked(_EXPECTED, options=OPTION_NAMES)
def run_evaluation(
    path: str | Path,
    *,
    config: Mapping[str, Any] | None = None,
    failures: FailureMode = "limit",
    max_failures: float = MAX_FAILURES,
    **more: Any,
) -> EvaluationRunReport:
    """Run an evaluation or a run file and return all its metrics, like `assay run`.

    Policies treat failed samples as `failures` says: a rule fails if more than `max_failures` of its samples failed
    ("limit"), must hold with all of them at the worst end of their range ("worst"), or leaves them out ("ignore").

    More options by name: `model`, `limit`, `store`, `seed`, `fresh`, `allow_outside`, `max_cost`, `max_concurrency`,
    `cache_policy`, `allow_code`, `trust_code`, `code_timeout`; each beats what the file says. `name` and `tags` are for
    finding the runs again: each is called `name/specification`.
    """
    rule = FailureRule(mode=failures, max_share=max_failures)
    options = Options(config=config or {}, **more)
    return run_evaluation_file(Path(path), options, given=frozenset(more), failures=rule)[0]


@arguments.arguments_checked(_EXPECTED, options=OPTION_NAMES)
def run(
    path: str | Path,
    *,
    dataset: str | Path | None = None,
    config: Mapping[str, Any] | None = None,
    limit: int | None = None,
    store: str | None = None,
    **more: Any,
) -> Result:
    """Run a task file and return its metrics, like `assay run`. Works in notebooks and async programs too.

    `name` and `tags` are for finding the run again; they do not change it.

    More options by name: `model`, `seed`, `fresh`, `allow_outside`, `max_cost`, `max_concurrency`, `cache_policy`,
    `allow_code`, `trust_code`, `code_timeout`.
    """
    options = _options(dataset, config, limit, store, more)
    plan = prepare(Path(path), registry(), options, _maker(options))
    location = options.store or default_location(plan.loaded.document.root)
    opened = open_store(location)
    try:
        return Result(run_task(plan, opened), location)
    finally:
        opened.close()


@arguments.arguments_checked(_EXPECTED, options=OPTION_NAMES)
async def arun(
    path: str | Path,
    *,
    dataset: str | Path | None = None,
    config: Mapping[str, Any] | None = None,
    limit: int | None = None,
    store: str | None = None,
    **more: Any,
) -> Result:
    """Run a task file in the caller's event loop and return its metrics; takes the options of `run`.

    Cancelling it stops the run: what was answered is committed, and the same call goes on from there.
    """
    options = _options(dataset, config, limit, store, more)
    # reading files takes a while, and generating a dataset longer: other coroutines go on meanwhile
    plan = await asyncio.to_thread(prepare, Path(path), registry(), options, _maker(options))
    location = options.store or default_location(plan.loaded.document.root)
    opened = open_store(location)
    try:
        return Result(await arun_task(plan, opened), location)
    finally:
        opened.close()


def _options(
    dataset: str | Path | None,
    config: Mapping[str, Any] | None,
    limit: int | None,
    store: str | None,
    more: Mapping[str, Any],
) -> Options:
    path = None if dataset is None else Path(dataset)
    return Options(dataset=path, config=config or {}, limit=limit, store=store, **more)


@arguments.arguments_checked(_EXPECTED)
def check(*paths: str | Path, config: Mapping[str, Any] | None = None) -> tuple[Problem, ...]:
    """Return all problems in task files; an empty list if there are none. The same as `assay check`."""
    from assay.api.check import check_files

    return tuple(check_files([Path(path) for path in paths], registry(), config=config).problems)


def plan_file(path: Path, options: Options) -> Estimate:
    """Estimate the calls and cost of a task file without calling a model."""
    from assay.runner.estimate import estimate_run

    plan = prepare(path, registry(), _only_planned(options))
    opened = open_for_planning(options.store or default_location(plan.loaded.document.root))
    try:
        return estimate_run(plan, opened)
    finally:
        opened.close()


def plan_evaluation(path: Path, options: Options, overrides: frozenset[str]) -> list[tuple[str, Estimate | None]]:
    """Estimate every specification of a run file; None for one that waits for the result of another."""
    from assay.evaluation.specifications import plan_again, prepare_run
    from assay.runner.estimate import estimate_run

    prepared = prepare_run(path, registry(), _only_planned(options), overrides)
    opened = open_for_planning(options.store or default_location(prepared.run.document.root))
    try:
        return [
            (
                step.key if step.runs == 1 else f"{step.key}, run {repeat + 1}",
                None if step.plan is None else estimate_run(plan_again(step.plan, repeat), opened),
            )
            for step in prepared.steps
            for repeat in step.repeats
        ]
    finally:
        opened.close()


def _only_planned(options: Options) -> Options:
    """Prepare for planning only: code needs no permission and keys may be missing."""
    return replace(options, trust_code=True, keyless=True)


def rescore_run(
    store: Store,
    run: str,
    task: Path,
    *,
    config: Mapping[str, Any] | None = None,
    name: str | None = None,
    tags: Sequence[str] = (),
    **code: Any,
) -> Rescored:
    """Score the stored answers of a run with the scorers of a task file, as a new run; no model is asked."""
    from assay.prepare.permission import CodeOptions
    from assay.runner.rescore import rescore

    options = CodeOptions(**code)
    record = newest_finished(store) if run == LATEST else find(store, run)
    return rescore(task, registry(), store, record, code=options, name=name, tags=tags, config=config or {})


def ping_model(model: str, folder: Path) -> PingResult:
    """Ask a model for one word; report whether it answers, and if not, why."""
    from assay.models.connect import connect
    from assay.models.event_loop import run_to_end
    from assay.models.ping import ping

    root = project_folder(folder / "_")
    connection = connect(model, root=root, environment=environment_of(root))

    async def ask() -> PingResult:
        try:
            return await ping(connection)
        finally:
            await connection.close()

    return run_to_end(ask())


def failed_share(report: RunReport) -> float:
    """Return the share of expected scores that failed; for tasks without scorers, the share of samples."""
    if report.n_samples == 0:
        return 0.0
    if not report.scorers:
        return report.n_failed / report.n_samples
    asked_for = report.n_samples * report.trials * len(report.scorers)
    return sum(scorer.n_failed for scorer in report.scorers) / asked_for

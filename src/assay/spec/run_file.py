"""Run files and evaluations: what they define, and the specifications that are to be run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import Problem, SpecError
from assay.spec.config import Config, resolve_config, substitute
from assay.spec.definitions import PROVIDER, SECTIONS, Definitions, entries, model_key, part_of, with_secrets
from assay.spec.deprecated import modernized
from assay.spec.document import Document, Steps
from assay.spec.environment import with_environment
from assay.spec.evaluation import Evaluation, Policy, RunConfig, RunFile, Specification
from assay.spec.kind import FileKind, kind_of
from assay.spec.load import read_document
from assay.spec.locate import Checker
from assay.spec.lookup import find_document
from assay.spec.messages import described
from assay.spec.read_options import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSpecification:
    """A specification with its location and the key that names its results."""

    key: str
    settings: Specification
    document: Document
    steps: Steps

    def problem(self, message: str, *field: str, suggestion: str | None = None) -> Problem:
        """A problem with one of its fields."""
        return self.document.problem(message, (*self.steps, *field), suggestion)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """A run file or an evaluation, all that could be validated, and all that was wrong."""

    document: Document
    evaluation: Evaluation | None
    specifications: tuple[LoadedSpecification, ...]
    policies: tuple[Policy, ...]
    run_config: RunConfig
    reading: Reading
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()

    @property
    def definitions(self) -> Definitions:
        """Return the definitions in the run file itself."""
        return self.reading.definitions


def load_run(
    path: Path,
    *,
    config: Mapping[str, Any] | None = None,
    strict: bool,
    allow_outside: bool = False,
    environment: Mapping[str, str] | None = None,
) -> LoadedRun:
    """Load a run file or an evaluation and validate every entry separately; problems are in `problems`."""
    document = modernized(read_document(path, strict=strict, allow_outside=allow_outside, environment=environment))
    checker = Checker(document)
    checker.problems += document.problems
    run = RunFile()
    if kind_of(document.data) == "run":
        read = checker.validated(RunFile, with_environment(document.data, document.environment), (), "the run file")
        run = read if read is not None else run
    reading = Reading(
        strict=strict,
        allow_outside=allow_outside,
        environment=environment,
        definitions=_definitions(document, checker) if kind_of(document.data) == "run" else Definitions(),
    )
    inside = _evaluation_document(document, reading, checker)
    notes: list[Problem] = [*document.notes]
    evaluation: Evaluation | None = None
    specifications: tuple[LoadedSpecification, ...] = ()
    if inside is not None:
        evaluation_checker = Checker(inside)
        evaluation, specifications, open_notes = _evaluation(
            inside, {**run.config, **(config or {})}, evaluation_checker, strict
        )
        checker.problems += [_in_run_file(problem, document, run.config) for problem in evaluation_checker.problems]
        notes += open_notes
    return LoadedRun(
        document=document,
        evaluation=evaluation,
        specifications=specifications,
        policies=tuple(_policies(document, checker)),
        run_config=run.run_config,
        reading=reading,
        problems=tuple(dict.fromkeys(checker.problems)),
        notes=tuple(notes),
    )


def _in_run_file(problem: Problem, document: Document, config: Mapping[str, Any]) -> Problem:
    """A problem with a parameter at the line of the run file that sets it."""
    name = next((key for key in config if f'has no config parameter "{key}"' in problem.message), None)
    if problem.place is not None or name is None:
        return problem
    return document.problem(problem.message, ("config", name), problem.suggestion, key=True)


def _definitions(document: Document, checker: Checker) -> Definitions:
    """Return the definitions in the lists of a run file, by kind and key."""
    documents: dict[tuple[FileKind, str], Document] = {}
    providers: dict[str, str] = {}
    data = document.data
    for section, kind in SECTIONS.items():
        listed = data.get(section)
        for i, entry in enumerate(listed if isinstance(listed, list) else []):
            # a `$ref` that could not be read is told already
            if not isinstance(entry, dict) and not (entry is None and document.problems):
                checker.report(f"expected a {kind}, got {described(entry)}", (section, i))
    for kind, steps, entry in entries(document):
        if kind == "model" and PROVIDER in entry:
            _provider(entry, steps, providers, checker)
            continue
        key = entry.get("key")
        actual = kind_of(entry)
        if actual != kind:
            described_kind = "something else" if actual is None else f"a {actual}"
            checker.report(f"expected a {kind}, got {described_kind}", steps)
        elif isinstance(key, str) and (kind, str(key)) in documents:
            checker.report(f'there is already a {kind} with the key "{key}"', (*steps, "key"))
        elif isinstance(key, str):
            documents[kind, str(key)] = modernized(with_secrets(part_of(document, steps), data))
        else:
            checker.report(f'missing field "key" in the {kind}', steps)
    return Definitions(documents=documents, providers=providers)


def _provider(entry: Mapping[str, Any], steps: Steps, providers: dict[str, str], checker: Checker) -> None:
    reference = entry[PROVIDER]
    if not isinstance(reference, str) or "/" not in reference:
        checker.report(f'expected provider/model, such as "openai/gpt-5-mini", got {described(reference)}', steps)
        return
    others = [name for name in entry if name != PROVIDER]
    if others:
        message = (
            f'"{others[0]}" cannot be combined with {PROVIDER}: write a model with connection_type provider_connection'
        )
        checker.report(message, (*steps, others[0]), key=True)
    provider, _, name = reference.partition("/")
    providers[f"{provider}${model_key(name)}"] = str(reference)


def _evaluation_document(document: Document, reading: Reading, checker: Checker) -> Document | None:
    """The evaluation itself: the file, its part, or the file of the project that it names by key."""
    if kind_of(document.data) == "evaluation":
        return document
    node = document.data.get("evaluation") if isinstance(document.data, dict) else None
    if isinstance(node, dict):
        return part_of(document, ("evaluation",))
    if not isinstance(node, str):
        return None

    def read(path: Path) -> Document:
        return read_document(path, strict=reading.strict, environment=reading.environment)

    try:
        return modernized(find_document("evaluation", str(node), document.root, read))
    except SpecError as error:
        checker.problems += [
            problem if problem.place else document.problem(problem.message, ("evaluation",), problem.suggestion)
            for problem in error.problems
        ]
        return None


def _evaluation(
    document: Document, overrides: Mapping[str, Any], checker: Checker, strict: bool
) -> tuple[Evaluation | None, tuple[LoadedSpecification, ...], tuple[Problem, ...]]:
    """The evaluation and its specifications with their parameters filled in."""
    data = document.data
    evaluation = checker.validated(Evaluation, with_environment(data, document.environment), (), "the evaluation")
    spec = data.get("config_spec")
    if spec:
        config = resolve_config(spec, overrides, checker, strict=strict, owner="the evaluation")
    else:
        config = Config(values=dict(overrides), open=frozenset())
    steps: Steps = ("task_specifications",)
    nodes = data.get("task_specifications")
    filled = substitute(nodes if isinstance(nodes, list) else [], config, checker, steps)
    parts = Checker(document, filled.texts)
    entries = with_environment(filled.data, document.environment)
    accepted: list[tuple[Specification, Steps]] = []
    for i, node in enumerate(entries):
        settings = parts.validated(Specification, node, (*steps, i), "the specification")
        if settings is not None:
            accepted.append((settings, (*steps, i)))
    specifications = _keyed(accepted, document, parts)
    checker.problems += parts.problems
    return evaluation, specifications, config.notes


def _keyed(
    specifications: list[tuple[Specification, Steps]], document: Document, checker: Checker
) -> tuple[LoadedSpecification, ...]:
    """Assign keys to specifications: their own, else the task's, numbered from the second on."""
    taken: set[str] = set()
    for settings, steps in specifications:
        if settings.key is not None and settings.key in taken:
            checker.report(f'there is already a specification with the key "{settings.key}"', (*steps, "key"))
        taken.update(filter(None, (settings.key,)))
    keyed = []
    for settings, steps in specifications:
        key = settings.key
        if key is None:
            name = settings.task_key or settings.type
            numbers = (f"{name}_{n}" for n in range(1, len(specifications) + len(taken) + 1))
            key = name if name not in taken else next(candidate for candidate in numbers if candidate not in taken)
            taken.add(key)
        if settings.dataset_key is not None:
            config = {"dataset_key": settings.dataset_key, **settings.task_config}
            settings = settings.model_copy(update={"task_config": config})
        keyed.append(LoadedSpecification(key=key, settings=settings, document=document, steps=steps))
    return tuple(keyed)


def _policies(document: Document, checker: Checker) -> list[Policy]:
    nodes = document.data.get("policies") if isinstance(document.data, dict) else None
    policies = []
    for i, node in enumerate(nodes if isinstance(nodes, list) else []):
        policy = checker.validated(Policy, node, ("policies", i), "the policy")
        if policy is not None:
            policies.append(policy)
    return policies


def find_task(key: str, root: Path, reading: Reading) -> Document:
    """The task with a key among what the run file defines and the files of the project."""

    def read(path: Path) -> Document:
        return modernized(
            read_document(
                path, strict=reading.strict, allow_outside=reading.allow_outside, environment=reading.environment
            )
        )

    return find_document("task", key, root, read, reading.definitions)


def with_trials(document: Document, num_trials: int) -> Document:
    """Return a task with this number of answers per sample, overriding its file."""
    definition = document.data.get("definition")
    if not isinstance(definition, dict):
        return document
    trials_setting = definition.get("trials")
    trials = (
        {**(trials_setting if isinstance(trials_setting, dict) else {}), "num_trials": num_trials}
        if num_trials > 1
        else None
    )
    return replace(document, data={**document.data, "definition": {**definition, "trials": trials}})

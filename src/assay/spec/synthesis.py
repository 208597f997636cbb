"""A generator from its file: parameters filled in, every synthesizer validated alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import Problem
from assay.registry import Registry
from assay.spec.code import codes_in
from assay.spec.config import resolve_config, substitute
from assay.spec.document import Document, Steps
from assay.spec.environment import with_environment
from assay.spec.generator import GeneratorFile, LoadedGenerator, LoadedSynthesizer
from assay.spec.locate import Checker
from assay.spec.messages import described
from assay.spec.source import problem_in
from assay.spec.task_parts import kind_named


def load_generator(
    document: Document, overrides: Mapping[str, Any], registry: Registry, *, strict: bool
) -> tuple[LoadedGenerator | None, list[Problem]]:
    """A generator from its document and the values of its parameters, and all that is wrong with it."""
    checker = Checker(document)
    config = resolve_config(document.data.get("config_spec"), overrides, checker, strict=strict, owner="the generator")
    filled = substitute(document.data["definition"], config, checker, ("definition",), secrets=True)
    parts = Checker(document, filled.texts)
    node = with_environment(filled.data, document.environment)
    top = with_environment(document.data, document.environment)
    file = parts.validated(GeneratorFile, {**top, "definition": node}, (), "the generator")
    nodes = node.get("synthesizers") if isinstance(node, dict) else None
    steps: Steps = ("definition", "synthesizers")
    synthesizers = _synthesizers(nodes if isinstance(nodes, list) else [], steps, registry, parts)
    problems = [*document.problems, *checker.problems, *parts.problems]
    if file is None or problems:
        return None, problems
    return LoadedGenerator(
        key=file.key,
        source=file.definition.dataset,
        synthesizers=synthesizers,
        written={"key": file.key, "definition": filled.data},
        document=document,
        place=document.spot(()).value,
    ), []


def _synthesizers(
    nodes: Sequence[Any], steps: Steps, registry: Registry, checker: Checker
) -> tuple[LoadedSynthesizer, ...]:
    synthesizers = []
    for i, node in enumerate(nodes):
        if not isinstance(node, dict):
            checker.report(f"expected a synthesizer, such as {{type: ...}}, got {described(node)}", (*steps, i))
            continue
        kind = kind_named(registry.synthesizers, node, (*steps, i), checker)
        settings = kind and checker.validated(kind.settings, node, (*steps, i), kind.name)
        checker.problems += [
            problem_in(checker.document.sources, problem.message, problem.place, problem.suggestion)
            for code in codes_in(settings)
            for problem in code.problems()
        ]
        if kind is not None and settings is not None:
            synthesizers.append(LoadedSynthesizer(kind=kind, settings=settings))
    return tuple(synthesizers)

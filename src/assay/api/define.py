"""Run files without an evaluation: what they define is checked, and their datasets are generated."""

from __future__ import annotations

from pathlib import Path

import orjson

from assay.api.check import check_files
from assay.builtin import registry
from assay.errors import Problem, SpecError
from assay.generation.generate import generate
from assay.prepare.plan import Options
from assay.prepare.recipes import Recipe, collision_notes, recipe
from assay.results.defined import Defined, DefinedPart, MadeDataset
from assay.runner.progress import Listener, silent
from assay.spec.dataset import dataset_of
from assay.spec.generator import GeneratedDataset
from assay.spec.run_file import LoadedRun, load_run


def only_defines(path: Path, options: Options) -> bool:
    """Return whether a run file has no evaluation to run."""
    run = load_run(path, config=options.config, strict=False, allow_outside=options.allow_outside)
    return run.evaluation is None and not run.problems


def define_file(path: Path, options: Options, *, listener: Listener = silent) -> tuple[Defined, tuple[Problem, ...]]:
    """Check a run file and generate its datasets; return what it defines, and notes.

    A dataset that needs a model which costs money, or may, is generated only below a spending limit.
    """
    kinds = registry()
    checked = check_files([path], kinds, config=options.config, allow_outside=options.allow_outside)
    if checked.problems:
        raise SpecError(checked.problems)
    run = load_run(path, config=options.config, strict=True, allow_outside=options.allow_outside)
    if run.problems:
        raise SpecError(run.problems)
    notes = [*checked.notes]
    generated = _generated(run)
    recipes: list[Recipe] = []
    for dataset in generated:
        needed = recipe(dataset, kinds, None, lambda source: _make(source, options, listener))
        _refuse_unlimited(needed, options)
        recipes.append(needed)
    datasets = []
    for needed in recipes:
        notes += collision_notes(needed)
        is_new = options.fresh or not needed.is_made
        if is_new:
            generate(needed, options, listener=listener)
        n_rows = orjson.loads(needed.about.read_bytes())["n_rows"]
        datasets.append(MadeDataset(key=needed.dataset.key, file=needed.file, n_rows=n_rows, made_now=is_new))
    parts = [
        DefinedPart(kind=kind, key=key, place=document.spot(()).value)
        for (kind, key), document in run.definitions.documents.items()
    ]
    parts += [
        DefinedPart(kind="model", key=key, place=run.document.spot(()).value) for key in run.definitions.providers
    ]
    return Defined(file=path, parts=tuple(parts), datasets=tuple(datasets)), tuple(dict.fromkeys(notes))


def _make(needed: Recipe, options: Options, listener: Listener) -> None:
    """Generate a dataset that another dataset draws from."""
    _refuse_unlimited(needed, options)
    generate(needed, options, listener=listener)


def _generated(run: LoadedRun) -> list[GeneratedDataset]:
    """Return the generated datasets of a run file; those built from task results are left to the evaluation."""
    kinds = registry()
    documents = [document for (kind, _), document in run.definitions.documents.items() if kind == "dataset"]
    datasets = [dataset_of(document, kinds, run.reading) for document in documents]
    return [dataset for dataset in datasets if isinstance(dataset, GeneratedDataset) and dataset.result_of is None]


def _refuse_unlimited(needed: Recipe, options: Options) -> None:
    """Refuse to spend money without a limit."""
    if options.max_cost is not None or (needed.is_made and not options.fresh):
        return
    for connection in needed.connections.values():
        prices = connection.prices
        if prices is None or prices.input_per_million or prices.output_per_million:
            cost_note = "costs money" if prices is not None else "may cost money: its file gives no `prices`"
            message = (
                f'the dataset "{needed.dataset.key}" asks the model "{connection.name}", which {cost_note}; '
                "set --max-cost USD, or generate it with `assay generate`"
            )
            raise SpecError(Problem(message=message, place=needed.dataset.place))

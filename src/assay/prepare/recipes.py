"""Generated datasets: identified by everything that determines their rows, and found where they were stored."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from assay.datasets.batch import in_batches
from assay.datasets.open import fingerprint, first_rows, open_dataset
from assay.errors import Problem, SpecError
from assay.prepare.describe import stored_models
from assay.registry import Registry
from assay.spec import LoadedDataset, load_dataset
from assay.spec.dataset import find_dataset
from assay.spec.generator import (
    DatasetSampleCombinations,
    DatasetSamples,
    EmptyRows,
    GeneratedDataset,
    InlineRows,
)
from assay.store.run_spec import settings_of_source

if TYPE_CHECKING:
    from assay.models.connect import Connection

VERSION = 1
"""Part of every digest: raised when generators come to make other rows of the same files."""
MOST_COMBINATIONS = 10_000_000
SEPARATOR = "+"
"""The separator between the ids of the rows in a combination."""

Row = dict[str, Any]
Results = Callable[[str], LoadedDataset]
Make = Callable[["Recipe"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that determines the rows of a generated dataset, and the file that stores them."""

    dataset: GeneratedDataset
    sources: tuple[tuple[str, LoadedDataset], ...]
    connections: Mapping[str | None, Connection]
    digest: str

    @property
    def file(self) -> Path:
        """Return the path of the generated rows."""
        return self.dataset.root / ".assay" / "generated" / f"{self.dataset.key}-{self.digest[:16]}.jsonl"

    @property
    def about(self) -> Path:
        """Return the path of the metadata: how the rows were generated, and which failed."""
        return self.file.with_suffix(".json")

    @property
    def is_made(self) -> bool:
        """Return whether the rows exist and none is missing for a transient reason."""
        if not self.file.is_file() or not self.about.is_file():
            return False
        return not any(failed["retryable"] for failed in orjson.loads(self.about.read_bytes())["failed"])

    def rows(self, registry: Registry) -> LoadedDataset:
        """The rows as a dataset."""
        dataset = load_dataset(self.file, registry)
        assert isinstance(dataset, LoadedDataset)
        return replace(dataset, key=self.dataset.key, families=True)


def recipe(dataset: GeneratedDataset, registry: Registry, results: Results | None, make: Make | None) -> Recipe:
    """Build the recipe of a generated dataset; datasets that it draws on are generated first, if `make` can."""
    sources = tuple(_sources(dataset, registry, results, make))
    connections = _connections(dataset)
    root = dataset.root
    deciding = {
        "version": VERSION,
        "generator": dataset.generator.written,
        "num_samples": dataset.num_samples,
        "sources": {
            key: {
                "sha256": fingerprint(source.kind, source.settings, source.folder, root=root),
                **settings_of_source(source.written),
            }
            for key, source in sources
        },
        # the rows of combinations are merged since this version: those of other generators stay as they are
        **({"combinations": 2} if isinstance(dataset.generator.source, DatasetSampleCombinations) else {}),
        "models": {key: [model.identity, model.sampling] for key, model in stored_models(connections).items()},
    }
    text = orjson.dumps(deciding, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    return Recipe(dataset=dataset, sources=sources, connections=connections, digest=hashlib.sha256(text).hexdigest())


def materialized(
    dataset: LoadedDataset | GeneratedDataset, registry: Registry, results: Results | None, make: Make | None
) -> LoadedDataset | None:
    """Return the dataset, or the rows of a generated one; None if they do not exist and `make` is None."""
    if isinstance(dataset, LoadedDataset):
        return dataset
    dataset_recipe = recipe(dataset, registry, results, make)
    if not dataset_recipe.is_made:
        if make is None:
            return None
        make(dataset_recipe)
    return dataset_recipe.rows(registry)


def _sources(
    dataset: GeneratedDataset, registry: Registry, results: Results | None, make: Make | None
) -> Iterator[tuple[str, LoadedDataset]]:
    """The datasets that the rows come from, by the names they have in them."""
    source = dataset.generator.source
    if dataset.result_of is not None:
        if results is None:
            message = f'the generator reads the result of "{dataset.result_of}": run both from a run file'
            raise SpecError(dataset.generator.document.problem(message, ("definition", "dataset")))
        yield dataset.result_of, results(dataset.result_of)
        return
    keys = [source.key] if isinstance(source, DatasetSamples) else []
    if isinstance(source, DatasetSampleCombinations):
        keys = source.keys
    for i, key in enumerate(keys):
        steps = ("definition", "dataset", *(("keys", i) if len(keys) > 1 else ("key",)))
        source_dataset = _find_source(dataset, key, registry, steps)
        ready = materialized(source_dataset, registry, results, make)
        if ready is None:
            message = f'the dataset "{key}" is not generated yet: run `assay generate`'
            raise SpecError(dataset.generator.document.problem(message, steps))
        yield key, ready


def _find_source(
    dataset: GeneratedDataset, key: str, registry: Registry, steps: tuple[str | int, ...]
) -> LoadedDataset | GeneratedDataset:
    document = dataset.generator.document
    try:
        source_dataset, problems, _ = find_dataset(key, dataset.root, registry, dataset.reading)
    except SpecError as error:
        raise SpecError(
            [
                problem if problem.place else document.problem(problem.message, steps, problem.suggestion)
                for problem in error.problems
            ]
        ) from None
    if source_dataset is None or problems:
        raise SpecError(problems)
    return source_dataset


def _connections(dataset: GeneratedDataset) -> dict[str | None, Connection]:
    """Connect the models that synthesizers call; no call is made."""
    keys = [s.settings.model_key for s in dataset.generator.synthesizers if s.kind.asks_model]
    if not keys:
        return {}
    from assay.models.connect import connect

    environment, definitions = dataset.generator.document.environment, dataset.reading.definitions
    return {
        key: connect(key, root=dataset.root, environment=environment, definitions=definitions)
        for key in dict.fromkeys(map(str, keys))
    }


def source_rows(recipe: Recipe) -> Iterator[tuple[str, Row]]:
    """The rows that synthesizers begin with, each with the id that its offspring is named by."""
    source = recipe.dataset.generator.source
    if isinstance(source, EmptyRows):
        yield from ((str(i), {}) for i in range(source.num_samples))
    elif isinstance(source, InlineRows):
        for batch in in_batches(source.samples, "inline samples"):
            yield from zip(batch.ids, batch.samples, strict=True)
    elif isinstance(source, DatasetSampleCombinations):
        yield from _combinations(recipe, source.random_seed)
    else:
        rows = _rows(recipe.sources[0][1], recipe.dataset.root)
        yield from rows if not isinstance(source, DatasetSamples) else _shuffled(rows, source.random_seed)


def _rows(dataset: LoadedDataset, root: Path) -> Iterator[tuple[str, Row]]:
    batches = open_dataset(dataset.kind, dataset.settings, dataset.folder, root=root)
    return chain.from_iterable(zip(batch.ids, batch.samples, strict=True) for batch in batches)


def _shuffled(rows: Iterator[tuple[str, Row]], seed: int | None) -> Iterator[tuple[str, Row]]:
    if seed is None:
        yield from rows
        return
    every = list(rows)
    random.Random(seed).shuffle(every)  # noqa: S311 - an order, not a secret
    yield from every


def _combinations(recipe: Recipe, seed: int | None) -> Iterator[tuple[str, Row]]:
    """A row of each dataset, their columns side by side, for every combination; the last dataset wins.

    The rows of the longest dataset come in turn, each with the next row of every other; then the others are moved on.
    """
    tables = [list(_rows(source, recipe.dataset.root)) for _, source in recipe.sources]
    total = math.prod(len(table) for table in tables)
    numbers: Iterable[int] = range(total)
    if seed is not None:
        if total > MOST_COMBINATIONS:
            raise SpecError(f"{total:,} combinations are more than the {MOST_COMBINATIONS:,} that can be shuffled")
        numbers = random.Random(seed).sample(range(total), total)  # noqa: S311 - an order, not a secret
    for number in numbers:
        rows = [table[place] for table, place in zip(tables, _places(list(map(len, tables)), number), strict=True)]
        merged = {name: value for _, row in rows for name, value in row.items() if name != "sample_id"}
        yield SEPARATOR.join(row_id for row_id, _ in rows), merged


def _places(lengths: Sequence[int], number: int) -> list[int]:
    """Return the rows that form the n-th combination.

    >>> [_places([3, 2], n) for n in range(4)]
    [[0, 0], [1, 1], [2, 0], [0, 1]]
    """
    longest = lengths.index(max(lengths))
    round_, i = divmod(number, lengths[longest])
    places = [i] * len(lengths)
    for j in reversed(range(len(lengths))):
        if j != longest:
            round_, offset = divmod(round_, lengths[j])
            places[j] = (i + offset) % lengths[j]
    return places


def collision_notes(recipe: Recipe) -> list[Problem]:
    """Note the columns that several combined datasets share: the last dataset's values are kept."""
    if not isinstance(recipe.dataset.generator.source, DatasetSampleCombinations):
        return []
    owners: dict[str, list[str]] = {}
    for key, source in recipe.sources:
        for row in first_rows(source.kind, source.settings, source.folder, 1, root=recipe.dataset.root):
            for name in row:
                owners.setdefault(name, []).append(key)
    document = recipe.dataset.generator.document
    return [
        document.problem(
            f'the column "{name}" is in {" and ".join(keys)}: the values of {keys[-1]} are kept',
            ("definition", "dataset"),
        )
        for name, keys in owners.items()
        if len(keys) > 1 and name != "sample_id"
    ]

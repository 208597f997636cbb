"""Open a dataset for reading: its source, its filters, and the selected part."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from assay.datasets.batch import Batch, column_ids
from assay.datasets.filters import filtered, parse_filters
from assay.datasets.lines import refused
from assay.datasets.subsample import head, random_subset
from assay.datasets.unique import with_unique_ids
from assay.errors import SpecError
from assay.registry import SourceKind
from assay.spec.fields import ColumnName, Located, SourceSpec

Subsampling = Literal["head", "random"]
FIRST_ROWS = 1_000
"""So many samples are looked at by checks before a run."""


@runtime_checkable
class OfFiles(Protocol):
    """A source whose content is the bytes of files."""

    def files(self, folder: Path, root: Path | None = None) -> Iterable[tuple[str, Path]]:
        """The files by the names that count for the content."""


def open_dataset(
    kind: SourceKind,
    settings: SourceSpec,
    folder: Path,
    *,
    limit: int | None = None,
    subsampling: Subsampling = "head",
    seed: int = 0,
    root: Path | None = None,
) -> Iterator[Batch]:
    """The samples of a dataset, filtered and cut to `limit`, a few thousand at a time.

    `folder` is where the dataset's file lies; paths may not leave `root`, unless it is None.
    """
    read = partial(_read, kind, settings, folder, root)
    if limit is None:
        return read()
    return random_subset(read, limit, seed) if subsampling == "random" else head(read(), limit)


def _read(kind: SourceKind, settings: SourceSpec, folder: Path, root: Path | None) -> Iterator[Batch]:
    fields = (getattr(settings, name) for name in type(settings).model_fields if name != "id_column")
    named = next((value for value in fields if isinstance(value, Located)), None)
    read = partial(kind.read, settings, folder, root)
    if settings.id_column is not None:
        read = partial(_with_ids, read, settings.id_column)
    batches = with_unique_ids(read, named, has_ids=settings.id_column is not None)
    filters = parse_filters(settings.filters or ())
    return filtered(batches, filters) if filters else batches


def _with_ids(read: Callable[[], Iterator[Batch]], column: ColumnName) -> Iterator[Batch]:
    """The batches with the ids of a column."""
    for batch in read():
        try:
            ids = column_ids(batch.samples, column, batch.start)
        except SpecError as error:
            problems = [replace(problem, place=column.place) for problem in error.problems]
            raise SpecError(problems) from error
        yield replace(batch, ids=ids)


def first_rows(
    kind: SourceKind, settings: SourceSpec, folder: Path, n: int = FIRST_ROWS, *, root: Path | None = None
) -> list[dict[str, Any]]:
    """The first samples of a dataset, for checks before a run."""
    return list(chain.from_iterable(b.samples for b in open_dataset(kind, settings, folder, limit=n, root=root)))


def fingerprint(kind: SourceKind, settings: SourceSpec, folder: Path, *, root: Path | None = None) -> str:
    """The sha256 of a dataset: of its file, of the names and digests of several files, or of its samples as JSON."""
    digest = hashlib.sha256()
    if isinstance(settings, OfFiles):
        contents: dict[str, str] = {}
        for name, path in settings.files(folder, root):
            try:
                with path.open("rb") as file:
                    contents[name] = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise refused(path, f"cannot be read: {error.strerror or error}") from error
        if len(contents) == 1:
            return next(iter(contents.values()))
        digest.update("".join(f"{name}\0{content}\n" for name, content in contents.items()).encode())
    else:
        for batch in kind.read(settings, folder, root):
            digest.update("\n".join([*batch.texts, ""]).encode())
    return digest.hexdigest()

"""`local`: a CSV, JSONL, JSON or Parquet file, also packed with gzip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from assay.datasets.batch import Batch
from assay.datasets.csv_table import read_csv
from assay.datasets.filters import FilteredSource
from assay.datasets.json_array import read_json
from assay.datasets.jsonl import read_jsonl
from assay.datasets.lines import is_packed
from assay.datasets.parquet import read_parquet
from assay.datasets.paths import located_path
from assay.errors import Problem, SpecError
from assay.registry import SourceKind
from assay.spec.fields import Located

_READERS: dict[str, Callable[[Path], Iterator[Batch]]] = {
    ".csv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json,
    ".parquet": read_parquet,
}


class LocalSource(FilteredSource):
    """A file of samples: CSV, JSONL, JSON or Parquet, by its name; with .gz at the end it is unpacked."""

    type: Literal["local"]
    file_path: Located

    def files(self, folder: Path, root: Path | None = None) -> Iterator[tuple[str, Path]]:
        """The file whose bytes are the dataset."""
        path = located_path(self.file_path, folder, root, expected="file")
        yield path.name, path


def read_local(settings: LocalSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    """The samples of the file, in batches."""
    return read_file(located_path(settings.file_path, folder, root, expected="file"), settings.file_path)


def read_file(path: Path, named: Located) -> Iterator[Batch]:
    """The samples of a file by its name's ending; `named` is how the dataset names it."""
    bare = path.with_suffix("") if is_packed(path) else path
    reader = _READERS.get(bare.suffix.lower())
    if reader is None:
        endings = ", ".join(_READERS)
        message = f'cannot tell what "{named}" holds; expected a name in {endings} (+ .gz)'
        raise SpecError(Problem(message=message, place=named.place))
    return reader(path)


def suffix_of(path: Path) -> str:
    """Return the extension that determines the format, including .gz for compressed files.

    >>> suffix_of(Path("rows.jsonl.gz"))
    '.jsonl.gz'
    """
    return f"{path.with_suffix('').suffix}{path.suffix}" if is_packed(path) else path.suffix


KIND = SourceKind(settings=LocalSource, read=read_local)

"""Parquet, through the optional pyarrow: row groups are read one after the other."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from assay.datasets.batch import BATCH_ROWS, Batch, in_batches
from assay.datasets.lines import chunks, is_packed, refused
from assay.errors import MissingExtra


def read_parquet(path: Path) -> Iterator[Batch]:
    """Read the samples of a Parquet file; dates become ISO text, bytes UTF-8 text or base64."""
    return in_batches(_rows(path), str(path))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("parquet", f"reading {path.name}") from error
    with ExitStack() as stack:
        source: Path | IO[bytes] = path
        if is_packed(path):
            source = stack.enter_context(tempfile.TemporaryFile())
            for chunk in chunks(path):
                source.write(chunk)
            source.seek(0)
        try:
            file = stack.enter_context(parquet.ParquetFile(source))
            for batch in file.iter_batches(batch_size=BATCH_ROWS):
                yield from batch.to_pylist()
        except (pyarrow.ArrowException, OSError) as error:
            raise refused(path, f"cannot be read as Parquet: {error}") from error

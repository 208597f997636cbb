"""Write files atomically: an error leaves the previous file in place."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import SpecError


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[Path]:
    """Provide a scratch file that replaces `path` on success.

    A file that is there already is replaced only by `force`.
    """
    if not force and (path.exists() or path.is_symlink()):
        raise SpecError(f"{path} already exists: --force replaces it")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise SpecError(f"cannot write to {path.parent}: {error.strerror}") from error
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)

"""The digest of a plug-in's code in the identity of a run: editing the plug-in makes its scores stale."""

from __future__ import annotations

import hashlib
import sys
from importlib.metadata import Distribution
from pathlib import Path
from types import ModuleType


def installed_digest(distribution: Distribution) -> str | None:
    """The digest of an installed package: its name, version and list of files with their hashes.

    None for an editable install, whose list names no source file: there the sources themselves count.
    """
    record = distribution.read_text("RECORD")
    direct = distribution.read_text("direct_url.json") or ""
    if record is None or '"editable": true' in direct:
        return None
    name, version = distribution.metadata["Name"], distribution.version
    return hashlib.sha256(f"{name}\0{version}\0{record}".encode()).hexdigest()


def source_digest(module: ModuleType) -> str:
    """The digest of the source of all loaded modules of a plug-in: its package, or the folder of a single file."""
    top = module.__name__.partition(".")[0]
    root = sys.modules.get(top, module)
    single_file = not hasattr(root, "__path__")
    folder = Path(root.__file__).resolve().parent if root.__file__ else None
    digest = hashlib.sha256()
    for name, loaded in sorted(sys.modules.items()):
        file = getattr(loaded, "__file__", None)
        if file is None:
            continue
        belongs = name == top or name.startswith(f"{top}.")
        # helpers of a plug-in that is one file lie beside it
        if single_file and folder is not None and not belongs:
            belongs = Path(file).resolve().parent == folder
        if belongs:
            digest.update(name.encode() + b"\0" + Path(file).read_bytes() + b"\0")
    return digest.hexdigest()

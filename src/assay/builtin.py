"""The list of built-in kinds, and the loader of plug-ins."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.datasets.kinds import KINDS as SOURCES
from assay.datasets.synthesizers import KINDS as SYNTHESIZERS
from assay.errors import SpecError
from assay.metrics.kinds import KINDS as METRICS
from assay.plugin_code import installed_digest, source_digest
from assay.registry import BaseKind, Registry
from assay.scorers.kinds import KINDS as SCORERS
from assay.solvers.kinds import KINDS as SOLVERS

PLUGINS = "assay.plugins"
NAMED = "ASSAY_PLUGINS"
"""The variable that names modules to take kinds from, separated by commas; `--plugin` adds to it."""


def registry(*, plugins: bool = True) -> Registry:
    """Return all kinds that a file can name: the built-in ones, then those of plug-ins."""
    kinds = Registry()
    kinds.sources.add_all(SOURCES)
    kinds.solvers.add_all(SOLVERS)
    kinds.scorers.add_all(SCORERS)
    kinds.metrics.add_all(METRICS)
    kinds.synthesizers.add_all(SYNTHESIZERS)
    if plugins:
        add_plugins(kinds)
    return kinds


def add_plugins(kinds: Registry) -> None:
    """Let installed packages with an `assay.plugins` entry point, and modules named by hand, add their kinds."""
    for point in entry_points(group=PLUGINS):
        # a plug-in is foreign code: whatever it raises is reported under its name
        try:
            plugin = point.load()
            code = None if point.dist is None else installed_digest(point.dist)
            _add_marked(kinds, plugin, code or source_digest(sys.modules[point.module]))
        except (Exception, SystemExit) as error:
            raise SpecError(
                f'the plug-in "{point.name}" ({point.value}) could not be loaded: {_cause(error)}'
            ) from error
    for name in filter(None, os.environ.get(NAMED, "").split(",")):
        try:
            module = _imported(name)
            _add_marked(kinds, module, source_digest(module))
        except (Exception, SystemExit) as error:
            raise SpecError(f'the plug-in "{name}" could not be loaded: {_cause(error)}') from error


def _cause(error: BaseException) -> str:
    """Describe an exception from a plug-in: a SpecError by its message, any other with its type."""
    return str(error) if isinstance(error, SpecError | ImportError) else f"{type(error).__name__}: {error}"


def _imported(name: str) -> ModuleType:
    """Import a module by name; the working directory is searched too."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return import_module(name)


def _add_marked(kinds: Registry, plugin: Any, code: str) -> None:
    """Add what a plug-in offers, and note the digest of its code with every kind that it adds."""
    before = [set(table) for table in kinds.tables]
    _add(kinds, plugin)
    for table, names in zip(kinds.tables, before, strict=True):
        table.mark([name for name in table if name not in names], code)


def _add(target: Registry, plugin: Any) -> None:
    """Add the kinds of a plug-in: by its function `register`, or all kinds in its module."""
    if isinstance(plugin, BaseKind):
        target.add(plugin)
        return
    if not isinstance(plugin, ModuleType):
        plugin(target)
        return
    kinds = [value for value in vars(plugin).values() if isinstance(value, BaseKind)]
    if hasattr(plugin, "register"):
        plugin.register(target)
    elif not kinds:
        raise SpecError("it holds no scorer, no metric and no function register(registry)")
    else:
        for kind in kinds:
            target.add(kind)

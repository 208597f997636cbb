"""The one list of what ships, and the door for plug-ins."""

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
from assay.registry import Kind, KindTable, Registry
from assay.scorers.kinds import KINDS as SCORERS
from assay.solvers.kinds import KINDS as SOLVERS
from assay.spec.fields import MetricSpec, ScorerSpec, SolverSpec

PLUGINS = "assay.plugins"
NAMED = "ASSAY_PLUGINS"
"""The variable that names modules to take kinds from, separated by commas; `--plugin` adds to it."""


def registry(*, plugins: bool = True) -> Registry:
    """Everything a file may name: what ships, then what plug-ins add."""
    made = Registry()
    for shelf, kinds in (
        (made.sources, SOURCES),
        (made.solvers, SOLVERS),
        (made.scorers, SCORERS),
        (made.metrics, METRICS),
        (made.synthesizers, SYNTHESIZERS),
    ):
        shelf.add_all(kinds)
    if plugins:
        add_plugins(made)
    return made


def add_plugins(known: Registry) -> None:
    """Let installed packages with an `assay.plugins` entry point, and modules named by hand, add their kinds."""
    for point in entry_points(group=PLUGINS):
        # a plug-in is foreign code: whatever it raises is reported under its name
        try:
            _take(known, point.load())
        except Exception as error:
            raise SpecError(f'the plug-in "{point.name}" ({point.value}) could not be loaded: {error}') from error
    for name in filter(None, os.environ.get(NAMED, "").split(",")):
        try:
            _take(known, _imported(name))
        except Exception as error:
            raise SpecError(f'the plug-in "{name}" could not be loaded: {error}') from error


def _imported(name: str) -> ModuleType:
    """A module by its name, looked for where the user stands too."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return import_module(name)


def _take(known: Registry, plugin: Any) -> None:
    """Add what a plug-in offers: a function `register`, or the kinds that stand in its module."""
    if isinstance(plugin, Kind):
        _table_for(known, plugin).add(plugin)
        return
    if not isinstance(plugin, ModuleType):
        plugin(known)
        return
    kinds = [value for value in vars(plugin).values() if isinstance(value, Kind)]
    if hasattr(plugin, "register"):
        plugin.register(known)
    elif not kinds:
        raise SpecError("it holds no scorer, no metric and no function register(registry)")
    else:
        for kind in kinds:
            _table_for(known, kind).add(kind)


def _table_for(known: Registry, kind: Kind) -> KindTable:
    """Where a kind belongs, by its settings."""
    shelves = ((ScorerSpec, known.scorers), (MetricSpec, known.metrics), (SolverSpec, known.solvers))
    found = next((shelf for base, shelf in shelves if issubclass(kind.settings, base)), None)
    return known.sources if found is None else found

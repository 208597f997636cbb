"""The one list of what ships, and the door for plug-ins."""

from __future__ import annotations

from importlib.metadata import entry_points

from assay.dataset.kinds import KINDS as SOURCES
from assay.dataset.synthesizers import KINDS as SYNTHESIZERS
from assay.errors import SpecError
from assay.metric.kinds import KINDS as METRICS
from assay.registry import Registry
from assay.scorer.kinds import KINDS as SCORERS
from assay.solver.kinds import KINDS as SOLVERS

PLUGINS = "assay.plugins"


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
    """Let every installed package with an `assay.plugins` entry point register its kinds."""
    for point in entry_points(group=PLUGINS):
        try:
            point.load()(known)
        # a plug-in is foreign code: whatever it raises is reported under its name
        except Exception as error:
            raise SpecError(f'the plug-in "{point.name}" ({point.value}) could not be loaded: {error}') from error

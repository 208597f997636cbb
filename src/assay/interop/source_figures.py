"""Compare the figures of a source's own summary with those of the imported run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.interop.imported_values import SourceFigure
from assay.results.run import RunReport, ScorerReport
from assay.spec.nearest import listing

TOLERANCE = 1e-9
"""The tolerance, relative and near 0 absolute: sums of the same numbers in another order differ by less."""
SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCheck:
    """The source's figures in the imported run:

    equal, different (name, there, here), missing, or available by a command.

    `computed` holds the names of the figures that a command of assay computes from the imported run, by the command.
    """

    equal: tuple[str, ...] = ()
    different: tuple[tuple[str, float, float | None], ...] = ()
    not_imported: tuple[str, ...] = ()
    computed: tuple[tuple[str, str], ...] = ()

    def document(self) -> dict[str, Any]:
        """The check as JSON."""
        return {
            "equal": list(self.equal),
            "different": [{"name": name, "source": source, "imported": here} for name, source, here in self.different],
            "not_imported": list(self.not_imported),
            "computed_by": {
                command: [name for name, by in self.computed if by == command]
                for command in dict.fromkeys(by for _, by in self.computed)
            },
        }

    def notes(self) -> list[str]:
        """Note the figures that differ and those that the run lacks."""
        notes = []
        for name, source, here in self.different:
            value = "undefined" if here is None else f"{here:.6g}"
            notes.append(f'the figure "{name}" differs: {source:.6g} in the source, {value} here')
        for command, names in self.document()["computed_by"].items():
            notes.append(f"`{command}` computes: {listing(names, most=SHOWN)}")
        if self.not_imported:
            notes.append(f"figures of the source that are not imported: {listing(self.not_imported, most=SHOWN)}")
        return notes


def check_figures(figures: Sequence[SourceFigure], report: RunReport) -> FigureCheck:
    """Look up every figure of the source in the report of the imported run."""
    scorers = {scorer.key: scorer for scorer in report.scorers}
    equal, different, lacking, computed = [], [], [], []
    for figure in figures:
        scorer = scorers.get(figure.scorer or "")
        if figure.command is not None:
            computed.append((figure.name, figure.command.replace("RUN", report.run)))
        elif scorer is None or not _has(figure, scorer):
            lacking.append(figure.name)
        else:
            here = _imported(figure, scorer, report.trials)
            if here is not None and math.isclose(here, figure.value, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                equal.append(figure.name)
            else:
                different.append((figure.name, figure.value, here))
    return FigureCheck(
        equal=tuple(equal), different=tuple(different), not_imported=tuple(lacking), computed=tuple(computed)
    )


def _has(figure: SourceFigure, scorer: ScorerReport) -> bool:
    """Return whether a scorer has the field of a figure. A sum over only failed samples is 0, without a metric."""
    names = {name for metric in scorer.metrics for name in metric.result.values}
    return figure.of == "failed" or figure.metric in names or (figure.of != "value" and not scorer.n_scored)


def _imported(figure: SourceFigure, scorer: ScorerReport, trials: int) -> float | None:
    """The figure as the imported run has it; sums are over all trials of its samples."""
    if figure.of == "failed":
        return float(scorer.n_failed)
    values = {name: value for metric in scorer.metrics for name, value in metric.result.values.items()}
    value = values.get(figure.metric or "")
    if value is None or value.value is None:
        # a sum over no samples is 0, whatever their mean would be
        return 0.0 if figure.of != "value" and (value is None or value.n == 0) else None
    n = value.n * trials
    return {"value": value.value, "sum": value.value * n, "rest": n - value.value * n}[figure.of]

"""Charts as SVG: pure functions from values to a drawing with a title, a description and the table behind it."""

from __future__ import annotations

from assay.report.charts.bars import interval_bar, interval_bars, ranks
from assay.report.charts.drawing import Bar, Chart
from assay.report.charts.matrices import agreement_matrix, confusion_matrix, heat_map
from assay.report.charts.plots import calibration_plot, cost_over_time, histogram

__all__ = [
    "Bar",
    "Chart",
    "agreement_matrix",
    "calibration_plot",
    "confusion_matrix",
    "cost_over_time",
    "heat_map",
    "histogram",
    "interval_bar",
    "interval_bars",
    "ranks",
]

"""A calibrated metric: as JSON, and as a table of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.report.table import Trimmed
from assay.report.values import interval, remark
from assay.results.calibration import Calibration
from assay.results.document import value_document
from assay.stats.calibration import Calibrated
from assay.text import clean, number
from assay.types import MetricValue


def calibration_document(calibration: Calibration) -> dict[str, Any]:
    """The object that `assay calibrate --json` prints for one mean."""
    calibrated = calibration.found
    return {
        "run": calibration.run,
        "metric": calibration.address,
        "criterion": calibration.criterion,
        "n_labelled": calibrated.n_labelled,
        "n_unlabelled": calibrated.n_unlabelled,
        "lambda": calibrated.trust,
        "estimate": value_document(calibrated.estimate),
        "judge": value_document(calibrated.judge),
        "labels_only": value_document(calibrated.labels_only),
        "rogan_gladen": _document(calibrated.rogan_gladen),
        "sensitivity": _document(calibrated.sensitivity),
        "specificity": _document(calibrated.specificity),
        "labels_to_halve": calibrated.labels_to_halve,
        "origin_p": calibration.origin_p,
        "warnings": list(calibration.warnings),
    }


def _document(value: MetricValue | None) -> dict[str, Any] | None:
    return None if value is None else value_document(value)


def calibration_table(every: tuple[Calibration, ...]) -> RenderableType:
    """Build the table of the judge's mean, the labels' mean, and the corrected mean."""
    return Group(*(part for calibration in every for part in _calibration_parts(calibration)))


def _calibration_parts(calibration: Calibration) -> Iterator[RenderableType]:
    calibrated = calibration.found
    title = clean(calibration.address) + (f" · {clean(calibration.criterion)}" if calibration.criterion else "")
    total = calibrated.n_labelled + calibrated.n_unlabelled
    counted = f"  run {calibration.run}, {calibrated.n_labelled:,} of {total:,} samples labelled"
    yield Text.assemble((title, "bold cyan"), (counted, "dim"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    table.add_column("value", justify="right")
    level = calibrated.judge.interval.level if calibrated.judge.interval is not None else 0.95
    table.add_column(f"{level:.0%} interval".replace("%", " %"))
    table.add_column("n", justify="right")
    table.add_column("method", style="dim", overflow="fold")
    rows = {
        "judge alone": calibrated.judge,
        "labels alone": calibrated.labels_only,
        "judge corrected": calibrated.estimate,
        "Rogan-Gladen": calibrated.rogan_gladen,
        "sensitivity": calibrated.sensitivity,
        "specificity": calibrated.specificity,
    }
    for name, value in rows.items():
        if value is not None:
            _row(table, name, value, bold=value is calibrated.estimate)
    yield Trimmed(table)
    if calibrated.estimate.value is not None:
        yield Text(
            f"Weight of the judge in the corrected value: {calibrated.trust:.2f} (0: ignored, 1: fully trusted).",
            style="dim",
        )
    yield Text(_more_labels(calibrated), style="dim")
    yield from (Text(f"warning: {clean(warning)}", style="yellow") for warning in calibration.warnings)


def _row(table: Table, name: str, value: MetricValue, *, bold: bool) -> None:
    method = value.interval.method if value.interval is not None and value.value is not None else ""
    remarks = "; ".join(part for part in (method, clean(remark(value))) if part and part != "none")
    style = "yellow" if value.value is None else "bold" if bold else ""
    bounds = "" if value.value is None else interval(value.interval)
    table.add_row(
        Text(name, style="bold" if bold else ""),
        Text(number(value.value), style=style),
        bounds,
        f"{value.n:,}",
        remarks,
    )


def _more_labels(calibrated: Calibrated) -> str:
    if calibrated.estimate.value is None:
        return "There are too few labels to say anything."
    if calibrated.labels_to_halve is None:
        return "More labels alone cannot halve this interval: have the judge score more samples too."
    sentence = f"An interval half as wide needs about {calibrated.labels_to_halve:,} labels"
    if calibrated.labels_to_halve > calibrated.n_labelled + calibrated.n_unlabelled:
        return f"{sentence}: more than there are samples."
    return f"{sentence}, {calibrated.labels_to_halve - calibrated.n_labelled:,} more."

"""Charts of distributions and panels, from what analysis counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.analysis.distributions import Distribution, PanelSummary
from assay.report.charts import Chart, agreement_matrix, calibration_plot, heat_map, histogram
from assay.results.calibration import Calibration

JUDGES_DRAWN = 25
CRITERIA_DRAWN = 30


def distribution_charts(distributions: Sequence[Distribution]) -> list[Chart]:
    """One histogram per field."""
    return [
        histogram(
            distribution.edges,
            distribution.counts,
            name=f"histogram-{distribution.scorer}-{distribution.field}",
            title=f"Distribution of {distribution.scorer} {distribution.field}",
        )
        for distribution in distributions
    ]


def correction_charts(corrected: Iterable[Calibration]) -> Iterator[Chart]:
    """Human labels beside the judge's scores, for metrics between 0 and 1 that labels correct."""
    for calibration in corrected:
        if calibration.points and all(0 <= end <= 1 for point in calibration.points for end in point[:2]):
            yield calibration_plot(
                calibration.points,
                name=f"labels-{calibration.address}",
                title=f"Human labels against {calibration.address}",
                across="score",
                up="mean of the labels",
            )


def panel_charts(summaries: Sequence[PanelSummary]) -> Iterator[Chart]:
    """Per panel: items by criteria, and how often every two judges agree."""
    for summary in summaries:
        values = [value for _, row in summary.items for value in row if value is not None]
        if values:
            criteria = summary.criteria[:CRITERIA_DRAWN]
            shown = (
                "" if summary.n_items == len(summary.items) else f", first {len(summary.items)} of {summary.n_items:,}"
            )
            yield heat_map(
                criteria,
                [(sample_id, row[: len(criteria)]) for sample_id, row in summary.items],
                name=f"panel-{summary.scorer}",
                title=f"{summary.scorer}: items by criterion{shown}",
                bounds=(min(0.0, *values), max(1.0, *values)),
            )
        if len(summary.judges) > 1:
            judges = summary.judges[:JUDGES_DRAWN]
            yield agreement_matrix(
                judges,
                {pair: share for pair, share in summary.agreement.items() if set(pair) <= set(judges)},
                name=f"judges-{summary.scorer}",
                title=f"{summary.scorer}: share of equal votes between judges",
            )

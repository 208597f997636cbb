"""Charts of distributions and panels, from what analysis counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.analysis.distributions import Distribution, PanelSummary
from assay.report.charts import Chart, agreement_matrix, heat_map, histogram

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

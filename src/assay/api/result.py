"""A finished run in the hands of a Python program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import SpecError
from assay.results.display import render
from assay.results.document import run_document, sample_document
from assay.results.run import RunReport
from assay.store.decoder import read_samples
from assay.store.runs import find
from assay.store.store import open_for_reading
from assay.summary.metrics import addressed
from assay.text import counted, number
from assay.types import MetricValue

if TYPE_CHECKING:
    import polars


NUMBERS_SHOWN = 4
"""The number of metrics in the one-line form of a result."""


class MetricValues(Mapping[str, MetricValue]):
    """The metrics of a run by address, `scorer/metric/name`, or by any unique ending of it."""

    def __init__(self, values: Mapping[str, MetricValue]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> MetricValue:
        if name in self._values:
            return self._values[name]
        addresses = [address for address in self._values if address.endswith(f"/{name}")]
        if len(addresses) == 1:
            return self._values[addresses[0]]
        if addresses:
            raise SpecError(f'"{name}" could be any of: {", ".join(addresses)}')
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of a run: its metrics in `metrics`, the samples behind them in `samples()`."""

    report: RunReport
    location: str

    def __repr__(self) -> str:
        report = self.report
        parts = [report.status, counted(report.n_samples, "sample")]
        if report.n_failed:
            parts.append(f"{report.n_failed:,} with failures")
        numbers = [f"{address} {number(value.value)}" for address, value in self.metrics.items()]
        parts += numbers[:NUMBERS_SHOWN] + ["..."] * (len(numbers) > NUMBERS_SHOWN)
        return f"<assay run {report.run} of {report.task}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """The table of metrics and the forest plot that a notebook shows."""
        return str(render(self.report, "html"))

    @property
    def run(self) -> str:
        """The id of the run."""
        return self.report.run

    @property
    def metrics(self) -> MetricValues:
        """Return the metrics, each with its interval."""
        return MetricValues(dict(addressed(self.report.scorers)))

    def samples(self) -> Iterator[dict[str, Any]]:
        """Every sample with its answer, scores and failures, as `assay samples --json` prints it."""
        store = open_for_reading(self.location)
        try:
            for entry in read_samples(store, find(store, self.report.run)):
                yield sample_document(entry)
        finally:
            store.close()

    def to_dicts(self) -> list[dict[str, Any]]:
        """All samples in a list."""
        return list(self.samples())

    def to_polars(self) -> polars.DataFrame:
        """All samples as a table with one column a field, if polars is installed."""
        import polars

        from assay.interop.flat import flat_rows

        return polars.DataFrame(list(flat_rows(self.samples())), infer_schema_length=None)

    def to_json(self) -> dict[str, Any]:
        """The object that `assay run --json` prints."""
        return run_document(self.report)

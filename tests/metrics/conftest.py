"""Shared by the tests of metrics: a metric run on rows of values, in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import settings

from assay.metrics.compute import compute, fields_of, labels_of
from assay.metrics.kinds import KINDS
from assay.metrics.table import TableBuilder
from assay.sandbox.linux import unsupported
from assay.sandbox.pool import Sandbox
from assay.types import MetricResult

# How long an example takes says something of the machine, not of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

Measure = Callable[..., MetricResult]
Row = Mapping[str, Any]


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Where metrics that are code run; nothing is started until one is."""
    with Sandbox(trusted=unsupported() is not None) as opened:
        yield opened


@pytest.fixture(scope="session")
def measure(sandbox: Sandbox) -> Measure:
    """Run a metric, given as its mapping in a file, on rows of score values."""
    kinds = {kind.name: kind for kind in KINDS}

    def run(
        metric: Mapping[str, Any],
        rows: Sequence[Row],
        *,
        metadata: Sequence[Row] | None = None,
        labels: Mapping[str, Sequence[str | None]] | None = None,
        clusters: Sequence[int] | None = None,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        level: float = 0.95,
    ) -> MetricResult:
        kind = kinds[metric["type"]]
        spec = kind.settings.model_validate(dict(metric))
        builder = TableBuilder(fields_of(spec).values(), labels_of(spec), ranges=ranges, whole=kind.runs_code)
        if rows:
            builder.add(rows, metadata or [{}] * len(rows), labels, clusters)
        return compute(kind.with_sandbox(sandbox), spec, builder.build(), seed=5, address="scorer/metric", level=level)

    return run

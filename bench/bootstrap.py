"""Bootstrap intervals beside one plain numpy bootstrap of a mean."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

import numpy as np

from assay.spec.fields import MetricSpec
from bench.measure import Line

ITEMS = 10_000
DRAWS = 10_000


def measure() -> Iterator[Line]:
    """Kappa and MCC over 10,000 items; the plain bootstrap draws the same number of means."""
    from assay.metrics.compute import compute
    from assay.metrics.kinds import KINDS
    from assay.metrics.table import TableBuilder

    random = np.random.default_rng(1)
    truth = random.integers(0, 4, ITEMS)
    guess = np.where(random.random(ITEMS) < 0.8, truth, random.integers(0, 4, ITEMS))
    builder = TableBuilder({"t", "p"})
    builder.add([{"t": str(t), "p": str(p)} for t, p in zip(truth, guess, strict=True)], [{}] * ITEMS)
    table = builder.build()
    plain_s = _time(lambda: _plain(random.random(ITEMS), random))
    kinds = {kind.name: kind for kind in KINDS}
    for name in ("cohens_kappa", "matthews_corrcoef", "multiclass-classification"):
        kind = kinds[name]
        settings = cast("MetricSpec", kind.settings.model_validate({"type": name, "field_gt": "t", "field_pred": "p"}))
        spent_s = _time(partial(compute, kind, settings, table, seed=0, address="b"))
        yield Line(
            what=f"{name} with its interval, {ITEMS:,} items / one plain numpy bootstrap of a mean",
            ratio=spent_s / plain_s,
            budget=20,
            detail=f"{spent_s * 1000:.0f} ms / {plain_s * 1000:.0f} ms",
        )


def _plain(values: np.ndarray, random: np.random.Generator) -> None:
    for _ in range(DRAWS // 1000):
        values[random.integers(0, ITEMS, (1000, ITEMS))].mean(axis=1)


def _time(work: Callable[[], object]) -> float:
    work()
    started = time.process_time()
    work()
    return time.process_time() - started

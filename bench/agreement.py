"""`assay agreement` on a large panel: CPU seconds of the whole command."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.measure import Line, run

ITEMS, JUDGES, CRITERIA, OPTIONS = 1056, 88, 6, 4


def measure() -> Iterator[Line]:
    """Half a million votes of 88 judges, without intervals of their 3,828 pairs."""
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(("item", "judge", "criterion", "label"))
            for criterion in range(CRITERIA):
                level = random.integers(0, OPTIONS, (ITEMS, 1))
                agrees = random.random((ITEMS, JUDGES)) < 0.6
                votes = np.where(agrees, level, random.integers(0, OPTIONS, (ITEMS, JUDGES)))
                for (item, judge), vote in np.ndenumerate(votes):
                    table.writerow((f"i{item}", f"judge-{judge}", f"c{criterion}", int(vote)))
        cost = run("-m", "assay", "agreement", "--votes", str(path), "--scale", "ordinal", "--json")
    yield Line(
        what=f"agreement, {ITEMS:,} items x {JUDGES} judges x {CRITERIA} criteria, CPU",
        ratio=cost.cpu_s,
        budget=10,
        goal=3,
        detail=f"{cost.wall_s:.1f} s wall, {cost.peak_mb:.0f} MB",
        unit="s",
    )

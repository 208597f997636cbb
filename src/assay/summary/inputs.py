"""The inputs of a run's metrics."""

from __future__ import annotations

from dataclasses import dataclass

from assay.spec.task import Trials
from assay.store.row_address import ONE_ROW, RowLayout
from assay.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInputs:
    """The inputs of a run's metrics: its committed rows without the excluded ones, and the rule that combines trials.

    `keys` are those of the run's scorers. `layout` says how many rows may come of one sample: all of them are
    one cluster. So are those with the same `source_id` when the rows of the dataset come in `families`.
    """

    store: Store
    rows_of: int
    keys: tuple[str, ...]
    seed: int
    trials: Trials | None = None
    without: frozenset[int] = frozenset()
    layout: RowLayout = ONE_ROW
    families: bool = False

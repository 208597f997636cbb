from __future__ import annotations

import pytest

from assay.errors import SpecError
from assay.metrics.counts import counts
from assay.metrics.table import TableBuilder


def test_counts_may_be_zero_but_not_negative() -> None:
    builder = TableBuilder(["hits", "misses"])
    builder.add([{"hits": 0, "misses": 2}, {"hits": 1, "misses": -3}], [{}, {}])
    table = builder.build()
    assert sorted(counts(table, "hits").columns[0].tolist()) == [0.0, 1.0]
    with pytest.raises(SpecError, match='"misses" counts something, but holds -3'):
        counts(table, "hits", "misses")

"""Scores of judges as columns: their order does not depend on which samples happen to be in a batch."""

from itertools import permutations

import pytest

from assay.runner.scoring import _columns
from assay.types import Score

FULL = {"score": 1.0, "polite": 1.0, "style": 0.0}
NO_POLITE = {"score": 0.0, "style": 0.0}
NO_STYLE = {"score": 1.0, "polite": 1.0}


@pytest.mark.parametrize("rows", list(permutations([FULL, NO_POLITE, NO_STYLE])))
def test_a_value_that_some_samples_lack_keeps_its_place(rows):
    columns = _columns([Score(scorer="s", values=values) for values in rows])
    assert list(columns.values) == ["score", "polite", "style"]
    assert columns.values["polite"] == [values.get("polite") for values in rows]

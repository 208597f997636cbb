from __future__ import annotations

import pytest

from assay.registry import Shelf
from assay.scorer.kinds import KINDS


def test_every_scorer_has_its_own_name():
    shelf = Shelf("scorer")
    for kind in KINDS:
        shelf.add(kind)
    assert set(shelf) == {
        "string_equals",
        "string_equals_mcqa",
        "contains",
        "regex",
        "numeric_equals",
        "json_schema",
        "bleu",
        "function_call_coverage",
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_ranges_and_outputs_fit_together(kind):
    assert kind.values
    assert set(kind.ranges) <= set(kind.values)
    assert not set(kind.values) & set(kind.metadata)
    assert kind.summary

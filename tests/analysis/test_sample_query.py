"""Which samples a query keeps, and what counts as wrong."""

from __future__ import annotations

import pytest

from assay.analysis.sample_query import is_wrong, parse_condition, quality
from assay.store.decoder import Sample
from assay.store.run_spec import RunSpec, StoredScorer
from assay.types import Score


@pytest.mark.parametrize(
    ("text", "accepted", "refused"),
    [
        ("score < 0.5", (0.4, -1), (0.5, 0.6, None, "low")),
        ("score<=0.3", (0.1 + 0.2, 0), (0.31,)),
        ("score >= 1", (1, 2), (0.9,)),
        ("score > 1", (1.1,), (1,)),
        ("n = 3", (3, 3.0), (4, None)),
        ("n == 3", (3,), (4,)),
        ("n != 3", (4, "x"), (3, None)),
        ("label = very good", ("very good",), ("good", 1)),
        ('label != "good"', ("bad",), ("good", None)),
    ],
)
def test_conditions(text, accepted, refused):
    condition = parse_condition(text)
    assert all(condition.accepts(value) for value in accepted)
    assert not any(condition.accepts(value) for value in refused)


@pytest.mark.parametrize(("grade", "expected"), [(0.0, "bad"), (0.4, "bad"), (0.5, "fair"), (1.0, "good")])
def test_a_grade_below_the_middle_of_its_range_is_wrong(grade, expected):
    scorer = StoredScorer(key="rubric", type="rubric", ranges={"score": (0.0, 1.0)})
    spec = RunSpec(kind="grade", task="t", scorers=(scorer,))
    assert quality(spec, "rubric", {"score": grade}) == expected
    score = Score(scorer="rubric", values={"score": grade})
    sample = Sample(sample_id="a", trial=0, sample={}, output="", scores={"rubric": score})
    assert is_wrong(spec, sample) is (expected == "bad")
    # a number of which nobody said what is good is neither right nor wrong
    assert quality(spec, "other", {"score": grade}) is None

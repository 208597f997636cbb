from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.scorers.contains import KIND, Contains


@pytest.mark.parametrize(
    ("substring", "reply", "sensitive", "score"),
    [
        ("Paris", "It is Paris.", True, 1.0),
        ("paris", "It is Paris.", True, 0.0),
        ("paris", "It is Paris.", False, 1.0),
        ("STRASSE", "die Straße", False, 1.0),
        ("x", "", True, 0.0),
    ],
)
def test_a_substring_is_found_or_not(make_rows, substring, reply, sensitive, score):
    settings = Contains(type="contains", substring="{{ sample.s }}", case_sensitive=sensitive)
    scored = KIND.score(settings, make_rows([reply], {"s": [substring]}))
    assert scored.values == {"is_correct": [score]}
    assert scored.metadata == {"substring": [substring]}


def test_an_empty_substring_is_no_test_and_so_a_failure(make_rows):
    scored = KIND.score(Contains(type="contains", substring="{{ sample.s }}"), make_rows(["a", "a"], {"s": ["", "a"]}))
    assert scored.values["is_correct"] == [None, 1.0]
    assert "empty" in scored.failures[0].detail
    with pytest.raises(ValidationError, match="the substring is empty"):
        Contains(type="contains", substring="")

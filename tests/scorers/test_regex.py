from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.scorers.regex import KIND, Regex


@pytest.mark.parametrize(
    ("pattern", "full", "reply", "score", "matched"),
    [
        (r"\d+", False, "room 12b", 1.0, "12"),
        (r"\d+", True, "room 12b", 0.0, None),
        (r"\d+", True, "12", 1.0, "12"),
        (r"(?i)paris", False, "PARIS", 1.0, "PARIS"),
        (r"^$", False, "", 1.0, ""),
        ("é", False, "café", 1.0, "é"),
        ("{{ sample.x }}", False, "x", 0.0, None),
    ],
)
def test_a_pattern_is_found_or_not(make_rows, pattern, full, reply, score, matched):
    scored = KIND.score(Regex(type="regex", pattern=pattern, full_match=full), make_rows([reply]))
    assert scored.values == {"is_correct": [score]}
    assert scored.metadata == {"matched": [matched]}


def test_a_pattern_that_cannot_run_is_found_when_the_file_is_loaded():
    with pytest.raises(ValidationError, match="RE2 cannot run the pattern"):
        Regex(type="regex", pattern=r"(?=x)")


def test_text_that_is_no_unicode_fails_alone(make_rows):
    scored = KIND.score(Regex(type="regex", pattern="a"), make_rows(["\ud800", "a"]))
    assert scored.values["is_correct"] == [None, 1.0]
    assert scored.failures[0].kind == "parse"

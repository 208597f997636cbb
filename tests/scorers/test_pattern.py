from __future__ import annotations

import pytest

from assay.scorers.common import RowFailureError
from assay.scorers.pattern import PATTERN_CHARACTERS, checked_pattern, compiled, matchable


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", r"(?=a)", r"(?<!a)b", "(", "[a", "a{1001}", "x" * (PATTERN_CHARACTERS + 1)]
)
def test_a_pattern_that_cannot_be_run_is_named_with_the_reason(pattern):
    with pytest.raises(ValueError, match="pattern"):
        checked_pattern(pattern)


def test_the_reason_says_what_the_engine_lacks():
    with pytest.raises(ValueError, match="no lookaround"):
        checked_pattern("(?=a)")


def test_a_pattern_that_would_need_too_much_memory_is_refused():
    with pytest.raises(ValueError, match="cannot run the pattern"):
        checked_pattern("((a{100}){100}){100}")


def test_time_grows_with_the_text_only():
    assert compiled("(a+)+$").search("a" * 200_000 + "b") is None


def test_text_that_is_no_unicode_is_a_failure_of_its_row():
    assert matchable("é") == "é"
    with pytest.raises(RowFailureError, match="not valid Unicode"):
        matchable("\ud800")

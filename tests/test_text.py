"""Foreign text and numbers on a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.values import interval, remark
from assay.text import clean, number
from assay.types import Interval, MetricValue


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text):
    shown = clean(text)
    assert not any(unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Zl", "Zp") for ch in shown)
    assert len(shown) == len(text)


def test_escape_sequences_and_direction_marks_are_defused():
    assert clean("\x1b]0;owned\x07 \u202eabc") == " ]0;owned   abc"


def test_long_text_is_cut_with_a_mark():
    assert clean("abcdefgh", width=5) == "abcd…"
    assert clean("abcde", width=5) == "abcde"


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "undefined"), (0.5, "0.500"), (1.0, "1.000"), (-0.25, "-0.250"), (31.4159, "31.42")]
)
def test_numbers(value, shown):
    assert number(value) == shown


def test_a_bound_that_cannot_be_had_is_shown_as_such():
    assert interval(Interval(low=0.1, high=None, method="order")) == "0.100 to ?"
    assert interval(Interval(low=None, high=None, method="none")) == "—"
    assert interval(None) == "—"


def test_a_reader_is_told_what_to_beware_of():
    assert remark(MetricValue(value=None, n=0, reason="nothing")) == "nothing"
    careful = Interval(low=0.0, high=1.0, method="wilson", caveat="few clusters")
    assert remark(MetricValue(value=0.5, n=3, interval=careful)) == "few clusters"
    assert remark(MetricValue(value=0.5, n=3)) == ""

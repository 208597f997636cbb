from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judging.answers import AnyLabel, Labels, Range, bare, number_of, plain, shown
from assay.judging.json_extraction import Unreadable

YES_NO = Labels(["yes", "no"])


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("Yes", "yes"),
        ("YES", "yes"),
        (" yes\n", "yes"),
        ("yes.", "yes"),
        ('"yes"', "yes"),
        ("'Yes.'", "yes"),
        ("**Yes**", "yes"),
        ("`no`", "no"),
        ("“No!”", "no"),
        ("# No", "no"),
        ("_No_.", "no"),
        ("<yes>", "yes"),
    ],
)
def test_a_label_is_read_in_any_case_and_decoration(written, label):
    assert YES_NO.read(written) == label


@pytest.mark.parametrize(
    "written", ["perhaps", "", " ", "yes and no", "yes/no", "not yes", "yess", "y", "Yes, because", "**", "是"]
)
def test_any_other_text_is_no_label(written):
    with pytest.raises(Unreadable, match='none of the labels "yes", "no"'):
        YES_NO.read(written)


@pytest.mark.parametrize("written", [["yes"], {"label": "yes"}, None])
def test_only_a_single_value_is_a_label(written):
    with pytest.raises(Unreadable, match="single value"):
        YES_NO.read(written)


@pytest.mark.parametrize(
    ("labels", "written", "label"),
    [
        (["Yes", "yes"], "yes", "yes"),
        (["Yes", "yes"], " Yes ", "Yes"),
        (["Yes", "yes"], "*yes*", "yes"),
        (["A+", "A"], "a+", "A+"),
        (["A+", "A"], "**A+**", "A+"),
        (["Yes!", "No!"], "yes", "Yes!"),
        (["C", "C++"], "c++.", "C++"),
        (["1", "2"], 1, "1"),
        (["1", "2"], 2.0, "2"),
        (["true", "false"], True, "true"),
        (["-1", "1"], -1, "-1"),
        (["0.5", "1"], 0.5, "0.5"),
        (["Straße"], "STRASSE", "Straße"),
        (["not applicable"], "Not Applicable.", "not applicable"),
        (["...", "x"], "...", "..."),
    ],
)
def test_the_declared_spelling_comes_back(labels, written, label):
    assert Labels(labels).read(written) == label


@pytest.mark.parametrize(("labels", "written"), [(["Yes", "yes"], "YES"), (["A!", "A?"], "A"), (["a", "A"], "**")])
def test_what_could_be_two_labels_is_none(labels, written):
    with pytest.raises(Unreadable):
        Labels(labels).read(written)


def test_a_mention_is_a_word_of_its_own_and_the_longest_label_counts():
    labels = Labels(["correct", "partly correct", "incorrect", "C++"])
    assert labels.named_in("This is Partly Correct.") == {"partly correct"}
    assert labels.named_in("incorrectly") == frozenset()
    assert labels.named_in("c++ is correct, not incorrect") == {"C++", "correct", "incorrect"}


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, unique_by=str.strip), st.data())
def test_every_declared_label_reads_as_itself(labels, data):
    label = data.draw(st.sampled_from(labels))
    assert Labels(labels).read(label) == label


@pytest.mark.parametrize(
    ("written", "label"), [("Sports", "Sports"), (' "Sports news". ', "Sports news"), (3, "3"), ("?!", "?!")]
)
def test_any_short_text_is_a_label_where_none_is_declared(written, label):
    assert AnyLabel().read(written) == label


@pytest.mark.parametrize("written", ["", "  ", "a\nb", "word " * 30, []])
def test_a_label_of_ones_own_is_neither_empty_nor_an_essay(written):
    with pytest.raises(Unreadable):
        AnyLabel().read(written)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        (80, 80.0),
        (0.5, 0.5),
        ("80", 80.0),
        (" 8.5 ", 8.5),
        ("**80**", 80.0),
        ("80.", 80.0),
        (".5", 0.5),
        ("+3", 3.0),
        ("1e1", 10.0),
        ("100/100", 100.0),
        ("80 / 100", 80.0),
        ("0", 0.0),
        (100, 100.0),
    ],
)
def test_a_number_is_read_as_it_is_usually_written(written, number):
    assert Range(0, 100).read(written) == number


@pytest.mark.parametrize(
    "written",
    [
        "",
        "eighty",
        "80%",
        "8/10",
        "80/100/2",
        "8,5",
        "80-90",
        "80 or 90",
        "nan",
        "inf",
        math.nan,
        math.inf,
        True,
        None,
        [1],
        {},
        "٣",
        "0x10",
        "1_0",
        "1e999",
        10**400,
        "9" * 5000,
    ],
)
def test_anything_else_is_no_number(written):
    with pytest.raises(Unreadable, match="number|single value"):
        Range(0, 100).read(written)


@pytest.mark.parametrize("written", [101, -1, "100.0001", "-0.1", "−3", "101/100"])
def test_a_number_out_of_range_is_never_moved_inside(written):
    with pytest.raises(Unreadable, match="is not between 0 and 100"):
        Range(0, 100).read(written)


def test_a_scale_may_go_below_zero():
    assert Range(-5, 5).read("−3") == -3.0
    assert Range(-5, 5).named_in("from -3 to 4.5") == {-3.0, 4.5}


def test_numbers_are_told_from_what_only_looks_like_them():
    assert number_of("1.") == 1.0
    assert number_of(None) is None
    assert number_of(False) is None


def test_texts_are_bared_and_cut():
    assert bare("(**a**)...") == "a"
    assert bare("") == ""
    assert shown("x" * 100) == '"' + "x" * 80 + '..."'
    assert plain("\ud800") == "?"

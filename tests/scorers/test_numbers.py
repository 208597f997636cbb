from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.scorers.numbers import last_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("18", "18"),
        ("#### 18", "18"),
        ("A: 18", "18"),
        ("$18", "18"),
        ("$ 18.50", "18.50"),
        ("-$18", "-18"),
        ("1,234.5", "1234.5"),
        ("1,234,567", "1234567"),
        ("1,2,3", "3"),
        ("12,3456", "3456"),
        ("-3", "-3"),
        ("\u22123", "-3"),
        ("+3", "3"),
        ("16-3", "3"),
        ("(5)-3", "3"),
        ("x = -3", "-3"),
        ("5%", "5"),
        ("5 %.", "5"),
        (".5", "0.5"),
        ("0.5.", "0.5"),
        ("18.", "18"),
        ("The answer is...18", "18"),
        ("3.14.15", "3.14"),
        ("1e3", "1000"),
        ("2.5E-3", "0.0025"),
        ("18km", "18"),
        ("答案是18", "18"),
        ("H2O", None),
        ("GPT4", None),
        ("x_2", None),
        ("", None),
        ("none", None),
        ("$", None),
        ("9 * 2 = $<<9*2=18>>18", "18"),
        ("1/2", "2"),
        ("1e999999999999999999999", "1"),
        ("٣", None),
    ],
)
def test_the_last_number_as_people_write_it(text, number):
    found = last_number(text)
    assert found == (None if number is None else Decimal(number))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4), st.text("abc .:$\n"))
def test_a_number_is_found_after_any_words(number, words):
    assert last_number(f"{words} {number:f}") == number
    assert last_number(f"{words} {number:,f}") == number


def test_digits_without_end_are_read_in_one_pass():
    assert last_number("1" * 100_000) is not None
    assert last_number("1," * 100_000) == 1

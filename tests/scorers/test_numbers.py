from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.scorers.numbers import close, last_number, one_number


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
        ("1/2", "0.5"),
        ("-3/4", "-0.75"),
        ("so it is 3/4 .", "0.75"),
        ("6/3 = 2", "2"),
        ("1/2/2024", "2024"),
        ("1 3/4", "1.75"),
        ("\\boxed{\\frac{3}{4}}", "0.75"),
        ("1/0", None),
        ("10^5", "100000"),
        ("10**5", "100000"),
        ("10⁵", "100000"),
        ("3 × 10^8 m", "300000000"),
        ("5*10^-3", "0.005"),
        ("2^10", "1024"),
        ("x^2", "2"),
        ("9^999999999", None),
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


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("18", 18),
        ("$1,018.50", Decimal("1018.50")),
        ("#### 1,018", 1018),
        ("9 * 2 = $<<9*2=18>>18\n#### 18", 18),
        ("x = -3", -3),
        ("about 18 apples", 18),
        ("18 km2", 18),
        ("5%", 5),
        ("18.", 18),
        ("1e5", 100_000),
        ("1e+22", 10**22),
        ("3/4", Decimal("0.75")),
        ("-1/3", Fraction(-1, 3)),
        ("1 1/2", Decimal("1.5")),
        ("\\frac{1}{8}", Decimal("0.125")),
        ("10^5", 100_000),
        ("2^-2", Decimal("0.25")),
        ("10²", 100),
        ("6.02 x 10^23", 602 * 10**21),
        ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_a_ground_truth_is_one_number(text, number):
    assert one_number(text) == number


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("three", "holds no number"),
        ("1:30", "is a time"),
        ("12:30 pm", "is a time"),
        ("3-5", "is a range"),
        ("3 – 5", "is a range"),
        ("3 to 5", "is a range"),
        ("$18-$20", "is a range"),
        ("between 3 and 5", "is a range"),
        ("18 or 19", "is a range"),
        ("1, 2", "contains more than one number"),
        ("1,5", "contains more than one number"),
        ("1.234.567", "contains more than one number"),
        ("2024-13-45", "is a range"),
        ("1/2/2024", "contains more than one number"),
        ("1/2 3/4", "contains more than one number"),
        ("5 ± 2", "contains more than one number"),
        ("> 5", 'is not one number: ">" stands beside it'),
        ("2π", "is not one number"),
        ("3½", "is not one number"),
        ("2^x", "is not one number"),
        ("1/0", "divides by zero"),
        ("9^999999999", "too large"),
    ],
)
def test_a_ground_truth_that_is_not_one_number_says_why(text, reason):
    with pytest.raises(ValueError, match=reason):
        one_number(text)


@pytest.mark.parametrize(
    ("one", "two", "tolerance", "equal"),
    [
        (Fraction(1, 3), Fraction(1, 3), "0", True),
        (Fraction(1, 3), Decimal("0.333"), "0", False),
        (Fraction(1, 3), Decimal("0.333"), "0.001", True),
        (Fraction(1, 3), Decimal("1e999999999"), "1", False),
        (Decimal("0.75"), Decimal("0.750"), "0", True),
    ],
)
def test_fractions_are_compared_exactly(one, two, tolerance, equal):
    assert close(one, two, Decimal(tolerance)) is equal
    assert close(two, one, Decimal(tolerance)) is equal


@pytest.mark.parametrize("piece", ["1/", "10^", "1 ", "1/2 ", "9**9", "10x10^"])
def test_a_long_text_is_read_in_one_pass(piece):
    last_number(piece * (100_000 // len(piece)))

"""Rules about numbers: how they are written, which value they mean, when they hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import SpecError
from assay.results.rules import Rule, find_values, holds, one_address, one_value, parse_rule
from assay.types import Interval, MetricValue

VALUE = MetricValue(value=0.8, n=100, interval=Interval(low=0.7, high=0.9, method="wilson"))
VALUES = {"exact/mean/accuracy": VALUE, "judge/mean/accuracy": VALUE, "judge/f1/F1 score": VALUE}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("accuracy >= 0.8", Rule(address="accuracy", operator=">=", threshold=0.8)),
        ("judge/mean/accuracy<.5", Rule(address="judge/mean/accuracy", operator="<", threshold=0.5)),
        ("MCQA Accuracy > 80%", Rule(address="MCQA Accuracy", operator=">", threshold=0.8)),
        ("bias = -1e-3", Rule(address="bias", operator="=", threshold=-0.001)),
        ("bias == 0", Rule(address="bias", operator="=", threshold=0.0)),
        ("latency ≤ 3", Rule(address="latency", operator="<=", threshold=3.0)),
    ],
)
def test_a_rule_is_an_address_an_operator_and_a_number(text, rule):
    assert parse_rule(text) == rule
    assert parse_rule(str(rule)) == rule


@pytest.mark.parametrize("text", ["", "accuracy", ">= 0.8", "accuracy >= high", "accuracy => 0.8", "accuracy >= nan"])
def test_what_is_no_rule_is_refused_with_an_example(text):
    with pytest.raises(SpecError, match="accuracy >= 0.8"):
        parse_rule(text)


def test_values_are_found_by_any_end_of_their_address():
    assert list(find_values(VALUES.items(), "accuracy")) == ["exact/mean/accuracy", "judge/mean/accuracy"]
    assert list(find_values(VALUES.items(), "exact/mean/accuracy")) == ["exact/mean/accuracy"]
    assert find_values(VALUES.items(), "curacy") == {}


def test_one_value_is_meant_or_the_candidates_are_named():
    assert one_value(VALUES, "F1 score") == ("judge/f1/F1 score", VALUE)
    with pytest.raises(SpecError, match="could be any of: exact/mean/accuracy, judge/mean/accuracy"):
        one_address(VALUES, "accuracy")
    with pytest.raises(SpecError, match='did you mean "accuracy"'):
        one_address(VALUES, "acuracy")
    with pytest.raises(SpecError, match="there are: exact/mean/accuracy"):
        one_address(VALUES, "zzz")


@pytest.mark.parametrize(
    ("operator", "threshold", "point", "bound"),
    [
        (">=", 0.8, True, False),
        (">", 0.8, False, False),
        (">=", 0.7, True, True),
        ("<=", 0.8, True, False),
        ("<", 0.95, True, True),
        ("=", 0.8, True, False),
        ("=", 0.5, False, False),
    ],
)
def test_the_bound_is_the_end_that_is_worse_for_the_operator(operator, threshold, point, bound):
    assert holds(VALUE, operator, threshold)[0] is point
    assert holds(VALUE, operator, threshold, on="bound")[0] is bound


def test_the_reason_names_the_number_and_the_end():
    assert holds(VALUE, ">=", 0.9)[1] == "0.800 is not >= 0.9"
    assert holds(VALUE, ">=", 0.75, on="bound")[1] == "0.700 (low end of 0.800) is not >= 0.75"
    assert holds(VALUE, "<", 0.95, on="bound")[1] == "0.900 (high end of 0.800) is < 0.95"


def test_an_undefined_value_fails_with_its_reason():
    undefined = MetricValue(value=None, n=0, reason="no sample was scored")
    for on in ("point", "bound"):
        for operator in (">=", "<", "="):
            assert holds(undefined, operator, 0.0, on=on) == (False, "undefined: no sample was scored")


def test_a_value_without_a_bound_cannot_pass_on_its_bound():
    bare = MetricValue(value=3.0, n=1)
    open_ended = MetricValue(value=3.0, n=9, interval=Interval(low=1.0, high=None, method="m", caveat="too few"))
    assert holds(bare, ">=", 1.0) == (True, "3 is >= 1")
    assert holds(bare, ">=", 1.0, on="bound") == (False, "3 has no bound to go by: the value has no interval")
    assert holds(open_ended, ">=", 1.0, on="bound")[0]
    assert holds(open_ended, "<=", 9.0, on="bound") == (False, "3 has no bound to go by: too few")


@given(st.floats(0, 1), st.floats(0, 1))
def test_exactly_one_of_less_equal_and_greater_holds(value, threshold):
    found = [holds(MetricValue(value=value, n=1), operator, threshold)[0] for operator in ("<", "=", ">")]
    assert sum(found) == 1


def test_rounding_does_not_miss_a_round_threshold():
    assert holds(MetricValue(value=0.1 + 0.2, n=3), "<=", 0.3)[0]

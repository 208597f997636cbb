from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.scorers.function_calls import (
    KIND,
    FunctionCallCoverage,
    _matched_in_any_order,
    _matched_in_order,
    call_fits,
    required_calls,
    same_json,
)


def _call(name, arguments="{}"):
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": "1"}


def _score(make_rows, required, calls, **more):
    settings = FunctionCallCoverage(type="function_call_coverage", function_calls=required, **more)
    return KIND.score(settings, make_rows(["done"], {"r": [["f"]]}, traces=[calls]))


@pytest.mark.parametrize(
    ("required", "calls", "mode", "made", "unrequired"),
    [
        (["f"], [_call("f")], "any_order", 1, 0),
        (["f", "g"], [_call("g"), _call("f")], "any_order", 2, 0),
        (["f", "g"], [_call("g"), _call("f")], "in_order", 1, 1),
        (["f", "g"], [_call("f"), _call("x"), _call("g")], "in_order", 2, 1),
        (["f", "f"], [_call("f")], "any_order", 1, 0),
        (["f"], [_call("f"), _call("f")], "any_order", 1, 1),
        (["f"], [_call("g")], "any_order", 0, 1),
        (["f"], [], "in_order", 0, 0),
        ([{"name": "f", "arguments": {"x": 1}}], [_call("f", '{"x": 1.0}')], "any_order", 1, 0),
        ([{"name": "f", "arguments": {"x": 1}}], [_call("f", {"x": 1})], "any_order", 1, 0),
        ([{"name": "f", "arguments": {"x": 1}}], [_call("f", '{"x": true}')], "any_order", 0, 1),
        ([{"name": "f", "arguments": {"x": 1}}], [_call("f", '{"x": 1, "y": 2}')], "any_order", 0, 1),
        ([{"name": "f", "arguments": {"x": 1}}], [_call("f", "not json")], "any_order", 0, 1),
        ([{"name": "f", "arguments": {}}], [_call("f", "")], "any_order", 1, 0),
        ([{"name": "f"}], [_call("f", '{"x": 1}')], "any_order", 1, 0),
        # the bare name must leave the call with arguments to the entry that needs it
        (["f", {"name": "f", "arguments": {"x": 1}}], [_call("f", '{"x": 1}'), _call("f")], "any_order", 2, 0),
    ],
)
def test_required_calls_are_matched_one_to_one(make_rows, required, calls, mode, made, unrequired):
    scored = _score(make_rows, required, calls, mode=mode)
    total = len(required)
    assert {name: column[0] for name, column in scored.values.items()} == {
        "all_required_calls_made": 1.0 if made == total else 0.0,
        "required_calls_coverage": made / total,
        "num_required_calls_made": made,
        "num_required_calls_not_made": total - made,
        "num_unrequired_calls": unrequired,
        "num_required_calls_total": total,
    }


def test_nothing_required_is_covered_in_full(make_rows):
    scored = _score(make_rows, [], [_call("f")])
    assert scored.values["required_calls_coverage"] == [1.0]
    assert scored.values["all_required_calls_made"] == [1.0]


def test_the_required_calls_may_come_from_the_sample(make_rows):
    assert _score(make_rows, "{{ sample.r }}", [_call("f")]).values["all_required_calls_made"] == [1.0]
    entry = [{"name": "{{ sample.r[0] }}", "arguments": {"x": "{{ sample.r[0] }}"}}]
    assert _score(make_rows, entry, [_call("f", '{"x": "f"}')]).values["all_required_calls_made"] == [1.0]


def test_a_plain_reply_has_called_nothing(make_rows):
    settings = FunctionCallCoverage(type="function_call_coverage", function_calls=["f"])
    assert KIND.score(settings, make_rows(["done"])).values["required_calls_coverage"] == [0.0]


@pytest.mark.parametrize(
    "entry", [3, "", ["f"], {"name": 3}, {"nam": "f"}, {"name": "f", "arguments": "x"}, {"name": "f", "more": 1}]
)
def test_a_wrong_entry_is_an_error_of_the_file_when_fixed_and_of_the_sample_when_not(make_rows, entry):
    with pytest.raises(ValidationError, match="entry 1|the arguments of entry 1"):
        FunctionCallCoverage(type="function_call_coverage", function_calls=[entry])
    settings = FunctionCallCoverage(type="function_call_coverage", function_calls="{{ sample.r }}")
    scored = KIND.score(settings, make_rows(["x"], {"r": [[entry]]}))
    assert scored.failures[0].kind == "parse"


@pytest.mark.parametrize("bad", [3, "f", None, {"name": "f"}])
def test_function_calls_is_a_list_or_a_template(bad):
    with pytest.raises(ValidationError, match="expected a list of function names"):
        FunctionCallCoverage(type="function_call_coverage", function_calls=bad)


def test_the_default_metrics_are_the_means_of_all_values():
    settings = FunctionCallCoverage(type="function_call_coverage", function_calls=[])
    assert [metric["field"] for metric in settings.default_metrics()] == list(KIND.values)


_NAMES = st.sampled_from("fg")
_ARGUMENTS = st.sampled_from([{"x": 1}, {"x": 2}])
_ENTRIES = st.lists(_NAMES | st.builds(lambda n, a: {"name": n, "arguments": a}, _NAMES, _ARGUMENTS), max_size=4)
_CALLS = st.lists(st.tuples(_NAMES, _ARGUMENTS), max_size=4)


def _pairings(entries, calls):
    """Every way to give each entry its own call or none."""
    places = [*range(len(calls)), *[None] * len(entries)]
    return set(permutations(places, len(entries)))


@given(_ENTRIES, _CALLS)
def test_no_pairing_covers_more_than_the_one_that_is_counted(entries, calls):
    required = required_calls(entries)
    most = in_order = 0
    for pairing in _pairings(required, calls):
        fitting = [(r, p) for r, p in zip(required, pairing, strict=True) if p is not None and call_fits(r, calls[p])]
        places = [p for _, p in fitting]
        most = max(most, len(fitting))
        if places == sorted(places):
            in_order = max(in_order, len(fitting))
    assert _matched_in_any_order(required, calls) == most
    assert _matched_in_order(required, calls) == in_order


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (True, True, True),
        ([1, {"a": 2}], [1, {"a": 2}], True),
        ([1], [1, 2], False),
        ({"a": 1}, {"b": 1}, False),
        ("a", ["a"], False),
        (None, None, True),
    ],
)
def test_arguments_are_equal_as_json(left, right, same):
    assert same_json(left, right) is same

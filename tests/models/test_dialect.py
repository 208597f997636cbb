from __future__ import annotations

import pytest

from assay.models.client import CallError
from assay.models.dialect import EndpointQuirks, billed, error_message, parameters, read_json
from assay.models.endpoint import Answer
from assay.types import Sampling, Usage


@pytest.mark.parametrize(
    ("document", "body", "said"),
    [
        ({"error": {"message": "why", "code": 1}}, b"", "why"),
        ({"error": {"code": 1}}, b"", "{'code': 1}"),
        ({"error": "why"}, b"", "why"),
        ({"message": "why"}, b"", "why"),
        ({"detail": "why"}, b"", "why"),
        ([{"error": {"message": "why"}}], b"", "why"),
        ({}, b" plain ", "plain"),
        ([], b"[]", "[]"),
        (None, b"\xff" + b"x" * 20_000, "�" + "x" * 9_999),
    ],
)
def test_an_error_is_read_in_the_words_of_the_provider(document, body, said):
    assert error_message(document, body) == said


def test_a_body_that_is_no_json_is_an_error_only_where_all_went_well():
    assert read_json(Answer(status=502, body=b"<html>", headers={}, latency_s=0)) is None
    with pytest.raises(CallError):
        read_json(Answer(status=200, body=b"<html>", headers={}, latency_s=0))


def test_parameters_are_those_that_are_set_and_taken():
    sampling = Sampling(temperature=0, top_p=0.5, stop=("x",))
    assert parameters(sampling, EndpointQuirks(without=frozenset({"top_p"}))) == {"temperature": 0, "stop": ("x",)}


@pytest.mark.parametrize("usage", [None, [], {}, {"b": 3}, {"b": -1, "d": 1}, {"b": True, "d": 1}, {"b": "3", "d": 1}])
def test_a_usage_that_cannot_be_true_is_missing(usage):
    assert billed(usage, ("a", "b"), ("d",)) is None


def test_the_first_count_that_is_there_counts():
    assert billed({"a": None, "b": 3, "c": 4, "d": 5.0}, ("a", "b", "c"), ("d",)) == Usage(
        prompt_tokens=3, completion_tokens=5
    )
    assert billed({"b": 2**64, "d": 0}, ("b",), ("d",)) is None

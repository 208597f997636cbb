from __future__ import annotations

import pytest

from assay.metrics.snippet import NO_INTERVAL
from assay.sandbox.linux import unsupported

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")


def case(body: str, **more) -> dict:
    return {"type": "python", "compute_metrics_snippet": f"def compute_metrics(scores):\n    {body}\n", **more}


ROWS = [{"a": 1.0}, {"a": 3.0, "b": "x"}]


def test_the_function_sees_every_score_with_its_metadata(measure):
    body = "return {'sum': sum(s['a'] for s in scores), 'm': sum(s.metadata['m'] for s in scores), 'n': len(scores)}"
    found = measure(case(body), ROWS, metadata=[{"m": 1}, {"m": 2}])
    assert {name: value.value for name, value in found.values.items()} == {"sum": 4.0, "m": 3.0, "n": 2.0}
    assert all(value.n == 2 for value in found.values.values())


def test_a_number_has_no_interval_and_the_reason_is_said(measure):
    (value,) = measure(case("return {'x': 1}"), ROWS).values.values()
    assert (value.interval.low, value.interval.high, value.interval.caveat) == (None, None, NO_INTERVAL)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("None", "the code returned nothing"),
        ("float('nan')", "the code returned a number (nan)"),
        ("float('inf')", "the code returned a number (inf)"),
        ("'high'", 'the code returned text ("high")'),
        ("[1]", "the code returned a list"),
    ],
)
def test_what_is_no_finite_number_is_undefined(measure, given, reason):
    (value,) = measure(case(f"return {{'x': {given}}}"), ROWS).values.values()
    assert (value.value, value.interval, value.reason) == (None, None, reason)


def test_booleans_count_as_one_and_zero(measure):
    assert [v.value for v in measure(case("return {'x': True, 'y': False}"), ROWS).values.values()] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return scores[0]['nothing']", "KeyError: 'nothing'"),
        ("return 3", "compute_metrics returned a number (3), not a mapping of numbers"),
        ("return {}", "compute_metrics returned no number"),
    ],
)
def test_code_that_fails_leaves_one_undefined_value_under_the_metrics_name(measure, body, reason):
    (entry,) = measure(case(body, key="mine"), ROWS).values.items()
    assert entry[0] == "mine"
    assert (entry[1].value, entry[1].interval) == (None, None)
    assert entry[1].reason.startswith(reason)


def test_prints_stand_in_the_detail(measure):
    assert measure(case("print('saw', len(scores)); return {'x': 1}"), ROWS).detail == {"printed": "saw 2\n"}


def test_groups_see_their_own_scores_only(measure):
    labels = {"{{ sample.g }}": ["one", "two"]}
    found = measure(case("return {'sum': sum(s.a for s in scores)}", group_by="{{ sample.g }}"), ROWS, labels=labels)
    assert {group: values["sum"].value for group, values in found.groups.items()} == {"one": 1.0, "two": 3.0}

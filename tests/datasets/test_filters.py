from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.datasets.batch import batch_of
from assay.datasets.filters import Filter, FilteredSource, filtered, parse_filters
from assay.errors import Place, SpecError
from assay.spec.fields import Located


def _rule(op, expression="x", **more):
    return Filter(op=op, expression=expression, **more)


@pytest.mark.parametrize(
    ("op", "value", "wanted", "kept"),
    [
        ("equals", 3, 3, True),
        ("equals", 3, 3.0, True),
        ("equals", "3", 3, True),
        ("equals", "007", 7, False),
        ("equals", "Paris", "paris", False),
        ("equals", "TRUE", True, True),
        ("equals", True, "True", True),
        ("equals", True, 1, False),
        ("equals", None, None, True),
        ("equals", None, "None", False),
        ("equals", ["a"], ["a"], True),
        ("not_equals", "a", "b", True),
        ("not_equals", None, "b", True),
        ("greater_than", 10, 9, True),
        ("greater_than", "10", 9, True),
        ("greater_than", 10, "9", True),
        ("greater_than", "2024-05-06", "2024-01-01", True),
        ("greater_than", "b", 1, True),
        ("greater_than", None, 0, False),
        ("greater_than", True, 0, False),
        ("greater_than", "nan", 0, True),
        ("less_than", 2**63 + 1, 2**63 + 2, True),
        ("less_than", 9, 10, True),
        ("less_or_equal", 10, 10, True),
        ("greater_or_equal", 9.5, 10, False),
        ("greater_or_equal", [1], 1, False),
    ],
)
def test_values_compare_as_typed_values_then_as_text(op, value, wanted, kept):
    assert _rule(op, value=wanted).holds({"x": value}) is kept


@pytest.mark.parametrize(
    ("op", "sample", "kept"),
    [
        ("exists", {"x": ""}, True),
        ("exists", {"x": None}, False),
        ("exists", {}, False),
        ("not_exists", {"x": 0}, False),
        ("not_exists", {}, True),
        ("is_true", {"x": True}, True),
        ("is_true", {"x": "tRuE"}, True),
        ("is_true", {"x": 1}, False),
        ("is_true", {}, False),
        ("is_false", {"x": "False"}, True),
        ("is_false", {"x": False}, True),
        ("is_false", {"x": 0}, False),
    ],
)
def test_conditions_without_a_value(op, sample, kept):
    assert _rule(op).holds(sample) is kept


def test_in_takes_any_of_the_values():
    assert _rule("in", values=["a", 3]).holds({"x": "3"})
    assert not _rule("in", values=["a", 3]).holds({"x": "b"})
    assert _rule("not_in", values=["a", 3]).holds({"x": "b"})
    assert _rule("not_in", values=[]).holds({"x": 1})


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        ("{{ sample.x }}", "x"),
        ("{{sample.x}}", "x"),
        ("sample.x", "x"),
        ("x", "x"),
        (" x y ", "x y"),
        ("{{ sample['x y'] }}", "x y"),
        ('sample["x"]', "x"),
        ("sample", "sample"),
        ("{{ x }}", "x"),
        ("sample.meta.level", "meta.level"),
    ],
)
def test_an_expression_names_a_column_in_several_ways(expression, column):
    assert _rule("exists", expression).columns == (column,)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("", "empty"),
        ("{{ }}", "empty"),
        ("{{ sample.x + }}", "not a Jinja expression"),
        ("{x}", "not a Jinja expression"),
    ],
)
def test_an_expression_that_cannot_be_read_is_an_error(expression, told):
    with pytest.raises(ValidationError, match=told):
        _rule("exists", expression)


@pytest.mark.parametrize(
    ("op", "expression", "value", "kept"),
    [
        ("is_true", "{{ sample.n > 2 }}", None, ["b", "c"]),
        ("is_true", "sample.n > 2 and sample.word | length < 5", None, ["b"]),
        ("equals", "{{ n * 2 }}", 6, ["b"]),
        ("equals", "{{ sample.word | upper }}", "EINS", ["a"]),
        ("equals", "sample['tags'][0]", "x", ["a", "c"]),
        ("exists", "{{ sample.hint | default(none) }}", None, ["c"]),
    ],
)
def test_a_filter_may_hold_any_jinja_expression(op, expression, value, kept):
    rows = [
        {"id": "a", "n": 1, "word": "eins", "tags": ["x"]},
        {"id": "b", "n": 3, "word": "drei", "tags": ["y"]},
        {"id": "c", "n": 5, "word": "fuenf", "tags": ["x"], "hint": "h"},
    ]
    rule = _rule(op, expression, **({} if value is None else {"value": value}))
    assert [row["id"] for row in rows if rule.holds(row)] == kept


def test_the_columns_of_an_expression_must_exist_somewhere():
    rule = _rule("is_true", "{{ sample.levle > 2 and wrod }}")
    assert rule.columns == ("levle", "wrod")


def test_an_expression_that_fails_on_a_sample_is_told():
    with pytest.raises(SpecError, match=r"the filter .* cannot be evaluated"):
        _rule("is_true", "{{ sample.n > 2 }}").holds({"n": "three"})


def test_a_dotted_name_reaches_into_objects_unless_a_column_is_so_named():
    rule = _rule("equals", "sample.meta.level", value=1)
    assert rule.holds({"meta": {"level": 1}})
    assert rule.holds({"meta.level": 1, "meta": {"level": 2}})
    assert not rule.holds({"meta": "text"})


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"op": "equal", "expression": "x", "value": 1}, r"filters\.1\.op: Input should be"),
        ({"op": "equals", "expression": "x"}, '"equals" needs "value"'),
        ({"op": "in", "expression": "x", "value": 1}, '"in" takes no "value"'),
        ({"op": "in", "expression": "x", "values": "ab"}, "valid list"),
        ({"op": "exists", "expression": "x", "value": 1}, '"exists" takes no "value"'),
        ({"op": "equals", "expression": 3, "value": 1}, "valid string"),
        ({"op": "equals", "expression": "x", "value": 1, "vale": 2}, r"filters\.1\.vale"),
        ("x == 1", "valid dictionary"),
    ],
)
def test_a_wrong_filter_is_an_error_that_says_what_was_expected(entry, told):
    good = {"op": "is_true", "expression": "x"}
    with pytest.raises(SpecError, match=told):
        parse_filters([good, entry])
    with pytest.raises(ValidationError):
        FilteredSource(type="x", filters=[good, entry])


def _batches(*groups):
    start = 0
    for group in groups:
        yield batch_of(start, [{"n": n} for n in group], "x")
        start += len(group)


def test_all_filters_must_hold_and_ids_stay_those_of_the_source():
    rules = parse_filters(
        [
            {"op": "greater_than", "expression": "n", "value": 1},
            {"op": "not_equals", "expression": "n", "value": 4},
        ]
    )
    kept = list(filtered(_batches([0, 1, 2], [0, 0], [3, 5], [4, 6]), rules))
    assert [b.ids for b in kept] == [["2"], ["5", "6"], ["8"]]
    assert [b.start for b in kept] == [0, 1, 3]


def test_a_column_that_no_sample_has_is_an_error_with_the_nearest_name():
    rule = Filter(op="equals", expression=Located("lvl", Place("d.yaml", 5, 3)), value=1)
    with pytest.raises(
        SpecError, match=r'd\.yaml:5:3: .*"lvl", which no sample has \(level, q\).*did you mean "level"'
    ):
        list(filtered([batch_of(0, [{"level": 1, "q": 2}], "x")], [rule]))
    assert list(filtered([], [rule])) == []
    absent = [_rule("not_exists", "error")]
    assert [b.ids for b in filtered([batch_of(0, [{"q": 2}], "x")], absent)] == [["0"]]


@given(st.lists(st.integers() | st.text() | st.booleans() | st.none() | st.floats()), st.integers() | st.text())
def test_a_filter_and_its_opposite_share_the_dataset(values, wanted):
    samples = [{"x": value} for value in values]
    for op, opposite in (("equals", "not_equals"), ("exists", "not_exists")):
        more = {"value": wanted} if op == "equals" else {}
        assert all(_rule(op, **more).holds(s) != _rule(opposite, **more).holds(s) for s in samples)

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Place, TemplateFailure
from assay.spec.fields import Located
from assay.templates import lists, objects, render_text, render_value, texts, values
from assay.types import Rows

Batch = Callable[..., Rows]


@pytest.mark.parametrize(
    ("template", "value", "text"),
    [
        ("{{ 3 }}", 3, "3"),
        ("{{ sample.n }}", None, "None"),
        ("{{ sample.seven }}", "7", "7"),
        ("{{ sample['seven'] | trim }}", "7", "7"),
        ("{{ sample.choices }}", ["A", "B"], "['A', 'B']"),
        ("{{ sample.choices | list }}", ["A", "B"], "['A', 'B']"),
        ("{{ sample.flag }}", True, "True"),
        ("{{- sample.seven -}}", "7", "7"),
        ("{# a note #}{{ sample.number }}", 1.5, "1.5"),
        ("{{ sample.number }}\n", 1.5, "1.5"),
        ("{{ sample.number }}\n\n", "1.5\n", "1.5\n"),
        (" {{ sample.number }}", " 1.5", " 1.5"),
        ("{{ sample.choices }}!", "['A', 'B']!", "['A', 'B']!"),
        ("{{ sample.number }}{{ sample.seven }}", "1.57", "1.57"),
        ("{% if sample.flag %}{{ sample.number }}{% endif %}", "1.5", "1.5"),
        ("{{ 1, 2 }}", (1, 2), "(1, 2)"),
        ("plain\n", "plain", "plain"),
    ],
)
def test_a_template_that_is_one_expression_gives_its_value(batch: Batch, template: str, value: Any, text: str) -> None:
    rows = batch({"n": None, "seven": "7", "choices": ["A", "B"], "flag": True, "number": 1.5})
    found = values(template, rows).values[0]
    assert found == value
    assert type(found) is type(value)
    assert texts(template, rows).values == [text]


def test_a_name_called_assay_result_is_an_ordinary_variable() -> None:
    assert render_value("{{ assay_result + 1 }}", {"assay_result": 1}) == 2


def test_a_missing_column_fails_only_its_own_sample(batch: Batch) -> None:
    rows = batch({"answer": "a"}, {"anwser": "b"}, {"answer": "c"})
    for template in ("{{ sample.answer }}", "{{ sample['answer'] }}", "{{ sample.answer ~ '' }}"):
        column = texts(template, rows, stage="solve")
        assert [column.values[0], column.values[2]] == ["a", "c"]
        assert list(column.failures) == [1]
        failure = column.failures[1]
        assert (failure.stage, failure.kind) == ("solve", "missing_field")
        assert 'no column "answer"; did you mean "anwser"?' in failure.detail


def test_a_failure_lists_the_columns_when_none_is_near(batch: Batch) -> None:
    detail = texts("{{ sample.zzz }}", batch({"question": 1, "answer": 2})).failures[0].detail
    assert "known: question, answer" in detail


def test_a_failure_names_the_templates_file_and_line(batch: Batch) -> None:
    place = Place("tasks/qa.yaml", 10, 7)
    block = Located("first\n{{ sample.nope }} and\n{{ 1 / 0 }}", place, literal=True)
    assert texts(block, batch({})).failures[0].detail.startswith("tasks/qa.yaml:11: the sample has no column")
    assert texts(block, batch({"nope": 1})).failures[0].detail.startswith("tasks/qa.yaml:12: division by zero")
    inline = Located("{{ sample.nope }}", place)
    assert texts(inline, batch({})).failures[0].detail.startswith("tasks/qa.yaml:10: the sample has no")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ nope }}", "'nope' is undefined"),
        ("a {{ sampel.x }}", 'did you mean "sample"?'),
        ("{{ sample.x +", "unexpected"),
        ("{{ sample.x | nofilter }}", "No filter named 'nofilter'"),
        ("{{ sample.text + 1 }}", "can only concatenate str"),
        ("{{ sample.x.y.z }}", "has no attribute 'y'"),
        ("{% include 'other' %}", "no loader"),
        ("{{ sample.keys }}.", "keys is a function: call it with ()"),
        ("{{ sample.meta.keys }}", "keys is a function: call it with ()"),
        ("{{ solver_output.output }}", "'solver_output' is undefined"),
        ("{{ sample.text | regex_replace('(', '') }}", "missing"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", ""),
        ("{{ " + "-" * 5000 + "1 }}", ""),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested too deeply"),
        ("{{ sample.long }}", "the value has no text"),
    ],
)
def test_whatever_goes_wrong_inside_a_template_is_a_failure_of_the_sample(
    batch: Batch, template: str, words: str
) -> None:
    rows = batch({"x": 1, "text": "t", "meta": {}, "long": 10**5000})
    column = texts(template, rows)
    assert column.failures[0].kind == "template"
    assert words in column.failures[0].detail
    assert column.values == [None]


def test_a_missing_key_inside_a_column_is_a_missing_field(batch: Batch) -> None:
    column = texts("{{ sample.meta.lang }}", batch({"meta": {"lnag": "de"}}))
    assert column.failures[0].kind == "missing_field"
    assert 'did you mean "lnag"?' in column.failures[0].detail


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{{ 'a' * 1000 }}{% endfor %}",
        "{{ 'a' * 20000000 }}",
        "{{ 20000000 * [1] }}",
        "{{ 10 ** (10 ** 10) }}",
        "{{ 'a'.ljust(20000000) }}",
        "{{ 'a' | center(20000000) }}",
        "{{ range(1000000) }}",
        "{{ ('a' * 9000000) ~ ('a' * 9000000) }}",
        "{{ [['a' * 9000000], ['a' * 9000000]] }}",
    ],
)
def test_a_template_cannot_make_something_huge(batch: Batch, template: str) -> None:
    assert texts(template, batch({})).failures[0].kind == "template"


def test_ordinary_arithmetic_and_padding_are_within_the_limits() -> None:
    template = "{{ '-' * 3 }}{{ 2 ** 10 }}{{ 2 ** -1 }}{{ 1.5 * 2 }}{{ '7'.zfill(3) }}{{ 'a' | center(3) }}"
    assert render_text(template, {}) == "---10240.53.0007 a "


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["A", "B"], ["A", "B"]),
        (("A", "B"), ["A", "B"]),
        ('["A", "B"]', ["A", "B"]),
        ("['A', 'B']", ["A", "B"]),
        (" ('A', None) ", ["A", None]),
        ("[]", []),
    ],
)
def test_a_list_field_takes_a_list_json_or_a_python_literal(batch: Batch, value: Any, expected: list[Any]) -> None:
    rows = batch({"c": value}, {"c": value})
    assert lists("{{ sample.c }}", rows).values == [expected, expected]


@pytest.mark.parametrize("value", ["A, B", "{}", 3, None, "3", "", "[" * 3000, "[1" + " " * 70_000 + ",'a']"])
def test_what_is_not_a_list_is_a_failure(batch: Batch, value: Any) -> None:
    column = lists("{{ sample.c }}", batch({"c": value}, {"c": [1]}))
    assert column.failures[0].kind == "template"
    assert "expected a list, got" in column.failures[0].detail
    assert column.values[1] == [1]


def test_a_literal_list_is_only_read_up_to_64_kb_but_json_has_no_such_limit(batch: Batch) -> None:
    assert lists("{{ sample.c }}", batch({"c": "['" + "a" * 70_000 + "']"})).failures
    assert not lists("{{ sample.c }}", batch({"c": '["' + "a" * 70_000 + '"]'})).failures


def test_the_parts_of_a_written_list_are_templates_of_their_own(batch: Batch) -> None:
    rows = batch({"x": 1, "y": "b"}, {"y": "b"})
    column = lists(["{{ sample.x }}", "fixed", 3, ["{{ sample.y }}"], {"k": "{{ sample.y }}"}], rows)
    assert column.values == [[1, "fixed", 3, ["b"], {"k": "b"}], None]
    assert column.failures[1].kind == "missing_field"


def test_an_object_field_takes_a_mapping_json_or_a_python_literal(batch: Batch) -> None:
    rows = batch({"c": {"a": 1}}, {"c": '{"a": 1}'}, {"c": "{'a': 1}"}, {"c": "[1]"})
    column = objects("{{ sample.c }}", rows)
    assert column.values == [{"a": 1}, {"a": 1}, {"a": 1}, None]
    assert "expected a mapping" in column.failures[3].detail
    assert objects({"n": "{{ sample.c }}"}, rows).values[1] == {"n": '{"a": 1}'}


def test_a_json_reply_is_read_as_an_object(batch: Batch) -> None:
    rows = batch({}, answers=['{"a": 1}'])
    assert objects("{{ solver_output.output }}", rows).values == [{"a": 1}]
    assert objects("{{ (solver_output).output }}", rows).values == [{"a": 1}]


def test_one_rendering_with_explicit_variables() -> None:
    assert render_text("{{ a }}-{{ b }}", {"a": 1, "b": "x"}) == "1-x"
    assert render_value("{{ a }}", {"a": [1]}) == [1]
    assert type(render_value("{{ a | escape }}", {"a": "<"})) is str
    with pytest.raises(TemplateFailure, match="'c' is undefined"):
        render_text("{{ c }}", {"a": 1})


names = st.text(st.characters(categories=["L"]), min_size=1, max_size=8).filter(str.isidentifier)
plain = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.lists(st.text()))


@given(names, plain, st.sampled_from(["{{ sample.%s }}", "{{ sample['%s'] }}", '{{sample["%s"]}}\n']))
def test_the_lookup_of_a_column_gives_what_jinja_gives(name: str, value: Any, form: str) -> None:
    rows = Rows(positions=[0], ids=["0"], samples=[{name: value}])
    fast, slow = form % name, "{# #}" + form % name
    assert values(fast, rows) == values(slow, rows)
    assert texts(fast, rows) == texts(slow, rows)
    absent = Rows(positions=[0], ids=["0"], samples=[{}])
    assert texts(fast, absent).failures[0].kind == texts(slow, absent).failures[0].kind == "missing_field"


@given(st.text(st.characters(exclude_characters="{"), max_size=30))
def test_fixed_text_gives_what_jinja_gives(text: str) -> None:
    rows = Rows(positions=[0], ids=["0"], samples=[{}])
    assert texts(text, rows) == texts("{# #}" + text, rows)


@given(st.text())
def test_text_in_a_sample_is_never_read_as_a_template(text: str) -> None:
    rows = Rows(positions=[0], ids=["0"], samples=[{"x": "{{ 7 * 7 }}" + text}], answers=["{% raw %}" + text])
    assert texts("{{ sample.x }}", rows).values == ["{{ 7 * 7 }}" + text]
    assert texts("<{{ sample.x }}>", rows).values == ["<{{ 7 * 7 }}" + text + ">"]
    assert texts("<{{ solver_output.output }}>", rows).values == ["<{% raw %}" + text + ">"]


def test_hostile_strings_come_out_unchanged(real_data: Path) -> None:
    file = real_data / "hostile" / "naughty_strings__security.jsonl.gz"
    lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    samples = [{"x": json.dumps(line)} for line in lines]
    rows = Rows(positions=range(len(samples)), ids=[str(i) for i in range(len(samples))], samples=samples)
    for template in ("{{ sample.x }}", "{{ sample.x ~ '' }}", "{{ sample.x }}{# #}"):
        assert texts(template, rows).values == [sample["x"] for sample in samples]

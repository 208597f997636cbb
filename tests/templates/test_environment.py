from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.templates import render_text, render_value, texts
from assay.types import Rows

Batch = Callable[..., Rows]


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ sample.__init__ }}",
        "{{ sample.__init__ }}!",
        "{{ sample['__class__'] | string }}",
        "{{ sample | attr('__class__') }}",
        "{{ '{0.__class__.__mro__}'.format(sample) }}",
        "{{ '{a.__class__}'.format_map({'a': 1}) }}",
        "{{ ('{0.__class__}' | attr('format'))(1) }}",
        "{{ (sample.f or '{0.__class__}'.format)(sample) }}",
        "{{ range.__globals__ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ self.__init__ }}",
        "{{ solver_output._row }}",
        "{{ solver_output.__dict__ }}",
        "{% do sample.update({'x': 1}) %}",
        "{% do sample.pop('x') %}",
        "{% do sample.list.append(1) %}",
        "{% do messages.clear() %}",
        "{{ lipsum() }}",
        "{{ sample.list | random }}",
    ],
)
def test_a_way_out_of_the_sandbox_is_refused(batch: Batch, template: str) -> None:
    sample = {"x": 1, "list": [1], "f": None}
    column = texts(template, batch(sample, answers=["r"]))
    assert column.failures[0].kind in ("template", "missing_field")
    assert sample == {"x": 1, "list": [1], "f": None}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("""{{ '{"a": [1]}' | fromjson }}""", {"a": [1]}),
        ("{{ {'a': '<&é', 'b': [1, none]} | tojson }}", '{"a": "<&é", "b": [1, null]}'),
        ("{{ [1] | tojson(indent=1) }}", "[\n 1\n]"),
        ("""{{ 'say "hi"\n' | json_escape }}""", 'say \\"hi\\"\\n'),
        ("{{ [1, 2] | zip(['a', 'b', 'c']) }}", [(1, "a"), (2, "b")]),
        ("{{ {'a': 1, 'b': 1} | merge({'b': 2}) }}", {"a": 1, "b": 2}),
        (r"{{ 'a1b22' | regex_replace('[0-9]+', '#') }}", "a#b#"),
        (r"{{ 'John Smith' | regex_replace('(\\w+) (\\w+)', '\\2 \\1') }}", "Smith John"),
        ("{{ 'AaA' | regex_replace('a', '-', ignorecase=true, count=2) }}", "--A"),
        ("{% for i in range(5) %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}", "012"),
        ("{% set ns = namespace(n=0) %}{% do none %}{% set ns.n = 2 %}{{ ns.n }}", "2"),
        ("{{ '<b>' }}&", "<b>&"),
    ],
)
def test_the_filters_and_extensions(template: str, expected: Any) -> None:
    assert render_value(template, {}) == expected


@pytest.mark.parametrize("name", ["items", "keys", "values", "get", "pop", "update"])
def test_a_column_comes_before_the_method_of_that_name(batch: Batch, name: str) -> None:
    rows = batch({name: "column", "nested": {name: "key"}})
    assert texts(f"{{{{ sample.{name} }}}}", rows).values == ["column"]
    assert texts(f"-{{{{ sample.{name} }}}}", rows).values == ["-column"]
    assert texts(f"{{{{ sample.nested.{name} }}}}", rows).values == ["key"]


def test_methods_work_where_no_column_has_their_name(batch: Batch) -> None:
    rows = batch({"x": 1})
    template = "{{ sample.get('x') }}{{ sample.get('y', 2) }}{% for k, v in sample.items() %}{{ k }}{% endfor %}"
    assert texts(template, rows).values == ["12x"]


def test_a_tested_column_need_not_be_there() -> None:
    assert render_text("{{ 'y' if sample.a is defined else 'n' }}", {"sample": {}}) == "n"
    assert render_text("{{ sample.a | default('d') }}", {"sample": {}}) == "d"


def test_rendering_the_same_template_again_is_not_affected_by_the_first_rendering() -> None:
    template = "{% set x = (x or 0) + 1 %}{{ x }}"
    assert render_text(template, {"x": 1}) == "2"
    assert render_text(template, {"x": 5}) == "6"

from __future__ import annotations

import pytest

from assay.templates import ColumnUse, check_syntax, columns_read


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("fixed", []),
        ("{{ sample.x }}", [("x", 1)]),
        ("{{\nsample['x'] }}", [("x", 2)]),
        ("{{ solver_output.output }}", []),
        ("{{ sample.sample_id }}", []),
        ("a\n{{ sample.x }}\n{{ sample['y z'] }} {{ sample.x }}", [("x", 2), ("y z", 3)]),
        ("{{ sample.x.deep.name }}", [("x", 1)]),
        ("{% if sample.a %}{{ sample.b | upper }}{% endif %}", [("a", 1), ("b", 1)]),
        ("{{ sample.x is defined }}{{ sample.y }}", [("y", 1)]),
        ("{% if sample.x is defined %}{{ sample.x }}{% endif %}", []),
        ("{{ sample.x | default('') }} {{ sample.y.z | d('') }}", []),
        ("{{ sample.get('x') }} {{ sample.x }}", []),
        ("{{ 'x' in sample and sample.x }}", []),
        ("{% for k in sample.keys() %}{{ k }}{{ sample.items() }}{% endfor %}", []),
        ("{{ sample.items }}!", [("items", 1)]),
        ("{% for sample in sample.list %}{{ sample.x }}{% endfor %}", []),
        ("{{ sample[column] }} {{ sample[0] }}", []),
        ("{{ other.x }}", []),
        ("{{ sample.x", []),
        ("{{ sample['<< config.column >>'] }}", []),
        ("{{ sample['<< config.column >>'] }} {{ sample.x }}", []),
    ],
)
def test_the_columns_that_every_sample_must_have(template: str, expected: list[tuple[str, int]]) -> None:
    assert columns_read(template) == tuple(ColumnUse(*each) for each in expected)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("fixed", None),
        ("{{ sample.x }}", None),
        ("{{ sample.x | trim }}", None),
        ("{{ sample.<< config.column >> }}", None),
        ("a\n{% if x %}", "line 2: "),
        ("{{ sample.x | nope }}", "line 1: No filter named 'nope'."),
        ("{{ x is odd_thing }}", "line 1: No test named 'odd_thing'."),
        ("{{ sample.x | lowerr }}", "line 1: No filter named 'lowerr'. Did you mean \"lower\"?"),
        ("{{ sample.x | json_escap }}", "line 1: No filter named 'json_escap'. Did you mean \"json_escape\"?"),
        ("{{ sample.x is definde }}", "line 1: No test named 'definde'. Did you mean \"defined\"?"),
        ("{{ sample.x }", "line 1: unexpected '}'"),
        ("{{ " + "(" * 5000, "line 1: "),
    ],
)
def test_a_syntax_error_is_told_with_its_line(template: str, words: str | None) -> None:
    found = check_syntax(template)
    assert (found is None) if words is None else (found is not None and found.startswith(words))

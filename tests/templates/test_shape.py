from __future__ import annotations

import subprocess
import sys

import pytest

from assay.templates import has_placeholder
from assay.templates.shape import ColumnLookup, Constant, ReplyLookup, is_constant, shape


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("Paris", Constant("Paris")),
        ("", Constant("")),
        ("Paris\n", Constant("Paris")),
        ("Paris\n\n", Constant("Paris\n")),
        ("a\r\nb", Constant("a\nb")),
        ("{ not a tag }", Constant("{ not a tag }")),
        ("{{ sample.x }}", ColumnLookup("x", 1)),
        ("{{sample.x}}", ColumnLookup("x", 1)),
        ("{{\n  sample . x\n}}\n", ColumnLookup("x", 2)),
        ("{{ sample['a b'] }}", ColumnLookup("a b", 1)),
        ('{{ sample["a.b"] }}', ColumnLookup("a.b", 1)),
        ("{{ sample[''] }}", ColumnLookup("", 1)),
        ("{{ solver_output.output }}", ReplyLookup()),
        ("{{ solver_output.output.choices[0].message.content }}", ReplyLookup()),
        ('{{ solver_output.output["choices"][0]["message"]["content"] }}', ReplyLookup()),
        (" {{ sample.x }}", None),
        ("{{ sample.x }}{{ sample.y }}", None),
        ("{{ sample.x.y }}", None),
        ("{{ sample.x | trim }}", None),
        ("{{ sample.1x }}", None),
        (r"{{ sample['a\nb'] }}", None),
        ("{{ samples.x }}", None),
        ("{# note #}", None),
        ("{% if true %}x{% endif %}", None),
    ],
)
def test_the_simple_shapes_are_told_from_the_text_alone(template: str, expected: object) -> None:
    assert shape(template) == expected
    assert is_constant(template) is isinstance(expected, Constant)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ sample.<< config.column >> }}", True),
        ("<< secrets.token >>", True),
        ("<<config.column>>", False),
        ("<< other.x >>", False),
        ("1 << 2 >> 1", False),
    ],
)
def test_only_the_exact_placeholder_counts(template: str, expected: bool) -> None:
    assert has_placeholder(template) is expected


def test_a_template_that_names_a_column_does_not_load_jinja() -> None:
    code = (
        "import sys\n"
        "from assay.templates import texts, values, lists, columns_read, check_syntax\n"
        "from assay.types import Rows\n"
        "rows = Rows(positions=[0], ids=['0'], samples=[{'x': '[1]'}], answers=['r'])\n"
        "assert texts('{{ sample.x }}', rows).values == ['[1]']\n"
        "assert texts('{{ solver_output.output }}', rows).values == ['r']\n"
        "assert lists('{{ sample.x }}', rows).values == [[1]]\n"
        "assert values('fixed', rows).values == ['fixed']\n"
        "assert texts('{{ sample.y }}', rows).failures\n"
        "assert columns_read('{{ sample.x }}') and check_syntax('{{ sample.x }}') is None\n"
        "assert 'jinja2' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

from __future__ import annotations

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.datasets.jsonl import read_jsonl
from assay.errors import SpecError


def test_the_store_gets_the_line_itself(write):
    line = '{ "b": 1.50,  "a":"\\u00e9" }'
    (batch,) = read_jsonl(write("a.jsonl", line + "\n"))
    assert batch.texts == [line]
    assert batch.samples == [{"b": 1.5, "a": "é"}]


def test_blank_lines_and_windows_line_ends_are_no_samples(write):
    (batch,) = read_jsonl(write("a.jsonl", '\r\n{"a":1}\r\n  \r\n{"a":2}\r\n'))
    assert batch.samples == [{"a": 1}, {"a": 2}]
    (batch,) = read_jsonl(write("a.jsonl", '{"a":1}\r\n{"a":2}\r\n'))
    assert batch.texts == ['{"a":1}', '{"a":2}']
    assert batch.ids == ["0", "1"]


def test_a_file_of_blank_lines_has_no_samples(write):
    assert list(read_jsonl(write("a.jsonl", "\n\n"))) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"a": 1', r":3:8: not valid JSON .*expected one JSON object per line"),
        ("{'a': 1}", r":3:2: not valid JSON"),
        ('{"a": NaN}', r":3:\d+: not valid JSON"),
        ("[" * 5000, r":3:\d+: not valid JSON"),
        ("[1]", r":3:1: a JSON array; expected a JSON object on each line"),
        ("3", r":3:1: a JSON number"),
        ('"x"', r":3:1: a JSON string"),
        ("null", r":3:1: a JSON null"),
        ("true", r":3:1: a JSON boolean"),
    ],
)
def test_a_bad_line_is_an_error_at_its_line(write, line, told):
    with pytest.raises(SpecError, match=r"a\.jsonl" + told):
        list(read_jsonl(write("a.jsonl", f'{{"a": 1}}\n\n{line}\n{{"a": 2}}\n')))


def test_a_value_that_is_no_object_is_found_among_good_lines(write):
    with pytest.raises(SpecError, match=r"a\.jsonl:2:1: a JSON array"):
        list(read_jsonl(write("a.jsonl", '{"a":1}\n[]\n{"a":2}\n')))


def test_ids_go_on_over_batches_and_blank_lines(write):
    path = write("a.jsonl", "".join(f'{{"n":{i}}}\n\n' for i in range(6_000)))
    batches = list(read_jsonl(path))
    assert [i for b in batches for i in b.ids] == [str(i) for i in range(6_000)]
    assert [b.start for b in batches] == [0, 2500, 5000]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_NAMES = st.text(st.characters(codec="utf-8"), max_size=5).filter(lambda name: name != "sample_id")


@given(rows=st.lists(st.dictionaries(_NAMES, _JSON, max_size=3), max_size=5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_written_is_what_is_read(write, rows):
    path = write("law.jsonl", b"".join(orjson.dumps(row) + b"\n" for row in rows))
    assert [s for b in read_jsonl(path) for s in b.samples] == rows

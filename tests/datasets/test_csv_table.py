from __future__ import annotations

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.datasets import csv_table as module
from assay.datasets.csv_table import read_csv
from assay.errors import SpecError


def _samples(path):
    return [sample for batch in read_csv(path) for sample in batch.samples]


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1", "-2", "0"], [1, -2, 0]),
        (["1.5", "-0.25"], [1.5, -0.25]),
        (["True", "False"], [True, False]),
        (["9223372036854775807"], [2**63 - 1]),
        (["-9223372036854775808"], [-(2**63)]),
        # and what stays text, because the text of the value would be another one
        (["007", "1"], None),
        (["1e3"], None),
        (["true"], None),
        (["nan"], None),
        (["inf"], None),
        (["9223372036854775808"], None),
        (["1_000"], None),
        (["+1"], None),
        (["-0"], None),
        (["1.50"], None),
        (["1", "2.5"], None),
        (["1", "True"], None),
        (["1", "x"], None),
        (["1", '""'], None),
        (['" 1"'], None),
        (["٣"], None),
        (["1" * 5000], None),
    ],
)
def test_a_column_gets_a_type_only_if_every_text_survives_it(write, texts, values):
    path = write("a.csv", "c,d\n" + "".join(f"{text},x\n" for text in texts))
    found = [sample["c"] for sample in _samples(path)]
    expected = [next(csv.reader([text]))[0] for text in texts] if values is None else values
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


def test_a_late_value_decides_the_type_of_the_whole_column(write):
    path = write("a.csv", "n\n" + "1\n" * 5_000 + "x\n")
    found = _samples(path)
    assert found[0] == {"n": "1"}
    assert found[-1] == {"n": "x"}


def test_quotes_line_ends_and_a_byte_order_mark_are_read_as_csv_means_them(write):
    path = write("a.csv", '\ufeffq,a\r\n"say ""hi"", please\nnow",x\r\n\r\n\u2028\x0b,y\r\n')
    assert _samples(path) == [{"q": 'say "hi", please\nnow', "a": "x"}, {"q": "\u2028\x0b", "a": "y"}]


def test_a_packed_file_and_an_empty_table_are_read(write):
    assert _samples(write("a.csv.gz", "a\n1\n")) == [{"a": 1}]
    assert _samples(write("a.csv", "a,b\n")) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a header"),
        ("\na\n", "expected a header"),
        ("a,b,a\n1,2,3\n", 'names the column "a" twice'),
        ("a,\n1,2\n", "column 2 of the header has no name"),
        ('a,b\n1,2\n"x\ny",2,3\n', r"a\.csv:4:1: 3 values in this row; expected 2"),
        ("a,b\n1\n", r"a\.csv:2:1: 1 values in this row; expected 2"),
        ('a\n"never closed\n', "not valid CSV: unexpected end of data"),
        ('a\nb\n"never\nclosed\n\nc\n', r"a\.csv:3:1: not valid CSV: .*a quote in the row that begins here"),
        ('a\n"x"y\n', r"a\.csv:2:1: not valid CSV"),
    ],
)
def test_a_table_that_is_none_is_an_error_at_its_line(write, text, told):
    with pytest.raises(SpecError, match=told):
        _samples(write("a.csv", text))


def test_a_field_over_the_limit_is_an_error(write, monkeypatch):
    before = csv.field_size_limit()
    monkeypatch.setattr(module, "LINE_BYTES", 100)
    try:
        with pytest.raises(SpecError, match=r"field larger than field limit \(100\)"):
            _samples(write("a.csv", "a\n" + "x" * 101 + "\n"))
    finally:
        csv.field_size_limit(before)


def test_long_rows_make_batches_smaller(write, monkeypatch):
    monkeypatch.setattr(module, "BATCH_BYTES", 10)
    batches = list(read_csv(write("a.csv", "a\n" + "xxxxxx\n" * 5)))
    assert [len(b) for b in batches] == [2, 2, 1]
    assert [i for b in batches for i in b.ids] == list("01234")


@given(
    rows=st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\r")), st.integers() | st.floats() | st.booleans()
        )
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_text_of_every_value_is_the_text_of_the_file(write, rows):
    made = io.StringIO()
    csv.writer(made, quoting=csv.QUOTE_ALL).writerows([("t", "v"), *rows])
    found = _samples(write("law.csv", made.getvalue()))
    assert [(str(s["t"]), str(s["v"])) for s in found] == [(t, str(v)) for t, v in rows]

"""Columns as JSON text, row by row."""

import json

from hypothesis import given
from hypothesis import strategies as st

from assay.store.row_encoder import MEMO_SIZE, RowEncoder

VALUE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.floats(-2, 2),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
)


@given(st.lists(st.tuples(VALUE, VALUE), max_size=20))
def test_every_row_comes_back_as_it_went_in(rows):
    columns = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    texts = RowEncoder().encode(columns, len(rows))
    expected = [{name: value for name, value in zip("ab", row, strict=True) if value is not None} for row in rows]
    found = [json.loads(text) for text in texts]
    assert found == expected
    assert [[type(v) for v in row.values()] for row in found] == [[type(v) for v in row.values()] for row in expected]


def test_one_and_one_point_zero_and_true_stay_apart_across_batches():
    encoder = RowEncoder()
    assert encoder.encode({"x": [1.0]}, 1) == ['{"x":1.0}']
    assert encoder.encode({"x": [True]}, 1) == ['{"x":true}']
    assert encoder.encode({"x": [1]}, 1) == ['{"x":1}']
    assert encoder.encode({"y": [1.0]}, 1) == ['{"y":1.0}']


def test_what_is_remembered_stays_small():
    encoder = RowEncoder()
    for start in range(0, 5 * MEMO_SIZE, MEMO_SIZE):
        encoder.encode({"x": [float(i) for i in range(start, start + MEMO_SIZE)]}, MEMO_SIZE)
    assert len(encoder._memo) <= 2 * MEMO_SIZE


def test_no_columns_give_empty_objects():
    assert RowEncoder().encode({}, 2) == ["{}", "{}"]

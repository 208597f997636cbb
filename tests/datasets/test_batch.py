from __future__ import annotations

import datetime
import re
from decimal import Decimal

import orjson
import pytest

from assay.datasets import batch as module
from assay.datasets.batch import BATCH_ROWS, batch_of, ids_of, in_batches
from assay.errors import SpecError


def test_rows_without_an_id_are_named_by_their_place_in_the_source():
    batches = list(in_batches([{"q": i} for i in range(BATCH_ROWS + 2)], "x"))
    assert [len(b) for b in batches] == [BATCH_ROWS, 2]
    assert batches[1].start == BATCH_ROWS
    assert batches[1].ids == [str(BATCH_ROWS), str(BATCH_ROWS + 1)]


@pytest.mark.parametrize(
    ("given", "ids"),
    [(["a", "b"], ["a", "b"]), ([7, 8], ["7", "8"]), ([1.5, "x"], ["1.5", "x"])],
)
def test_the_column_sample_id_is_the_id_as_text(given, ids):
    assert ids_of([{"sample_id": each} for each in given], 0, "x") == ids


@pytest.mark.parametrize("bad", [None, "", True, [1], {"a": 1}])
def test_an_id_that_is_no_text_or_number_is_an_error_naming_its_row(bad):
    with pytest.raises(SpecError, match=r"data: row 12 has the sample_id .*expected text or a number"):
        ids_of([{"sample_id": "a"}, {"sample_id": bad}], 10, "data")


def test_an_id_column_that_some_rows_lack_is_an_error_naming_the_row():
    with pytest.raises(SpecError, match="row 2 has no sample_id"):
        ids_of([{"sample_id": "a"}, {"q": 1}], 0, "data")


def test_values_that_json_cannot_say_become_text_in_sample_and_store_alike():
    row = {
        "day": datetime.date(2024, 5, 6),
        "price": Decimal("1.50"),
        "raw": b"abc",
        "bytes": b"\xff",
        "pair": (1, 2),
        "nan": float("nan"),
    }
    (made,) = in_batches([row], "x")
    assert made.samples == [
        {"day": "2024-05-06", "price": "1.50", "raw": "abc", "bytes": "/w==", "pair": [1, 2], "nan": None}
    ]
    assert orjson.loads(made.texts[0]) == made.samples[0]


@pytest.mark.parametrize("value", [object(), {1: "a"}])
def test_a_value_that_has_no_json_form_is_an_error_naming_its_row(value):
    with pytest.raises(SpecError, match="x: row 2 cannot be written as JSON"):
        list(in_batches([{"q": 1}, {"q": value}], "x"))


def test_long_texts_make_a_batch_smaller(monkeypatch):
    monkeypatch.setattr(module, "BATCH_BYTES", 100)
    batches = list(in_batches([{"q": "x" * 60}] * 5, "x"))
    assert [len(b) for b in batches] == [2, 2, 1]
    assert [b.start for b in batches] == [0, 2, 4]


def test_the_rest_of_a_batch_keeps_ids_and_counts_on():
    whole = batch_of(10, [{"q": i} for i in range(4)], "x")
    rest = whole.rest(3)
    assert (rest.start, rest.ids, rest.samples) == (13, ["13"], [{"q": 3}])
    assert re.fullmatch(r'\{"q":3\}', rest.texts[0])

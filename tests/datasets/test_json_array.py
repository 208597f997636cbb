from __future__ import annotations

import pytest

from assay.datasets import json_array as module
from assay.datasets.json_array import read_json
from assay.errors import SpecError


def test_an_array_of_objects_is_read_in_batches(write):
    path = write("a.json", "\ufeff[" + ",".join(f'{{"n": {i}}}' for i in range(5_001)) + "]")
    batches = list(read_json(path))
    assert [len(b) for b in batches] == [5_000, 1]
    assert batches[1].ids == ["5000"]
    assert batches[1].texts == ['{"n":5000}']


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1}', "expected a JSON array of objects"),
        ("[{}, 3]", "entry 2 of the array is not an object"),
        ('[{"a":\n ]', r"a\.json:2:2: not valid JSON"),
        ("", "not valid JSON"),
    ],
)
def test_anything_else_is_an_error(write, text, told):
    with pytest.raises(SpecError, match=told):
        list(read_json(write("a.json", text)))


def test_a_file_too_large_to_be_held_is_refused_with_the_way_out(write, monkeypatch):
    monkeypatch.setattr(module, "FILE_BYTES", 10)
    with pytest.raises(SpecError, match="use JSONL"):
        list(read_json(write("a.json", "[" + " " * 20 + "]")))

from __future__ import annotations

from assay.interop.flat import flat_rows

ENTRY = {
    "sample_id": "1",
    "trial": 2,
    "sample": {"q": "?", "n": 3, "nested": {"a": [1]}, "none": None},
    "output": None,
    "scores": {"s": {"values": {"ok": 1.0}, "metadata": {"why": ["x"], "ok": "hidden"}}},
    "failures": [
        {"scorer": "t", "kind": "parse", "detail": "no number"},
        {"scorer": None, "kind": "http", "detail": "500"},
    ],
}


def test_a_row_has_one_column_a_field():
    assert next(flat_rows([ENTRY])) == {
        "sample_id": "1",
        "trial": 2,
        "sample.q": "?",
        "sample.n": 3,
        "sample.nested": '{"a":[1]}',
        "sample.none": None,
        "output": None,
        "s.ok": 1.0,
        "s.why": '["x"]',
        "failures": "t: parse: no number; http: 500",
    }

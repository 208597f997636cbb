from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import SpecError
from assay.metrics import table as module
from assay.metrics.table import Table, TableBuilder


def built(rows: list[dict[str, Any]], *, batches: int = 1, clusters: list[int] | None = None) -> Table:
    builder = TableBuilder(["x"])
    for part in np.array_split(np.arange(len(rows)), batches):
        some = [rows[i] for i in part]
        builder.add(some, [{}] * len(some), clusters=None if clusters is None else [clusters[i] for i in part])
    return builder.build()


def test_a_field_is_looked_up_in_the_values_then_in_the_metadata() -> None:
    builder = TableBuilder(["x"])
    builder.add([{"x": 1.0}, {}, {"x": None}, {}], [{"x": 9.0}, {"x": 2.0}, {"x": 3.0}, {}])
    column = builder.build().column("x")
    assert column.numbers("x")[:3].tolist() == [1.0, 2.0, 3.0]
    assert column.present.tolist() == [True, True, True, False]


def test_all_field_names_are_remembered_and_only_the_asked_ones_kept() -> None:
    builder = TableBuilder(["x"])
    builder.add([{"x": 1, "b": 2}], [{"a": "long text"}])
    found = builder.build()
    assert found.seen == ("a", "b", "x")
    assert list(found.columns) == ["x"]


def test_booleans_are_numbers() -> None:
    assert built([{"x": True}, {"x": False}, {"x": 2}]).column("x").numbers("x").tolist() == [1.0, 0.0, 2.0]


def test_values_that_print_differently_stay_different_texts() -> None:
    codes, names = built([{"x": 1}, {"x": 1.0}, {"x": True}, {"x": "1"}]).column("x").texts()
    assert names == ("1", "1.0", "True")
    assert codes.tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 10**400, None])
def test_what_cannot_be_counted_with_is_missing(odd: Any) -> None:
    column = built([{"x": odd}, {"x": 1.0}]).column("x")
    assert column.present.tolist() == [False, True]
    assert math.isnan(column.numbers("x")[0])
    assert column.texts()[0].tolist() == [-1, 0]


def test_text_among_numbers_is_an_error_with_an_example() -> None:
    with pytest.raises(SpecError, match=r'the field "x" holds text \("b"\), but this metric needs numbers'):
        built([{"x": 1.0}, {"x": "c"}, {"x": "b"}]).column("x").numbers("x")


def test_text_in_rows_that_are_not_taken_is_no_error() -> None:
    found = built([{"x": 1.0}, {"x": "b"}]).take(np.array([True, False]))
    assert found.n == 1
    assert found.column("x").numbers("x").tolist() == [1.0]


def test_lists_and_objects_become_text() -> None:
    assert built([{"x": ["A", "B"]}, {"x": {"a": 1}}]).column("x").texts()[1] == ("['A', 'B']", "{'a': 1}")


def test_many_different_numbers_become_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_DISTINCT_NUMBERS", 5)
    rows = [{"x": i / 2} for i in range(8)] + [{"x": None}, {"x": math.nan}, {"x": 10**400}, {"x": True}]
    found = built(rows, batches=3)
    column = found.column("x")
    assert column.codes is None
    assert column.numbers("x")[:8].tolist() == [i / 2 for i in range(8)]
    assert column.present.tolist() == [True] * 8 + [False] * 3 + [True]
    codes, names = column.texts()
    assert names[:3] == ("0.0", "0.5", "1.0")
    assert codes[8:].tolist() == [-1, -1, -1, 2]
    assert found.take(np.arange(12) < 2).column("x").numbers("x").tolist() == [0.0, 0.5]
    assert found.distinct("x")[1] is None


def test_text_after_many_numbers_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_DISTINCT_NUMBERS", 3)
    rows: list[dict[str, Any]] = [{"x": float(i)} for i in range(6)] + [{"x": None}, {"x": "late"}]
    column = built(rows, batches=8).column("x")
    codes, names = column.texts()
    assert [names[code] for code in codes if code >= 0] == ["0.0", "1.0", "2.0", "3.0", "4.0", "5.0", "late"]
    assert codes[6] == -1


def test_clusters_of_one_row_each_are_no_clusters() -> None:
    assert built([{"x": 1}] * 3, clusters=[4, 7, 9]).clusters is None
    assert built([{"x": 1}] * 3, clusters=[9, 4, 7]).clusters is None
    found = built([{"x": 1}] * 3, clusters=[4, 7, 7]).clusters
    assert found is not None
    assert found.tolist() == [4, 7, 7]


def test_batches_without_clusters_stand_for_themselves() -> None:
    builder = TableBuilder(["x"])
    builder.add([{"x": 1}] * 2, [{}] * 2)
    builder.add([{"x": 1}] * 2, [{}] * 2, clusters=[0, 0])
    builder.add([{"x": 1}] * 2, [{}] * 2)
    found = builder.build().clusters
    assert found is not None
    assert len(set(found.tolist())) == 5


def test_labels_are_columns_of_their_own() -> None:
    builder = TableBuilder(["x"], ["{{ sample.a }}"])
    builder.add([{"x": 1}, {"x": 1}], [{}, {}], {"{{ sample.a }}": ["p", None]})
    builder.add([{"x": 1}], [{}])
    codes, names = builder.build().labels["{{ sample.a }}"].texts()
    assert (codes.tolist(), names) == ([0, -1, -1], ("p",))


rows_of_two = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, None, "t"]), st.sampled_from(["a", "b", None])), min_size=1, max_size=30
)


@given(rows_of_two)
def test_distinct_combinations_are_counted(rows: list[tuple[Any, Any]]) -> None:
    builder = TableBuilder(["x", "y"])
    builder.add([{"x": x, "y": y} for x, y in rows], [{}] * len(rows))
    short, counts = builder.build().distinct("x", "y")
    assert counts is not None
    names = [short.column(name).texts() for name in ("x", "y")]
    found = {
        tuple(texts[code] if code >= 0 else None for code, texts in ((codes[i], texts) for codes, texts in names)): int(
            n
        )
        for i, n in enumerate(counts)
    }
    texts = [tuple(None if value is None else str(value) for value in row) for row in rows]
    assert found == {text: texts.count(text) for text in texts}


def test_a_million_scores_are_read_in_well_under_a_second() -> None:
    values = [{"is_correct": float(i % 3 == 0)} for i in range(5_000)]
    metadata = [{"answer_gt": "A", "answer_pred": "B"}] * 5_000
    builder = TableBuilder(["is_correct"])
    start = time.process_time()
    for batch in range(200):
        builder.add(values, metadata, clusters=range(batch * 5_000, batch * 5_000 + 5_000))
    found = builder.build()
    # About 0.25 s; the rest is for a busy machine and the coverage tool.
    assert time.process_time() - start < 1.5
    assert found.n == 1_000_000
    assert found.clusters is None

from __future__ import annotations

import pytest

from assay.errors import Place, SpecError
from assay.metrics.columns import check, classes, numbers, texts
from assay.metrics.table import Table, TableBuilder
from assay.spec.fields import Located


def table() -> Table:
    builder = TableBuilder(["x", "y"])
    rows = [{"x": 1, "y": "a"}, {"x": 2}, {"x": None, "y": "b"}, {"x": 1, "y": "a"}]
    builder.add(rows, [{}] * 4, clusters=[0, 0, 1, 2])
    return builder.build()


def test_numbers_leave_out_rows_and_their_clusters() -> None:
    found = numbers(table(), "x")
    assert found.columns[0].tolist() == [1.0, 2.0, 1.0]
    assert found.clusters is not None
    assert found.clusters.tolist() == [0, 0, 2]
    assert (found.counts, found.n_excluded) == (None, 1)


def test_texts_leave_out_rows_and_their_clusters() -> None:
    found = texts(table(), "y")
    assert (found.names, found.codes.tolist(), found.n_excluded) == (("a", "b"), [0, 1, 0], 1)
    assert found.clusters is not None
    assert found.clusters.tolist() == [0, 1, 2]


def test_classes_are_those_of_the_rows_that_stay() -> None:
    found = classes(table(), "x", "y")
    assert (found.names, found.n_excluded, found.pairs.classes) == (("1", "a"), 2, 2)


def test_a_failed_check_stands_at_the_field() -> None:
    place = Place("task.yaml", 2, 3)
    with pytest.raises(SpecError) as caught:
        check(False, "wrong", Located("x", place))
    assert caught.value.problems[0].place == place
    check(True, "right", "x")

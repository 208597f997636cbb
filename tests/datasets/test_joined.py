"""Several datasets side by side."""

import pytest

from assay.datasets.batch import BATCH_ROWS, in_batches
from assay.datasets.joined import JoinedSource, joined
from assay.errors import SpecError


def rows_of(tmp_path, **parts):
    opened = [(name, lambda rows=rows: in_batches(rows, "rows")) for name, rows in parts.items()]
    kind = joined(opened)
    return list(kind.read(JoinedSource(), tmp_path))


def test_a_sample_holds_one_row_of_every_dataset(tmp_path):
    (batch,) = rows_of(tmp_path, a=[{"x": 1}, {"x": 2}], b=[{"y": 3}, {"y": 4}])
    assert batch.samples == [{"a": {"x": 1}, "b": {"y": 3}}, {"a": {"x": 2}, "b": {"y": 4}}]
    assert batch.texts[0] == '{"a":{"x":1},"b":{"y":3}}'
    assert batch.ids == ["0", "1"]


def test_the_ids_are_those_of_the_first_dataset(tmp_path):
    (batch,) = rows_of(tmp_path, a=[{"sample_id": "q7"}], b=[{"sample_id": "other"}])
    assert batch.ids == ["q7"]


@pytest.mark.parametrize(
    ("long", "short", "words"),
    [(3, 2, '"b" has 2 rows and "a" has more'), (1, 4, '"a" has 1 rows and "b" has more')],
)
def test_datasets_of_different_lengths_are_refused(tmp_path, long, short, words):
    with pytest.raises(SpecError, match=words):
        rows_of(tmp_path, a=[{}] * long, b=[{}] * short)


def test_long_datasets_come_in_batches(tmp_path):
    batches = rows_of(tmp_path, a=[{"i": i} for i in range(BATCH_ROWS + 1)], b=[{}] * (BATCH_ROWS + 1))
    assert [len(batch) for batch in batches] == [BATCH_ROWS, 1]
    assert batches[1].start == BATCH_ROWS
    assert batches[1].samples[0]["a"] == {"i": BATCH_ROWS}

from __future__ import annotations

import pytest

from assay.datasets import unique as module
from assay.datasets.batch import batch_of
from assay.datasets.unique import SeenHashes, with_unique_ids
from assay.errors import SpecError


def _read(*groups):
    def read():
        start = 0
        for group in groups:
            yield batch_of(start, [{"sample_id": each} for each in group], "x")
            start += len(group)

    return read


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ((["a", "b", "a"],), '"a" appears twice: in row 1 and in row 3'),
        ((["a", "b"], ["c"], ["d", "b"]), '"b" appears twice: in row 2 and in row 5'),
        (([1, "1"],), '"1" appears twice'),
    ],
)
def test_an_id_that_comes_twice_is_an_error_naming_both_rows(groups, told):
    with pytest.raises(SpecError, match=told):
        list(with_unique_ids(_read(*groups)))


def test_unique_ids_pass_through_unchanged():
    read = _read(*[[f"{i}-{j}" for j in range(50)] for i in range(40)])
    assert [b.ids for b in with_unique_ids(read)] == [b.ids for b in read()]


def test_hashes_of_many_batches_are_all_remembered():
    seen = SeenHashes()
    assert not any(seen.add_all([f"{i}-{j}" for j in range(i + 1)]) for i in range(60))
    assert all(seen.add_all([f"{i}-{i}"]) for i in range(60))


def test_equal_hashes_of_different_ids_are_no_duplicates(monkeypatch):
    monkeypatch.setattr(module, "hash", lambda text: 7, raising=False)
    assert [b.ids for b in with_unique_ids(_read(["a"], ["b"], ["c"]))] == [["a"], ["b"], ["c"]]


def test_indices_are_not_checked(monkeypatch):
    monkeypatch.setattr(SeenHashes, "add_all", lambda self, ids: pytest.fail("checked"))
    assert [b.ids for b in with_unique_ids(lambda: [batch_of(0, [{"q": 1}], "x")])] == [["0"]]

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


@pytest.mark.parametrize("first_row", [0, 7, 60, 99])
def test_an_id_that_comes_twice_far_apart_is_found_in_the_file(monkeypatch, first_row):
    monkeypatch.setattr(module, "WINDOW", 20)
    monkeypatch.setattr(module, "CHUNK", 8)
    groups = [[f"{i}-{j}" for j in range(10)] for i in range(10)]
    assert len(list(with_unique_ids(_read(*groups)))) == 10
    again = f"{first_row // 10}-{first_row % 10}"
    with pytest.raises(SpecError, match=f'"{again}" appears twice: in row {first_row + 1} and in row 101'):
        list(with_unique_ids(_read(*groups, [again])))


def test_memory_holds_a_window_of_hashes(monkeypatch):
    monkeypatch.setattr(module, "WINDOW", 20)
    seen = SeenHashes()
    for i in range(50):
        assert not seen.add_all([f"{i}-{j}" for j in range(7)])
        assert sum(map(len, seen._runs)) < 20 + 7
    seen.close()


def test_equal_hashes_of_different_ids_are_no_duplicates(monkeypatch):
    monkeypatch.setattr(module, "hash", lambda text: 7, raising=False)
    assert [b.ids for b in with_unique_ids(_read(["a"], ["b"], ["c"]))] == [["a"], ["b"], ["c"]]


def test_indices_are_not_checked(monkeypatch):
    monkeypatch.setattr(SeenHashes, "add_all", lambda self, ids: pytest.fail("checked"))
    assert [b.ids for b in with_unique_ids(lambda: [batch_of(0, [{"q": 1}], "x")])] == [["0"]]

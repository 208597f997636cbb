from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.datasets.batch import batch_of
from assay.datasets.subsample import head, random_subset


def _read(*sizes):
    def read():
        start = 0
        for size in sizes:
            yield batch_of(start, [{"n": start + i} for i in range(size)], "x")
            start += size

    return read


def _ids(batches):
    return [i for batch in batches for i in batch.ids]


@pytest.mark.parametrize(
    ("n", "ids"), [(0, []), (1, ["0"]), (3, ["0", "1", "2"]), (4, list("0123")), (9, list("01234"))]
)
def test_head_takes_the_first_samples(n, ids):
    assert _ids(head(_read(3, 2)(), n)) == ids


def test_head_reads_nothing_beyond_what_it_gives():
    def endless():
        yield from _read(3)()
        raise AssertionError("read too far")

    assert _ids(head(endless(), 3)) == list("012")


@given(st.lists(st.integers(1, 6), max_size=5), st.integers(0, 40), st.integers(0, 10))
def test_a_random_subset_keeps_the_order_and_depends_only_on_the_seed(sizes, n, seed):
    batches = list(random_subset(_read(*sizes), n, seed))
    ids = _ids(batches)
    assert len(ids) == min(n, sum(sizes))
    assert [int(i) for i in ids] == sorted({int(i) for i in ids})
    assert _ids(random_subset(_read(sum(sizes)) if sizes else _read(), n, seed)) == ids
    assert [b.start for b in batches] == [sum(len(b) for b in batches[:k]) for k in range(len(batches))]


def test_every_sample_is_as_likely_as_any_other():
    counts = Counter(i for seed in range(3_000) for i in _ids(random_subset(_read(3, 3), 2, seed)))
    assert set(counts) == set("012345")
    assert all(abs(count - 1_000) < 5 * (3_000 * (1 / 3) * (2 / 3)) ** 0.5 for count in counts.values())

"""Evidence: what is written comes back, in order, and no row twice."""

import pytest

from assay.errors import StoreError
from assay.store import sample_rows as evidence
from assay.types import Failure


def columns(positions):
    n = len(positions)
    return evidence.SampleColumns(
        positions=positions,
        ids=[f"s{p}" for p in positions],
        trials=[0] * n,
        inputs=[f'{{"x":{p}}}' for p in positions],
        outputs=[f"out{p}" for p in positions],
        traces=[None] * n,
        calls=[None] * n,
    )


def write(store, run_no, positions):
    with store.begin() as connection:
        evidence.write_samples(connection, run_no, columns(positions))
        values = [f'{{"is_correct":{p % 2}.0}}' for p in positions]
        evidence.write_scores(connection, run_no, 1, positions, values, [f'{{"m":{p}}}' for p in positions])


BROKEN = Failure(stage="score", kind="parse", detail="no number", retryable=False)


def test_samples_come_back_in_order_with_all_that_was_said_of_them(store):
    write(store, 1, [2, 0, 1])
    with store.begin() as connection:
        evidence.write_failures(connection, 1, 2, [(1, BROKEN)])
    found = list(evidence.stored_samples(store, 1))
    assert [s.sample_id for s in found] == ["s0", "s1", "s2"]
    assert found[1].scores == {1: ('{"is_correct":1.0}', '{"m":1}')}
    assert found[1].failures == {2: BROKEN}
    assert found[0].failures == {}


def test_runs_do_not_see_each_other(store):
    write(store, 1, range(3))
    write(store, 2, range(5))
    assert evidence.count_samples(store, 1) == 3
    assert len(list(evidence.stored_samples(store, 2))) == 5


def test_a_row_cannot_be_written_twice(store):
    write(store, 1, range(3))
    with pytest.raises(StoreError, match="(?i)unique"):
        write(store, 1, range(2, 4))
    assert evidence.count_samples(store, 1) == 3


def test_a_transaction_that_fails_leaves_nothing_behind(store):
    with pytest.raises(RuntimeError), store.begin() as connection:
        evidence.write_samples(connection, 1, columns(range(3)))
        raise RuntimeError
    assert evidence.count_samples(store, 1) == 0


def test_a_failed_sample_is_counted_once_however_many_scorers_failed_on_it(store):
    write(store, 1, range(4))
    with store.begin() as connection:
        evidence.write_failures(connection, 1, 1, [(0, BROKEN), (2, BROKEN)])
        evidence.write_failures(connection, 1, 2, [(0, BROKEN)])
    assert evidence.count_failed_samples(store, 1) == 2
    assert evidence.failure_counts(store, 1) == [(1, "parse", 2), (2, "parse", 1)]
    assert [s.sample_id for s in evidence.stored_samples(store, 1, failed=True)] == ["s0", "s2"]


def test_pages_cover_everything_once(store, monkeypatch):
    monkeypatch.setattr(evidence, "PAGE", 3)
    write(store, 1, range(10))
    assert [s.position for s in evidence.stored_samples(store, 1)] == list(range(10))
    assert [s.position for s in evidence.stored_samples(store, 1, limit=4)] == list(range(4))
    pages = list(evidence.score_pages(store, 1, 1, metadata=True, inputs=True))
    assert [p for page in pages for p in page.positions] == list(range(10))
    assert [t for page in pages for t in page.inputs] == [f'{{"x":{p}}}' for p in range(10)]
    assert [t for page in pages for t in page.ids] == [f"s{p}" for p in range(10)]


def test_only_the_columns_asked_for_are_read(store):
    write(store, 1, range(2))
    (page,) = evidence.score_pages(store, 1, 1, metadata=False, inputs=False)
    assert page.values == ['{"is_correct":0.0}', '{"is_correct":1.0}']
    assert page.metadata == []
    assert page.inputs == []


def test_one_sample_can_be_looked_up_by_its_id(store):
    write(store, 1, range(5))
    assert [s.position for s in evidence.stored_samples(store, 1, sample_id="s3")] == [3]


def test_a_score_of_which_a_part_failed_is_taken_back_with_its_sample(store):
    write(store, 1, range(3))
    assert not evidence.has_retryable(store, 1)
    with store.begin() as connection:
        evidence.write_unsettled(connection, 1, 1, [2])
        evidence.write_unsettled(connection, 1, 2, [])
    assert evidence.has_retryable(store, 1)
    assert not evidence.has_retryable(store, 2)
    assert evidence.retryable_positions(store, 1) == {2}
    assert evidence.drop_retryable(store, 1) == 1
    assert list(evidence.done_positions(store, 1)) == [0, 1]
    assert not evidence.has_retryable(store, 1)

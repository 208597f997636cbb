"""Keys of rows: unique, ordered by run and position, reversible."""

from hypothesis import given
from hypothesis import strategies as st

from assay.store.row_address import MAX_POSITIONS, MAX_SLOTS, STEP, bounds, pack, unpack

RUN = st.integers(1, 2**20 - 1)
POSITION = st.integers(0, MAX_POSITIONS - 1)
SLOT = st.integers(0, MAX_SLOTS - 1)


@given(RUN, POSITION, SLOT)
def test_a_key_gives_back_what_it_was_made_of_and_fits_63_bits(run, position, slot):
    key = pack(run, position, slot)
    assert unpack(key) == (run, position, slot)
    assert 0 < key < 2**63


@given(RUN, POSITION, SLOT)
def test_a_run_holds_its_own_keys_and_no_others(run, position, slot):
    low, high = bounds(run)
    assert low <= pack(run, position, slot) < high
    assert not low <= pack(run + 1, position, slot) < high


@given(RUN, st.integers(0, MAX_POSITIONS - 2), SLOT)
def test_neighbouring_positions_are_one_step_apart(run, position, slot):
    assert pack(run, position + 1, slot) - pack(run, position, slot) == STEP

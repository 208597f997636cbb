"""Keys of rows: unique, ordered by run and position, reversible."""

from hypothesis import given
from hypothesis import strategies as st

from assay.store.row_address import MAX_POSITIONS, MAX_SLOTS, STEP, RowLayout, bounds, pack, unpack

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


@given(st.integers(0, 10_000), st.integers(1, 7), st.sampled_from([1, 8, 4096]))
def test_a_position_is_put_together_from_its_sample_trial_and_part(position, trials, fan_out):
    layout = RowLayout(trials, fan_out)
    cell = layout.sample(position) * trials + layout.trial(position)
    assert layout.cell(position) == cell
    assert layout.first_position(cell) + layout.part(position) == position


def test_trials_of_a_sample_are_one_row_and_parts_are_not():
    layout = RowLayout(trials=2, fan_out=8)
    assert [layout.sample_row(position) for position in (0, 8, 1, 9, 16)] == [0, 0, 1, 1, 8]

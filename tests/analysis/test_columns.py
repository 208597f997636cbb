"""Columns: ids in one buffer, found again by hash, labels as codes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis import columns
from assay.analysis.columns import MISSING, LabelsBuilder, PackedTexts, RowIndex, compact

TEXTS = st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=6))


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_packed_texts_are_the_texts(first, second):
    packed = PackedTexts(first)
    packed.extend(second)
    assert list(packed) == [packed[row] for row in range(len(packed))] == packed[:] == [*first, *second]
    assert packed == PackedTexts([*first, *second])
    assert packed != PackedTexts([*first, *second, "more"])


def test_a_row_beyond_the_end_is_an_index_error():
    packed = PackedTexts(["a", "b"])
    assert packed[-1] == "b"
    for row in (2, -3):
        with pytest.raises(IndexError):
            packed[row]


@pytest.mark.parametrize("collide", [False, True])
@settings(deadline=None)
@given(TEXTS.map(lambda texts: list(dict.fromkeys(texts))), TEXTS)
def test_every_row_is_found_by_its_text_and_no_other(collide, ids, wanted):
    hashes = hash
    columns.hash = (lambda text: hashes(text) % 2) if collide else hashes
    try:
        index = RowIndex.of(PackedTexts(ids))
        expected = [ids.index(text) if text in ids else MISSING for text in wanted]
        # of ids that share a hash only those that are there can be told apart from one that is not
        if not collide or len(ids) > 2:
            assert index.rows_of(PackedTexts(wanted)).tolist() == expected
        assert [index.find(text) for text in wanted] == [None if row == MISSING else row for row in expected]
    finally:
        del columns.hash


def test_labels_are_coded_in_the_order_in_which_they_appear():
    builder = LabelsBuilder()
    builder.extend(["b", None])
    builder.extend(["a", "b"])
    labels = builder.build()
    assert (labels.codes.tolist(), labels.names) == ([0, MISSING, 1, 0], ("b", "a"))
    assert labels.present(np.array([1, 2])).tolist() == [False, True]
    assert compact(labels.codes[::-1]).tolist() == [0, 1, 2, 0]

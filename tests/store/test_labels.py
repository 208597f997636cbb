"""Labels in the store: one per answer, target and person, and what changes them."""

import pytest

from assay.store.labels import (
    HumanLabel,
    delete_label,
    label_counts,
    labels_version,
    raise_probability,
    read_labels,
    write_label,
    write_labels,
)


def label(n=0, **fields):
    settings = {"target": "s/f", "annotator": "maria", "label": "right", "run": "r", "sample_id": f"q{n}", "trial": 0}
    return HumanLabel(content=bytes([n]) * 32, created_at=f"2026-01-01T00:00:{n:02}", **{**settings, **fields})


def test_a_label_takes_the_place_of_the_same_persons_and_of_nobody_elses(store):
    write_label(store, label(comment="first"))
    write_label(store, label(annotator="jo", label="wrong"))
    write_label(store, label(label="wrong", comment="second"))
    rows = {row.annotator: (row.label, row.comment) for row in read_labels(store)}
    assert rows == {"maria": ("wrong", "second"), "jo": ("wrong", None)}
    assert [row.annotator for row in read_labels(store, annotator="jo")] == ["jo"]
    assert read_labels(store, targets=["s/other"]) == []


@pytest.mark.parametrize(("before", "after", "kept"), [(0.5, None, 0.5), (None, 0.25, 0.25), (0.25, 0.5, 0.5)])
def test_an_answer_that_was_drawn_stays_drawn(store, before, after, kept):
    write_label(store, label(probability=before))
    write_label(store, label(probability=after))
    assert [row.probability for row in read_labels(store)] == [kept]


def test_a_larger_draw_raises_the_probability_of_what_was_drawn(store):
    write_labels(store, [label(0, probability=0.1), label(1), label(2, probability=0.1, annotator="jo")])
    raise_probability(store, run="r", target="s/f", annotator="maria", probability=0.4)
    assert [row.probability for row in read_labels(store)] == [0.4, None, 0.1]


def test_labels_are_counted_and_taken_back(store):
    write_labels(store, [label(0), label(1, label=None), label(2, target="s/g")])
    assert label_counts(store) == {"s/f": 1, "s/g": 1}
    before = labels_version(store)
    delete_label(store, content=label(0).content, target="s/f", annotator="jo")
    assert labels_version(store) == before
    delete_label(store, content=label(0).content, target="s/f", annotator="maria")
    assert labels_version(store) != before
    assert label_counts(store) == {"s/g": 1}

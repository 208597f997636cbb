"""What guessing and the most frequent class give."""

from __future__ import annotations

from assay.metrics.baseline import baselines, class_baselines


def test_without_samples_there_is_nothing_to_beat():
    assert baselines({}, {}) is None
    assert class_baselines({}) is None
    assert class_baselines({"yes": 0, "no": 0}) is None


def test_equally_frequent_classes_are_named_by_the_first():
    assert baselines({2: 4}, {"b": 2, "a": 2})["majority_class"] == "a"


def test_chance_is_one_over_the_number_of_classes():
    assert class_baselines({"a": 3, "b": 1}) == {"chance": 0.5, "majority": 0.75, "majority_class": "a"}

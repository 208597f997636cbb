"""Baselines of an accuracy: guessing, and always naming the most frequent class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def baselines(
    choices: Mapping[int, int],
    truths: Mapping[str, int],
    *,
    chance_over_trials: Callable[[float], float] | None = None,
) -> dict[str, Any] | None:
    """Return chance, the mean of 1 / number of choices, and the share of the most frequent class; None without samples.

    `choices` counts the samples by how many there were to choose from, `truths` by the right one. `chance_over_trials`
    is what guessing gives over several trials, such as 1 - (1 - chance)^k for pass@k.

    >>> baselines({4: 3, 2: 1}, {"A": 3, "B": 1})
    {'chance': 0.3125, 'majority': 0.75, 'majority_class': 'A'}
    """
    n = sum(truths.values())
    if not n:
        return None
    # of equally frequent classes the first by name, so that the same data give the same words
    label, most = min(truths.items(), key=lambda entry: (-entry[1], entry[0]))
    guess = chance_over_trials or (lambda chance: chance)
    chance = sum(samples * guess(1 / size) for size, samples in choices.items()) / n
    return {"chance": chance, "majority": most / n, "majority_class": label}


def class_baselines(support: Mapping[str, int]) -> dict[str, Any] | None:
    """Return the baselines of a classification from the number of samples of each true class."""
    return baselines({len(support): sum(support.values())}, support) if support else None

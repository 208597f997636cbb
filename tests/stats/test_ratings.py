from __future__ import annotations

import numpy as np
import pytest

from assay.stats.ratings import Ratings, coded


def test_labels_become_places_and_abstentions_gaps() -> None:
    assert coded(["MET", None, "UNMET"], ["UNMET", "MET"]).tolist() == [1, -1, 0]
    with pytest.raises(KeyError):
        coded(["maybe"], ["UNMET", "MET"])


def test_a_pair_holds_what_both_rated_with_its_clusters() -> None:
    ratings = Ratings.of([[1, 1], [2, np.nan], [np.nan, 1], [2, 1]], clusters=np.array([7, 8, 9, 9]))
    pairs = ratings.pair(0, 1)
    assert pairs.truth.tolist() == [0, 1]
    assert pairs.predicted.tolist() == [0, 0]
    assert pairs.clusters is not None
    assert pairs.clusters.tolist() == [7, 9]


def test_a_tie_has_no_majority_and_neither_has_nothing() -> None:
    n = np.nan
    table = [[1, 1, 2], [1, 2, n], [n, n, n], [3, n, n]]
    assert Ratings.of(table).majority().tolist() == [0, -1, -1, 2]
    assert Ratings.of([[n, n]]).majority().tolist() == [-1]


@pytest.mark.parametrize("codes", [[[0, 2]], [[-2, 0]]])
def test_a_code_outside_the_scale_is_refused(codes: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="declared option"):
        Ratings(codes=np.array(codes), values=np.array([0.0, 1.0]))


def test_ratings_are_a_table() -> None:
    with pytest.raises(ValueError, match="table"):
        Ratings(codes=np.array([0, 1]), values=np.array([0.0, 1.0]))


def test_leaving_out_a_rater_keeps_the_scale() -> None:
    found = Ratings.of([[1, 5], [2, 5]]).without(1)
    assert (found.raters, found.options) == (1, 3)

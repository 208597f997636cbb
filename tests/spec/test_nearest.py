from __future__ import annotations

from assay.spec.nearest import listing, nearest


def test_the_nearest_name_is_found_whatever_its_case() -> None:
    assert nearest("Ground_Truht", ["value", "ground_truth"]) == "ground_truth"
    assert nearest("answer", ["Answer"]) == "Answer"
    assert nearest("zzz", ["value"]) is None
    assert nearest("x" * 100_000, ["value"]) is None


def test_a_long_list_is_cut() -> None:
    assert listing("abc", most=2) == "a, b and 1 more"
    assert listing([]) == "none"

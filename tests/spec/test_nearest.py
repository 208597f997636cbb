from __future__ import annotations

import pytest

from assay.spec.nearest import listing, nearest, nearest_file


def test_the_nearest_name_is_found_whatever_its_case() -> None:
    assert nearest("Ground_Truht", ["value", "ground_truth"]) == "ground_truth"
    assert nearest("answer", ["Answer"]) == "Answer"
    assert nearest("zzz", ["value"]) is None
    assert nearest("x" * 100_000, ["value"]) is None


def test_a_long_list_is_cut() -> None:
    assert listing("abc", most=2) == "a, b and 1 more"
    assert listing([]) == "none"


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("answer.jsonl", ["answers.jsonl", "bin.jsonl"], "answers.jsonl"),
        ("nope.jsonl", ["bin.jsonl"], None),
        ("nope.yaml", ["ok.yaml"], None),
        ("answers.json", ["answers.jsonl"], "answers.jsonl"),
        ("readme", ["README.md"], "README.md"),
    ],
)
def test_an_ending_makes_no_two_files_alike(name, known, meant):
    assert nearest_file(name, known) == meant

from __future__ import annotations

import gzip
import os
from pathlib import Path

import orjson
import pytest
from pydantic import ValidationError

from assay.scorers.numeric import KIND, NumericEquals


def _settings(**more):
    return NumericEquals(**{"type": "numeric_equals", "ground_truth": "{{ sample.gt }}", **more})


@pytest.mark.parametrize(
    ("truth", "reply", "more", "score"),
    [
        ("18", "It is 18.", {}, 1.0),
        ("18", "It is 18.0", {}, 1.0),
        (18, "$18", {}, 1.0),
        ("#### 1,018", "1018", {}, 1.0),
        ("18", "18 or 19", {}, 0.0),
        ("18", "", {}, 0.0),
        ("18", "no idea", {}, 0.0),
        ("0.3", "0.30000001", {}, 0.0),
        ("0.3", "0.30000001", {"tolerance": 0.001}, 1.0),
        ("0.3", "0.4", {"tolerance": 0.1}, 1.0),
        ("10", "12", {"tolerance": 2}, 1.0),
        ("10", "12.1", {"tolerance": 2}, 0.0),
        ("1" * 40, "1" * 39 + "2", {}, 0.0),
        ("1e999999999", "2e999999999", {"tolerance": 2}, 0.0),
        ("1" * 5000, "1" * 4999 + "2", {"tolerance": 2}, 1.0),
        ("1e-999999999", "0", {"tolerance": 2}, 1.0),
        ("18", "A: 18\nA: 19", {"pattern": r"A:\s*(.*)"}, 0.0),
        ("18", "A: 17\nA: 18 apples", {"pattern": r"A:\s*(.*)"}, 1.0),
        ("x\nA: 18", "A: 18 then 3", {"pattern": r"A: \d+"}, 1.0),
        ("18", "it is 18", {"pattern": r"A:\s*(.*)"}, 0.0),
        ("18", "B", {"pattern": r"A: (\d+)|B"}, 0.0),
        ("3/4", "It is 0.75", {}, 1.0),
        ("3/4", "It is 3/4.", {}, 1.0),
        ("3/4", "1/4", {}, 0.0),
        ("3/4", "4", {}, 0.0),
        ("10^5", "100,000", {}, 1.0),
        ("10^5", "5", {}, 0.0),
        ("1e5", "10^5", {}, 1.0),
    ],
)
def test_numbers_are_compared_as_numbers(make_rows, truth, reply, more, score):
    scored = KIND.score(_settings(**more), make_rows([reply], {"gt": [truth]}))
    assert scored.values == {"is_correct": [score]}
    assert scored.failures == {}


def test_the_pattern_may_be_named_as_none():
    assert _settings(pattern=None).pattern is None


def test_an_answer_without_a_number_is_wrong_and_says_so(make_rows):
    scored = KIND.score(_settings(), make_rows(["none", "4"], {"gt": ["3", "3"]}))
    assert scored.metadata == {
        "answer_gt": ["3", "3"],
        "answer_pred": [None, "4"],
        "number_found": [False, True],
    }


def test_a_ground_truth_without_a_number_is_a_failure(make_rows):
    scored = KIND.score(_settings(), make_rows(["3", "3"], {"gt": ["three", "3"]}))
    assert scored.values["is_correct"] == [None, 1.0]
    assert scored.failures[0].kind == "parse"
    assert "holds no number" in scored.failures[0].detail


@pytest.mark.parametrize("truth", ["1:30", "3-5", "3 and 4"])
def test_a_ground_truth_that_is_not_one_number_is_a_failure(make_rows, truth):
    scored = KIND.score(_settings(), make_rows(["30", "5", "4"], {"gt": [truth] * 3}))
    assert scored.values["is_correct"] == [None] * 3
    assert {failure.kind for failure in scored.failures.values()} == {"parse"}
    assert truth in scored.failures[0].detail


@pytest.mark.parametrize(
    "bad", [{"tolerance": -1}, {"tolerance": float("inf")}, {"tolerance": "1"}, {"pattern": "(?=x)"}]
)
def test_settings_are_strict(bad):
    with pytest.raises(ValidationError):
        _settings(**bad)


@pytest.mark.skipif("ASSAY_REAL_DATA" not in os.environ, reason="needs ASSAY_REAL_DATA")
def test_the_number_after_a_reproduces_every_published_verdict_of_gsm8k(make_rows):
    path = Path(os.environ["ASSAY_REAL_DATA"]) / "gsm8k/example_model_solutions.jsonl.gz"
    samples = [orjson.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    right, accuracy = 0, {}
    for model in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"):
        rows = make_rows([s[model]["solution"] for s in samples], {"gt": [s["ground_truth"] for s in samples]})
        scored = KIND.score(_settings(pattern=r"A:\s*(.*)"), rows)
        assert scored.failures == {}
        verdicts = scored.values["is_correct"]
        right += sum((score == 1.0) == s[model]["is_correct"] for score, s in zip(verdicts, samples, strict=True))
        accuracy[model] = round(100 * sum(verdicts) / len(verdicts), 2)
    assert right == 5_276
    assert accuracy == {
        "6b_finetuning": 21.68,
        "6b_verification": 39.04,
        "175b_finetuning": 34.72,
        "175b_verification": 56.25,
    }

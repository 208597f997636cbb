"""Several answers to the same sample become one score."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import SpecError
from assay.spec.task import Trials
from assay.summary.trials import aggregate, pass_at_k, pass_hat_k, ranges_of, unbiased_pass_at_k, unbiased_pass_hat_k


def trials(**aggregators):
    rules = [{"score_name": name, "aggregator": rule} for name, rule in aggregators.items()]
    return Trials.model_validate({"num_trials": 5, "score_aggregators": rules or None})


SCORES = [{"ok": 1.0}, {"ok": 0.0}, {"ok": 1.0}, {"ok": 0.0}, {"ok": 0.0}]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"function": "mean"}, {"ok": 0.4}),
        ({"function": "min"}, {"ok": 0.0}),
        ({"function": "max", "score_name": "best"}, {"best": 1.0}),
        ({"function": "pass@k", "k": 3}, {"ok": 0.784, "ok_unbiased": 0.9}),
        ({"function": "pass^k", "k": 2, "score_name": "all"}, {"all": 0.16, "all_unbiased": 0.1}),
        ({"function": "pass@k", "k": 6}, {"ok": 1 - 0.6**6, "ok_unbiased": None}),
        ({"function": "pass^k", "k": 6}, {"ok": 0.4**6, "ok_unbiased": None}),
    ],
)
def test_the_textbook_case_of_two_successes_in_five(rule, expected):
    assert aggregate(SCORES, trials(ok=rule)) == pytest.approx(expected)


@given(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=7), st.integers(1, 7))
def test_the_unbiased_values_are_shares_of_all_subsets(tries, k):
    n, c = len(tries), sum(tries)
    subsets = list(combinations(tries, k))
    if not subsets:
        assert unbiased_pass_at_k(n, c, k) is None
        assert unbiased_pass_hat_k(n, c, k) is None
        return
    assert unbiased_pass_at_k(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert unbiased_pass_hat_k(n, c, k) == pytest.approx(sum(map(all, subsets)) / len(subsets))


@given(st.integers(1, 30), st.data())
def test_more_tries_make_some_success_likelier_and_all_successes_rarer(n, data):
    c = data.draw(st.integers(0, n))
    at, hat = [[function(n, c, k) for k in range(1, 6)] for function in (pass_at_k, pass_hat_k)]
    assert at == sorted(at)
    assert hat == sorted(hat, reverse=True)
    assert at[0] == pytest.approx(c / n)
    assert hat[0] == pytest.approx(c / n)


def test_without_a_rule_numbers_are_averaged_and_texts_are_left_out():
    scores = [{"score": 1, "flag": True, "label": "a"}, {"score": 4, "label": "b"}]
    assert aggregate(scores, trials()) == {"score": 2.5, "flag": 1.0}


def test_only_what_was_scored_counts():
    assert aggregate([{"ok": 1.0}], trials(ok={"function": "pass@k", "k": 1})) == {"ok": 1.0, "ok_unbiased": 1.0}
    assert aggregate([], trials()) == {}


def test_successes_must_be_0_or_1():
    with pytest.raises(SpecError, match=r'pass@k counts successes: "ok" must be 0 or 1 in every trial, but one is 0.5'):
        aggregate([{"ok": 1.0}, {"ok": 0.5}], trials(ok={"function": "pass@k", "k": 1}))


def test_what_pass_at_k_gives_is_a_share_and_other_aggregators_keep_the_range():
    rules = trials(
        ok={"function": "pass@k", "k": 2, "score_name": "some"},
        grade={"function": "max", "score_name": "best"},
        free={"function": "mean"},
    )
    share = (0.0, 1.0)
    declared = {"ok": share, "grade": (1.0, 5.0)}
    assert ranges_of(declared, rules) == {**declared, "some": share, "some_unbiased": share, "best": (1.0, 5.0)}
    assert ranges_of(declared, None) == declared


TASK = """
key: tried
display_name: Tried
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.question }}"}]}
  trials:
    num_trials: 4
    score_aggregators: [{score_name: is_correct, aggregator: {function: pass@k, k: 2}}]
  scorers:
    - type: string_equals
      ground_truth: "yes"
      metrics: [{type: mean, field: is_correct, name: accuracy}]
"""


def test_the_unbiased_value_has_an_interval_between_0_and_1(project):
    project.write("task.yaml", TASK)
    project.write("data.jsonl", [{"question": f"Is it {n}?"} for n in range(4)])
    project.write("replies.jsonl", [{"reply": word} for word in ("yes", "no", "no", "yes", "no", "yes", "no")])
    said = project.assay("run", "task.yaml", "--model", "scripted/replies.jsonl", "--max-concurrency", "1", "--json")
    assert said.code == 0, said.err
    values = said.json["scorers"][0]["metrics"][0]["values"]
    unbiased = values["accuracy (unbiased)"]
    assert unbiased["value"] > values["accuracy"]["value"]
    assert unbiased["method"] == values["accuracy"]["method"] == "guarded"
    assert 0 <= unbiased["low"] < unbiased["high"] <= 1

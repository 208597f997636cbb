"""Several answers to the same sample become one score."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import SpecError
from assay.spec.task import Trials
from assay.summary.trials import (
    aggregate,
    chance_over_trials,
    pass_at_k,
    pass_hat_k,
    ranges_of,
    rule_of,
    unbiased_pass_at_k,
    unbiased_pass_hat_k,
)


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
        ({"function": "pass@k", "k": 3}, {"ok": 0.9, "ok_plug_in": 0.784}),
        ({"function": "pass^k", "k": 2, "score_name": "all"}, {"all": 0.1, "all_plug_in": 0.16}),
        ({"function": "pass@k", "k": 6}, {"ok": None, "ok_plug_in": 1 - 0.6**6}),
        ({"function": "pass^k", "k": 6}, {"ok": None, "ok_plug_in": 0.4**6}),
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
    assert aggregate([{"ok": 1.0}], trials(ok={"function": "pass@k", "k": 1})) == {"ok": 1.0, "ok_plug_in": 1.0}
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
    assert ranges_of(declared, rules) == {**declared, "some": share, "some_plug_in": share, "best": (1.0, 5.0)}
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


def run(project, task, *words):
    project.write("task.yaml", task)
    project.write("data.jsonl", [{"question": f"Is it {n}?", "kind": "ab"[n % 2]} for n in range(4)])
    project.write("replies.jsonl", [{"reply": word} for word in ("yes", "no", "no", "yes", "no", "yes", "no")])
    said = project.assay(
        "run", "task.yaml", "--model", "scripted/replies.jsonl", "--max-concurrency", "1", "--json", *words
    )
    assert said.code == 0, said.err
    return said


def test_the_unbiased_value_is_the_value_and_the_plug_in_a_detail(project):
    task = TASK.replace("name: accuracy}", "name: accuracy, group_by: '{{ sample.kind }}'}")
    said = run(project, task)
    metric = said.json["scorers"][0]["metrics"][0]
    assert list(metric["values"]) == ["accuracy"]
    value, plug_in = metric["values"]["accuracy"], metric["detail"]["plug_in"]["accuracy"]
    assert value["value"] > plug_in > 0
    assert 0 <= value["low"] <= value["value"] <= value["high"] <= 1
    groups = [group["accuracy"] for group in metric["groups"].values()]
    assert sum(group["value"] for group in groups) / 2 == pytest.approx(value["value"])
    run_id = said.json["run"]
    gated = project.assay("gate", run_id, "--require", f"accuracy >= {(value['value'] + plug_in) / 2}")
    assert gated.code == 0, gated.out
    compared = project.assay("compare", run_id, run_id, "--json").json["comparisons"][0]
    assert compared["before"]["value"] == pytest.approx(value["value"])


def test_more_successes_than_trials_leave_the_value_undefined_with_the_reason(project):
    said = run(project, TASK.replace("k: 2}", "k: 5}"))
    value = said.json["scorers"][0]["metrics"][0]["values"]["accuracy"]
    assert (value["value"], value["reason"]) == (None, "pass@5 needs at least 5 trials, and there are 4")
    checked = project.assay("check", "task.yaml")
    assert checked.code == 0, checked.err
    said = " ".join((checked.out + checked.err).split())
    assert "pass@5 needs at least 5 trials, and there are 4: it will be undefined" in said


def test_several_aggregators_of_one_score_need_names_of_their_own(project):
    one = "{score_name: is_correct, aggregator: {function: mean}}"
    other = "{score_name: is_correct, aggregator: {function: 'pass^k', k: 2, NAMED}}"
    rules = f"score_aggregators: [{one}, {other}]"
    task = TASK.replace("score_aggregators: [{score_name: is_correct, aggregator: {function: pass@k, k: 2}}]", rules)
    named = task.replace("NAMED", "score_name: always")
    named = named.replace("metrics: [", "metrics: [{type: mean, field: always, name: reliable}, ")
    metrics = run(project, named).json["scorers"][0]["metrics"]
    values = {name: value["value"] for metric in metrics for name, value in metric["values"].items()}
    assert values["reliable"] < values["accuracy"]
    assert "noise" in metrics[1]["detail"]
    assert "noise" not in metrics[0]["detail"]
    project.write("task.yaml", task.replace(", NAMED", ""))
    checked = project.assay("check", "task.yaml")
    assert checked.code == 2
    said = " ".join((checked.out + checked.err).split())
    assert 'another aggregator already produces "is_correct"; rename this one with aggregator.score_name' in said


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"function": "mean"}, 0.25),
        ({"function": "pass@k", "k": 3}, 1 - 0.75**3),
        ({"function": "pass^k", "k": 2}, 0.0625),
        ({"function": "max"}, 1 - 0.75**5),
        ({"function": "min"}, 0.25**5),
    ],
)
def test_chance_over_trials_is_what_guessing_gives(rule, expected):
    rules = trials(ok=rule)
    assert chance_over_trials(rule_of("ok", rules), rules)(0.25) == pytest.approx(expected)


def test_a_field_is_ruled_by_the_name_that_it_gets():
    rules = trials(ok={"function": "pass@k", "k": 2, "score_name": "some"})
    assert rule_of("some", rules).score_name == "ok"
    assert rule_of("ok", rules) is None
    assert rule_of("some", None) is None
    assert chance_over_trials(None, rules)(0.25) == 0.25


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"function": "median"}, 0.5),
        ({"function": "mode"}, 1.0),
        ({"function": "at_least_k", "k": 2, "threshold": 1.0}, 1.0),
        ({"function": "at_least_k", "k": 3, "threshold": 1.0}, 0.0),
        ({"function": "at_least_k", "k": 3, "threshold": 0.5}, 1.0),
        ({"function": "pass@k", "k": 2, "threshold": 1.0}, 5 / 6),
        ({"function": "pass^k", "k": 2, "threshold": 1.0}, 1 / 6),
    ],
)
def test_graded_trials_become_one_score_by_a_threshold_or_by_their_order(rule, expected):
    trials = Trials(num_trials=4, score_aggregators=[{"score_name": "s", "aggregator": rule}])
    # equally frequent values: the mode is the one of the first trial
    scores = [{"s": value} for value in (1.0, 0.0, 0.5 if rule["function"] != "mode" else 0.0, 1.0)]
    if rule["function"] == "median":
        scores = [{"s": value} for value in (0.0, 1.0, 0.25, 0.75)]
    assert aggregate(scores, trials)["s"] == pytest.approx(expected)


def test_a_threshold_is_for_aggregators_that_count_and_these_need_k():
    for rule in ({"function": "mean", "threshold": 1.0}, {"function": "at_least_k"}):
        with pytest.raises(ValueError, match='"threshold"' if "threshold" in rule else 'needs "k"'):
            Trials(num_trials=2, score_aggregators=[{"score_name": "s", "aggregator": rule}])


@pytest.mark.parametrize(("function", "k"), [("median", None), ("mode", None), ("at_least_k", 3)])
@pytest.mark.parametrize("n", [4, 5])
def test_the_chance_of_a_guess_over_trials_is_that_of_all_outcomes(function, k, n):
    rule = {"score_name": "s", "aggregator": {"function": function, "k": k}}
    trials = Trials(num_trials=n, score_aggregators=[rule])
    chance = 0.3
    expected = sum(
        chance ** sum(outcome) * (1 - chance) ** (n - sum(outcome))
        * aggregate([{"s": float(value)} for value in outcome], trials)["s"]
        for outcome in product((0, 1), repeat=n)
    )  # fmt: skip
    assert chance_over_trials(trials.score_aggregators[0], trials)(chance) == pytest.approx(expected)

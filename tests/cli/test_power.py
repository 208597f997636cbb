"""`assay power`: samples, difference or power, whichever is missing; and what `assay plan` says of it."""

from __future__ import annotations

import pytest

TASK = """
key: quiz
display_name: Quiz
definition:
  dataset: {source: {type: local, file_path: a.jsonl}}
  scorers:
    - type: string_equals
      ground_truth: "yes"
      value: "{{ sample.said }}"
"""


@pytest.mark.parametrize(
    ("arguments", "solved", "value"),
    [
        (("--flips", "0.2", "--effect", "0.05"), "n", 626),
        (("--flips", "0.2", "--n", "626"), "effect", pytest.approx(0.05, abs=1e-4)),
        (("--flips", "0.2", "--n", "626", "--effect", "0.05"), "power", pytest.approx(0.8, abs=1e-3)),
        (("--share", "0.8", "--effect", "0.05"), "n", 906),
        (("--flips", "0.2", "--effect", "0.05", "--power", "0.9"), "n", 837),
        (("--flips", "0.2", "--effect", "0.05", "--level", "0.9"), "n", 493),
        (("--flips", "0.01", "--effect", "0.2"), "n", None),
        (("--flips", "0.01", "--effect", "0.2", "--n", "50"), "power", 0.0),
        (("--flips", "0.1", "--n", "5"), "effect", None),
    ],
)
def test_two_of_samples_difference_and_power_give_the_third(cli, arguments, solved, value):
    said = cli("power", *arguments, "--json")
    assert said.code == 0, said.err
    (plan,) = said.json["plans"]
    assert plan["solved"] == solved
    assert plan[solved] == value
    assert (plan["reason"] is None) == (value not in (None, 0.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--flips 0.1"),
        (("--flips", "0.1"), "--effect 0.02"),
        (("--flips", "0.1", "--n", "9", "--effect", "0.1", "--power", "0.8"), "give exactly two"),
        (("--flips", "0.1", "--metric", "accuracy"), "--metric needs a pilot run"),
        (("a", "b", "c"), "at most two pilot runs"),
        (("--flips", "2", "--n", "9"), "--flips"),
    ],
)
def test_mistakes_are_sentences(cli, arguments, message):
    said = cli("power", *arguments)
    assert said.code == 2
    assert message in said.err


@pytest.fixture
def pilots(project, cli):
    """Two runs of 100 samples: 80 right, then ten more right and four fewer."""
    project.write("task.yaml", TASK)
    made = []
    for name, right in (("a", set(range(80))), ("b", set(range(4, 90)))):
        rows = [{"sample_id": f"q{i}", "said": "yes" if i in right else "no"} for i in range(100)]
        project.write(f"{name}.jsonl", rows)
        made.append(cli("run", "task.yaml", "--dataset", f"{name}.jsonl", "-q", "--json").json["run"])
    return made


def test_two_pilot_runs_say_how_many_samples_flip(pilots, cli):
    found = cli("power", *pilots, "--effect", "0.06", "--json").json["plans"]
    assert [(plan["paired"], plan["assumption"]) for plan in found] == [
        (True, "14 of 100 changed in the pilot"),
        (False, "0.800 right in the pilot"),
    ]
    assert found[0]["n"] < found[1]["n"]
    shown = cli("power", *pilots, "--effect", "0.06").out
    assert "same samples" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_one_pilot_run_plans_for_other_samples_and_for_assumed_flips(pilots, cli):
    said = cli("power", pilots[0], "--json").json
    assert [(plan["n"], plan["solved"]) for plan in said["plans"]] == [(100, "effect")]
    assert "--flips" in said["notes"][0]
    both = cli("power", pilots[0], "--flips", "0.1", "--n", "400", "--json").json
    assert [plan["paired"] for plan in both["plans"]] == [True, False]
    assert both["notes"] == []


def test_runs_that_say_nothing_are_no_pilots(pilots, project, cli):
    assert "do not differ" in cli("power", pilots[0], pilots[0], "--n", "9").err
    project.write("a.jsonl", [{"sample_id": "x", "said": "yes"}, {"sample_id": "y", "said": "yes"}])
    assert cli("run", "task.yaml", "-q").code == 0
    assert "all its values are identical" in cli("power", "latest").err


def test_graded_pilots_plan_in_their_own_units(project, cli):
    task = TASK.replace('"{{ sample.said }}"', '"{{ sample.said }}"\n      metrics: [METRIC]')
    weights = "{type: weighted_average, field: answer_pred, weights: {a: 0, b: 10, c: 20}}"
    project.write("task.yaml", task.replace("METRIC", weights))
    project.write("a.jsonl", [{"said": "abc"[i % 3]} for i in range(60)])
    assert cli("run", "task.yaml", "-q").code == 0
    (plan,) = cli("power", "latest", "--n", "400", "--json").json["plans"]
    assert plan["assumption"] == "standard deviation 8.23 in the pilot"
    assert plan["effect"] == pytest.approx(1.63, abs=0.01)
    assert "1.63" in cli("power", "latest", "--n", "400").out


def test_a_plan_says_what_its_numbers_will_be_able_to_show(project, cli):
    project.write("task.yaml", TASK)
    project.write("a.jsonl", [{"said": "yes"}] * 200)
    said = cli("plan", "task.yaml")
    assert "to within 6.9 points" in said.out
    assert "6.2 points will be found" in " ".join(said.out.split())
    assert cli("plan", "task.yaml", "--json").json["precision"]["n_samples"] == 200
    assert "too few samples to tell two runs apart" in " ".join(cli("plan", "task.yaml", "--limit", "5").out.split())


@pytest.mark.parametrize(("effect", "hint"), [("2", "; did you mean 0.02?"), ("250", "two shares\n")])
def test_an_effect_beyond_all_shares_is_refused(cli, effect, hint):
    said = cli("power", "--flips", "0.1", "--effect", effect)
    assert said.code == 2
    assert f"--effect {effect} is more than 1, the largest difference of two shares" in said.err
    assert hint in said.err

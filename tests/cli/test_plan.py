"""What a run would do and cost, told before anything is spent."""

from __future__ import annotations

import pytest

JUDGED = """
key: live
display_name: Live
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.question }}"}]}
    sampling: {temperature: 0}
  scorers:
    - type: model_as_a_judge_scorer
      model_key: stub
      user_prompt: "[[reply: 80]] Rate {{ model_output }} to {{ input_prompt }}"
      score_min: 0
      score_max: 100
"""


def planned(cli, *more):
    said = cli("plan", "task.yaml", "--model", "stub", "--json", *more)
    assert said.code == 0, said.err
    return said.json


def test_a_plan_counts_calls_and_money_and_asks_nothing(cli, live, loopback):
    live(40)
    plan = planned(cli)
    assert loopback.stats()["served"] == 0
    assert (plan["n_cells"], plan["n_done"]) == (40, 0)
    (model,) = plan["models"]
    assert (model["model"], model["purpose"], model["calls"], model["cached"]) == ("stub", "answer", 40, 0)
    assert model["tokens_out"]["high"] == 400, "max_tokens bounds what is written"
    low, expected, high = plan["cost_usd"]
    assert 0 < low < expected <= high
    tokens = model["tokens_in"]["expected"], model["tokens_out"]["expected"]
    assert expected == pytest.approx((tokens[0] * 1 + tokens[1] * 2) / 1e6, rel=0.01)
    assert planned(cli, "--limit", "10")["models"][0]["calls"] == 10


def test_after_the_run_nothing_is_left(cli, live, loopback):
    live(15)
    cli("run", "task.yaml", "--model", "stub")
    plan = planned(cli)
    assert (plan["n_cells"], plan["n_done"], plan["models"], plan["stale"]) == (15, 15, [], [])
    assert plan["cost_usd"] == [0, 0, 0]
    assert "costs nothing" in cli("plan", "task.yaml", "--model", "stub").out
    assert loopback.stats()["served"] == 15


def test_paid_calls_are_told_apart_from_new_ones_and_changes_are_named(cli, live, loopback):
    project = live(15)
    cli("run", "task.yaml", "--model", "stub")
    task = (project.folder / "task.yaml").read_text()
    project.write("task.yaml", task.replace("choices: [A, B, C, D]", "choices: [A, B]"))
    plan = planned(cli)
    assert (plan["models"][0]["calls"], plan["models"][0]["cached"]) == (0, 15)
    assert [reason.split(" changed")[0] for reason in plan["stale"]] == ["the scorers"]
    rows = [{"question": f"Question {i}?", "answer": "A"} for i in range(5, 25)]
    project.write("data.jsonl", rows)
    project.write("task.yaml", task.replace("one letter", "a letter"))
    plan = planned(cli, "--limit", "12")
    assert (plan["models"][0]["calls"], plan["models"][0]["cached"]) == (12, 0)
    assert {reason.split(" changed")[0] for reason in plan["stale"]} == {
        "the dataset's content",
        "the solver",
        "the limit",
    }
    assert loopback.stats()["served"] == 15


def test_the_same_question_twice_is_one_call_unless_the_answer_is_random(cli, live):
    project = live(1)
    project.write("data.jsonl", [{"question": "the same?", "answer": "A"}] * 4)
    assert planned(cli)["models"][0]["calls"] == 1
    task = (project.folder / "task.yaml").read_text()
    project.write("task.yaml", task.replace("temperature: 0", "temperature: 1") + "  trials: {num_trials: 3}\n")
    plan = planned(cli)
    assert (plan["n_cells"], plan["models"][0]["calls"]) == (12, 12)


def test_a_person_gets_a_table(cli, live):
    live(40, max_concurrent_requests=2, rate_limit=60)
    said = cli("plan", "task.yaml", "--model", "stub")
    assert said.code == 0
    assert "live: 40 samples, 0 done, 40 left" in said.out
    head = next(line for line in said.out.splitlines() if line.startswith("model"))
    assert head.split() == ["model", "for", "calls", "paid", "tokens", "in", "+", "out", "cost", "time"]
    assert "40 s" in said.out, "sixty calls a minute"
    assert "Expected cost: $0.0" in said.out
    assert all(len(line) <= 80 for line in said.out.splitlines())


def test_tokens_a_minute_may_be_what_takes_time(cli, live):
    live(40, tokens_per_minute=100)
    model = planned(cli)["models"][0]
    tokens = model["tokens_in"]["expected"] + model["tokens_out"]["expected"]
    assert model["seconds"] == pytest.approx(tokens / 100 * 60)


def test_an_unknown_price_is_unknown_not_zero(cli, live):
    live(3, prices=None)
    assert planned(cli)["cost_usd"] is None
    assert "unknown: a model has no price" in cli("plan", "task.yaml", "--model", "stub").out


def test_judges_are_counted_apart(cli, live, loopback):
    project = live(6, task=JUDGED)
    plan = planned(cli)
    assert {model["purpose"]: model["calls"] for model in plan["models"]} == {"answer": 6, "judge": 6}
    assert loopback.stats()["served"] == 0
    cli("run", "task.yaml", "--model", "stub")
    other = JUDGED.replace("display_name", "description: x\ndisplay_name").replace("key: live", "key: other")
    (project.folder / "task.yaml").write_text(other)
    assert {model["purpose"]: model["cached"] for model in planned(cli)["models"]} == {"answer": 6, "judge": 6}


def test_a_judge_over_recorded_answers_needs_no_other_model(cli, live, loopback):
    project = live(1, task=JUDGED)
    task = JUDGED[: JUDGED.index("  solver")] + "  solver: {type: pass_through_solver, trace_column: output}\n"
    project.write("task.yaml", task + JUDGED[JUDGED.index("  scorers") :].replace("input_prompt", "sample.question"))
    project.write("data.jsonl", [{"question": "q", "output": "a"}, {"question": "q", "output": "b"}, {"question": "q"}])
    said = cli("plan", "task.yaml", "--json")
    assert said.code == 0, said.err
    assert [(model["purpose"], model["calls"]) for model in said.json["models"]] == [("judge", 2)]


def test_a_task_that_asks_nobody_costs_nothing(cli, recorded):
    said = cli("plan", "task.yaml")
    assert (said.code, "No model is asked: this run costs nothing." in said.out) == (0, True)
    assert cli("plan", "task.yaml", "--json").json["models"] == []


def test_a_wrong_task_is_refused_as_by_run(cli, live):
    live(1)
    said = cli("plan", "task.yaml")
    assert said.code == 2
    assert "--model" in said.err


RUBRIC = "- {name: polite, requirement: Is polite.}\n"
KEYED = '{key: m, display_name: M, config: {url: "http://127.0.0.1:9/v1", api_key: $NOBODYS_KEY, model_key: x}}'
RATED = """
key: rated
display_name: Rated
definition:
  dataset: {source: {type: local, file_path: texts.jsonl}}
  solver: {type: pass_through_solver, trace_column: text}
  scorers:
    - {type: rubric, rubric: rubric.yaml, judges: [{model_key: openai/gpt-5-mini}]}
"""
TEXTS = ("rubric.yaml", "--submissions", "texts.jsonl")
PLANS = {
    "plan": ("plan", "task.yaml", "--model", "keyed.yaml"),
    "plan, a judge": ("plan", "rated.yaml"),
    "audit, a rubric": (
        "audit",
        "rubric.yaml",
        "--submissions",
        "texts.jsonl",
        "--judge",
        "openai/gpt-5-mini",
        "--plan",
    ),
    "audit, a model file": ("audit", *TEXTS, "--judge", "keyed.yaml", "--plan"),
    "audit, a task": ("audit", "rated.yaml", "--plan"),
    "grade": ("grade", "rubric.yaml", "texts.jsonl", "--judge", "openai/gpt-5-mini", "--plan"),
    "grade, a model file": ("grade", "rubric.yaml", "texts.jsonl", "--judge", "keyed.yaml", "--plan"),
}


@pytest.fixture
def unkeyed(project, monkeypatch):
    """A folder without a store whose models have keys that nobody set."""
    (project.folder / ".assay").rmdir()
    project.write("rubric.yaml", RUBRIC)
    project.write("keyed.yaml", KEYED)
    project.write("texts.jsonl", [{"text": f"Text {n}."} for n in range(3)])
    project.write("data.jsonl", [{"question": f"Q{n}?"} for n in range(3)])
    project.write("rated.yaml", RATED)
    task = JUDGED[: JUDGED.index("  scorers")]
    project.write("task.yaml", task)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return project


@pytest.mark.parametrize("command", PLANS.values(), ids=PLANS)
def test_a_plan_needs_no_key_and_no_store_and_creates_nothing(unkeyed, command):
    before = sorted(path.name for path in unkeyed.folder.iterdir())
    outcome = unkeyed.assay(*command)
    assert outcome.code == 0, outcome.err
    assert "3" in outcome.out
    assert sorted(path.name for path in unkeyed.folder.iterdir()) == before
    assert unkeyed.assay(*command, "--json").json


@pytest.mark.parametrize("command", PLANS.values(), ids=PLANS)
def test_a_plan_reads_a_store_on_a_read_only_mount(unkeyed, command, read_only):
    unkeyed.write("scripted.jsonl", [{"reply": '{"explanation": "e", "criterion_status": "MET"}'}])
    done = unkeyed.assay("grade", "rubric.yaml", "texts.jsonl", "--judge", "scripted/scripted.jsonl", "-q")
    assert done.code == 0, done.err
    store = read_only(unkeyed.folder / ".assay") / "assay.db"
    outcome = unkeyed.assay(*command, "--store", str(store))
    assert outcome.code == 0, outcome.err


def test_a_variable_that_is_not_a_secret_must_be_set_for_a_plan_too(unkeyed):
    unkeyed.write("keyed.yaml", KEYED.replace("model_key: x", "model_key: $NOBODYS_MODEL"))
    outcome = unkeyed.assay(*PLANS["plan"])
    assert outcome.code == 2
    assert "NOBODYS_MODEL" in outcome.err
    assert "NOBODYS_KEY" not in outcome.err.splitlines()[0]


def test_an_unset_key_names_the_env_file_that_was_read_and_one_beside_the_file_that_was_not(unkeyed):
    run = ("run", "task.yaml", "--model")
    missing = unkeyed.assay(*run, "keyed.yaml")
    assert missing.code == 2
    assert f"NOBODYS_KEY is not set, nor is it in {unkeyed.folder / '.env'}, which does not exist" in missing.err
    unkeyed.write("models/keyed.yaml", KEYED)
    unkeyed.write("models/.env", "NOBODYS_KEY=k\n")
    (unkeyed.folder / ".assay").mkdir()
    beside = unkeyed.assay(*run, "models/keyed.yaml")
    assert beside.code == 2
    assert f"{unkeyed.folder / 'models' / '.env'} is not read" in beside.err
    assert str(unkeyed.folder / ".env") in beside.err

"""Panels in whole runs: judges that die, votes that are asked for again, seeds, repeats, several rubrics."""

from __future__ import annotations

import json

import pytest

TASK = """
key: graded
display_name: Graded
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - type: rubric
      rubric:
        - {name: polite, requirement: Is polite.}
        - name: style
          requirement: How is the style?
          options: [{label: Poor, value: 0}, {label: Fair, value: 0.5}, {label: Fine, value: 1}]
      judges: [{model_key: one.yaml, id: one}, {model_key: two.yaml, id: two}, {model_key: three.yaml, id: three}]
"""
N = 8


@pytest.fixture
def graded(project, loopback):
    """A project of eight replies and three judges, which are models of their own at one server."""
    for name in ("one", "two", "three"):
        config = {"url": f"{loopback.url}/chat/completions", "api_key": "$STUB_KEY", "model_key": name}
        project.write(f"{name}.yaml", json.dumps({"key": name, "display_name": name, "config": config}))
    project.write(".env", "STUB_KEY=sk-loopback\n")
    project.write("data.jsonl", [{"reply": f"reply {n}"} for n in range(N)])
    project.write("task.yaml", TASK)
    return project


def _asked(loopback):
    """How often each judge was asked."""
    models = [
        json.loads(each["body"])["model"] if isinstance(each["body"], str) else each["body"]["model"]
        for each in loopback.requests()
    ]
    return {name: models.count(name) for name in dict.fromkeys(models)}


def _votes(project):
    return [
        vote
        for sample in project.assay("samples", "--json").lines
        for cast in sample["scores"]["rubric"]["metadata"]["votes"].values()
        for vote in cast
    ]


def test_a_judge_without_a_model_is_dead_the_others_decide_and_its_votes_are_asked_for_later(graded, loopback):
    loopback.configure(models="one,three")
    outcome = graded.assay("run", "task.yaml")
    assert outcome.code == 0, outcome.err
    assert 'all 16 calls to judge "two" failed' in " ".join(outcome.out.split())
    asked = _asked(loopback)
    assert asked["two"] <= 10
    assert (asked["one"], asked["three"]) == (2 * N, 2 * N)
    assert {vote["judge_id"] for vote in _votes(graded) if "error" in vote} == {"two"}
    planned = graded.assay("plan", "task.yaml", "--json").json
    assert (planned["n_done"], [model["calls"] for model in planned["models"]]) == (0, [0, 2 * N, 0])
    # mended, the same command asks the judge that failed alone
    loopback.reset()
    again = graded.assay("run", "task.yaml", "--json")
    assert again.code == 0, again.err
    assert _asked(loopback) == {"two": 2 * N}
    assert not any("error" in vote for vote in _votes(graded))
    loopback.reset()
    graded.assay("run", "task.yaml", "--json")
    assert loopback.stats()["arrived"] == 0


def test_a_panel_without_any_judge_stops_with_one_message(graded, loopback):
    loopback.configure(api_key="another")
    outcome = graded.assay("run", "task.yaml")
    assert outcome.code == 3
    assert outcome.err.count("refuses all calls") == 1
    assert loopback.stats()["arrived"] <= 30


def test_a_reply_that_cannot_be_read_is_not_asked_for_again(graded, loopback):
    graded.write("data.jsonl", [{"reply": "[[reply: perhaps]]"}])
    outcome = graded.assay("run", "task.yaml", "--json")
    assert outcome.json["failures"] == {"parse": 1}
    loopback.reset()
    graded.assay("run", "task.yaml", "--json")
    assert loopback.stats()["arrived"] == 0


def test_an_unset_seed_is_the_stores_for_every_task_and_a_set_one_wins(graded):
    def orders(store, text=TASK):
        graded.write("task.yaml", text)
        assert graded.assay("run", "task.yaml", "--store", store, "--json").code == 0
        lines = graded.assay("samples", "--store", store, "--json").lines
        votes = [vote for line in lines for vote in line["scores"]["rubric"]["metadata"]["votes"]["style"]]
        return [tuple(vote["shuffle_order"]) for vote in votes]

    first = orders("a.db")
    assert orders("a.db", TASK.replace("key: graded", "key: other")) == first
    assert orders("b.db") != first
    pinned = TASK.replace("- type: rubric", "- type: rubric\n      seed: 5")
    assert orders("a.db", pinned) == orders("b.db", pinned)


def test_repeats_are_asked_and_kept_and_a_rerun_pays_nothing(graded, loopback):
    graded.write("task.yaml", TASK.replace("- type: rubric", "- type: rubric\n      repeats: 3"))
    outcome = graded.assay("run", "task.yaml", "--json")
    assert outcome.code == 0, outcome.err
    assert _asked(loopback) == dict.fromkeys(("one", "two", "three"), 3 * 2 * N)
    assert sorted({vote.get("repeat", 0) for vote in _votes(graded)}) == [0, 1, 2]
    loopback.reset()
    graded.write("task.yaml", TASK.replace("- type: rubric", "- type: rubric\n      repeats: 4"))
    graded.assay("run", "task.yaml", "--json")
    assert _asked(loopback) == dict.fromkeys(("one", "two", "three"), 2 * N)


def test_a_plan_counts_repeats_and_asks_with_the_stores_seed(graded, loopback):
    graded.write("task.yaml", TASK.replace("- type: rubric", "- type: rubric\n      repeats: 2"))
    planned = graded.assay("plan", "task.yaml", "--json")
    assert planned.code == 0, planned.err
    assert sum(model["calls"] for model in planned.json["models"]) == 3 * 2 * 2 * N
    graded.assay("run", "task.yaml", "--json")
    assert loopback.stats()["arrived"] == 3 * 2 * 2 * N


SECOND = """
    - type: rubric
      key: tone
      rubric: [{name: polite, requirement: Sounds kind., weight: 5}, {name: warm, requirement: Is warm.}]
      judges: [{model_key: one.yaml, id: one}, {model_key: two.yaml, id: two}]
"""


def test_several_rubrics_in_one_task_keep_scores_votes_and_agreement_apart(graded):
    graded.write("task.yaml", TASK.replace("- type: rubric", "- type: rubric\n      auto_na_option: false") + SECOND)
    outcome = graded.assay("run", "task.yaml", "--json")
    assert outcome.code == 0, outcome.err
    assert [scorer["key"] for scorer in outcome.json["scorers"]] == ["rubric", "tone"]
    first = graded.assay("samples", "--json").lines[0]["scores"]
    assert set(first["rubric"]["values"]) == {"score", "raw_score", "coverage", "polite", "style"}
    assert set(first["tone"]["values"]) == {"score", "raw_score", "coverage", "polite", "warm"}
    assert first["tone"]["values"]["raw_score"] <= 15.0
    assert len(first["tone"]["metadata"]["votes"]["polite"]) == 2
    agreed = graded.assay("agreement", "--json")
    assert agreed.code == 0, agreed.err
    assert set(agreed.json["criteria"]) == {"rubric/polite", "rubric/style", "tone/polite", "tone/warm"}
    assert agreed.json["criteria"]["rubric/style"]["labels"] == ["Poor", "Fair", "Fine"]


def test_the_same_seed_gives_the_same_votes_at_any_speed_and_in_any_order_of_replies(graded, loopback):
    graded.write("task.yaml", TASK.replace("- type: rubric", "- type: rubric\n      seed: 42"))
    loopback.configure(vary=True, jitter_ms=30)
    said = []
    for width in ("1", "50"):
        store = f"{width}.db"
        outcome = graded.assay("run", "task.yaml", "--json", "--store", store, "--max-concurrency", width)
        assert outcome.code == 0, outcome.err
        lines = graded.assay("samples", "--json", "--store", store).lines
        said.append([line["scores"]["rubric"]["metadata"]["votes"] for line in lines])
    assert said[0] == said[1]


def test_missing_votes_and_idle_weights_are_told_with_the_numbers(graded, loopback):
    graded.write("half.jsonl", [{"match": "reply 1", "reply": "hm"}, {"reply": "hm"}])
    judges = "[{model_key: one.yaml, id: one, weight: 3}, {model_key: scripted/half.jsonl, id: half}]"
    head = TASK.partition("      judges:")[0]
    graded.write("task.yaml", f"{head}      judges: {judges}\n")
    document = graded.assay("run", "task.yaml", "--json").json
    detail = document["scorers"][0]["detail"]
    assert detail["judges"]["half"] == {"n_votes": 2 * N, "n_missing": 2 * N, "missing": {"parse": 2 * N}}
    assert detail["judges"]["one"]["n_missing"] == 0
    assert any("the weights of the judges change nothing" in note for note in detail["warnings"])
    table = graded.assay("show").out
    assert f'note: all {2 * N} calls to judge "half" failed' in table

from __future__ import annotations

import re

import pytest

import assay


def test_the_numbers_come_back_as_they_were(cli, recorded):
    first = cli("run", "task.yaml", "--json", "--max-failures", "1")
    run = first.json["run"]
    for name in ("latest", run, run[:5]):
        shown = cli("show", name, "--json").json
        shown.pop("provenance")
        assert shown == first.json
    assert "Accuracy" in cli("show").out
    assert "0.667" in cli("show").out


def test_the_display_name_of_a_metric_is_shown_when_it_is_run_and_later(cli, recorded):
    task = (recorded.folder / "task.yaml").read_text()
    recorded.write("task.yaml", task.replace("name: Accuracy", 'name: Accuracy, display_name: "Share right"'))
    first = cli("run", "task.yaml", "--max-failures", "1")
    assert "\nShare right " in first.out
    assert "\nShare right " in cli("show").out
    assert cli("show", "--json").json["scorers"][0]["metrics"][0]["display_name"] == "Share right"


@pytest.mark.parametrize("command", ["show", "samples"])
def test_a_run_that_is_not_there_is_told(cli, recorded, command):
    cli("run", "task.yaml", "--max-failures", "1")
    said = cli(command, "zzzz")
    assert said.code == 2
    assert "zzzz" in said.err


def test_the_store_may_lie_elsewhere(cli, recorded, tmp_path):
    place = str(tmp_path / "elsewhere.db")
    cli("run", "task.yaml", "--max-failures", "1", "--store", place)
    assert cli("show").code != 0
    assert cli("show", "--store", place).code == 0


def test_the_provenance_of_a_run_is_shown(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1", "--name", "v2", "--tag", "nightly", "--limit", "3", "--seed", "7")
    origin = cli("show", "v2", "--json").json["provenance"]
    assert (origin["name"], origin["tags"], origin["task"], origin["file"]) == (
        "v2",
        ["nightly"],
        "yes-no",
        "task.yaml",
    )
    assert (origin["seed"], origin["limit"], origin["trials"], origin["cost_usd"]) == (7, 3, 1, 0.0)
    assert origin["dataset"]["path"] == "data.jsonl"
    assert len(origin["dataset"]["sha256"]) == 64
    assert origin["assay"] == assay.__version__
    assert origin["started_at"] <= origin["finished_at"]
    shown = cli("show", "v2").out
    for words in ("name v2; tags nightly", "dataset data.jsonl, sha256 ", "seed 7, 1 trial, limit 3", "no model calls"):
        assert words in shown, words
    assert max(map(len, shown.splitlines())) <= 80


def test_a_model_and_its_settings_are_part_of_the_provenance(cli, live):
    live(2)
    cli("run", "task.yaml", "--model", "stub")
    origin = cli("show", "--json").json["provenance"]
    assert origin["models"]["answers"]["name"] == "stub"
    assert "model stub" in cli("show").out


def test_a_run_can_be_cited(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1", "--name", "v2")
    said = cli("show", "v2", "--cite")
    assert said.code == 0
    assert said.out.count("\n") == 1, "one paragraph"
    for words in (
        'evaluated on the task "Yes or no" over 4 samples of data.jsonl (SHA-256 ',
        "with seed 0 and assay ",
        "Accuracy: 0.667 (95% CI 0.208 to 0.939, wilson, n = 3).",
        "1 sample failed (missing_field 1); failures are not part of these values.",
        "Run ",
        ' "v2", ',
    ):
        assert words in said.out, said.out
    assert cli("show", "--cite", "--json").code == 2


def test_an_imported_run_is_cited_as_such(cli, recorded):
    recorded.write("answers.csv", "id,output,correct\n1,a,1\n2,b,0\n3,c,1\n")
    cli("import", "answers.csv", "--output", "output", "--score", "correct", "--model", "elsewhere/large")
    said = cli("show", "--cite").out
    assert (
        'Results of elsewhere/large on 3 samples of the task "answers" were imported from answers.csv (SHA-256 ' in said
    )
    assert "seed" not in said, "nothing was drawn here"
    assert "Accuracy: 0.667 (95% CI 0.208 to 0.939, wilson, n = 3)." in said
    assert said.endswith("UTC, no model calls.\n")


TRIALS = """
key: t
display_name: T
definition:
  dataset: {source: {type: local, file_path: rows.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.q }}"}]}
  trials: {num_trials: 3}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics: [{type: mean, field: is_correct, name: accuracy, cluster_by: "{{ sample.passage }}"}]
"""
RUN_FILE = """
evaluation:
  key: nightly
  display_name: Every night
  task_specifications: [{key: first, task_key: t, model_key: scripted/replies.jsonl}]
"""


@pytest.fixture
def trials(recorded):
    recorded.write("trials.yaml", TRIALS)
    recorded.write("rows.jsonl", [{"q": f"q{n}", "answer": "a", "passage": f"p{n // 2}"} for n in range(8)])
    recorded.write("replies.jsonl", [{"match": "q0", "error": {"status": 400, "message": "no"}}, {"reply": "a"}])
    return recorded


def test_trials_clusters_and_their_failures_are_cited(cli, trials):
    cli("run", "trials.yaml", "--model", "scripted/replies.jsonl", "--max-failures", "1")
    said = cli("show", "--cite").out
    assert ", each answered 3 times, with seed 0 and assay " in said
    assert "Intervals allow for clusters by sample.passage. " in said
    assert "n = 7, 4 clusters)." in said
    assert "1 of 8 samples had failed trials (http 3); failures are not part of these values." in said


def test_replies_of_an_earlier_run_are_cited_with_it(cli, trials):
    trials.write("replies.jsonl", [{"reply": "a"}])
    cli("run", "trials.yaml", "--model", "scripted/replies.jsonl")
    before = cli("show", "--json").json["run"]
    trials.write("trials.yaml", TRIALS.replace("name: accuracy", "name: share"))
    cli("run", "trials.yaml", "--model", "scripted/replies.jsonl")
    said = cli("show", "--cite").out
    assert said.endswith(f"no new model calls: the replies are those of run {before}.\n")


def test_the_run_of_an_evaluation_names_it(cli, trials):
    trials.write("run.yaml", RUN_FILE)
    ran = cli("run", "run.yaml", "--max-failures", "1")
    assert ran.code == 0, ran.err
    assert 'This is "first" of the evaluation "nightly". ' in cli("show", "--cite").out


def test_a_run_without_one_successful_call_says_so(cli, live):
    project = live(2)
    text = (project.folder / "model.yaml").read_text(encoding="utf-8")
    # nothing listens on the port of the discard protocol
    project.write("model.yaml", re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9", text))
    cli("run", "task.yaml", "--model", "stub", "-q")
    said = cli("show", "--cite").out
    assert "2 samples failed (connection 2); failures are not part of these values." in said
    assert said.endswith("UTC, no model call succeeded.\n")
    assert "no model call succeeded" in " ".join(cli("show").out.split())

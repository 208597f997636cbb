"""Stored answers under other scorers."""

from __future__ import annotations

import pytest

LETTER = "choices: [A, B, C, D]\n      answer_extraction: letter"
JUDGE = """
    - type: model_as_a_judge_scorer
      model_key: stub
      user_prompt: "[[reply: 80]] Rate the answer to {{ sample.question }}"
      score_min: 0
      score_max: 100
"""


def change(project, old, new):
    path = project.folder / "task.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_new_scorers_score_stored_answers_without_a_call(cli, live, loopback):
    project = live(20)
    first = cli("run", "task.yaml", "--model", "stub", "--json").json
    change(project, "choices: [A, B, C, D]", LETTER + "\n    - {type: contains, substring: A}")
    said = cli("rescore", "latest", "task.yaml", "--json")
    assert said.code == 0, said.err
    assert said.err.splitlines() == [
        "scored anew: contains: new scorer",
        "scored anew: string_equals_mcqa: answer_extraction changed",
    ]
    assert loopback.stats()["served"] == 20
    assert said.json["run"] != first["run"]
    assert (said.json["n_samples"], said.json["cost_usd"], said.json["model"]) == (20, 0, "stub")
    answers = [row["output"] for row in cli("samples", first["run"], "--json").lines]
    rows = cli("samples", "--json").lines
    assert [row["output"] for row in rows] == answers
    assert [row["scores"]["contains"]["values"]["is_correct"] for row in rows] == [float("A" in a) for a in answers]


def test_scorers_as_they_were_give_the_same_numbers_and_nothing_is_stale(cli, live):
    live(20)
    first = cli("run", "task.yaml", "--model", "stub", "--json").json
    said = cli("rescore", first["run"], "task.yaml", "--json")
    assert said.err == "the scorers have not changed\n"
    assert said.json["scorers"] == first["scorers"]


def test_a_scorer_that_is_gone_is_named(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1")
    change(recorded, "type: string_equals", "type: bleu")
    change(recorded, "field: is_correct", "field: bleu_score")
    said = cli("rescore", "latest", "task.yaml", "--max-failures", "1")
    assert said.code == 0, said.err
    assert said.err.splitlines() == ["scored anew: bleu: new scorer", "no longer scored: string_equals"]
    assert "3 scored" in said.out


def test_samples_without_an_answer_stay_failed(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1")
    document = cli("rescore", "latest", "task.yaml", "--json").json
    assert (document["n_samples"], document["n_failed"]) == (4, 1)
    assert document["scorers"][0]["n_scored"] == 3


def test_a_judge_that_is_as_it_was_keeps_its_scores(cli, live, loopback):
    project = live(5)
    task = (project.folder / "task.yaml").read_text()
    project.write("task.yaml", task + JUDGE.removeprefix("\n"))
    first = cli("run", "task.yaml", "--model", "stub", "--json").json
    served = loopback.stats()["served"]
    change(project, "choices: [A, B, C, D]", LETTER)
    said = cli("rescore", first["run"], "task.yaml", "--json")
    assert said.code == 0, said.err
    assert said.json["scorers"][1]["metrics"] == first["scorers"][1]["metrics"]
    assert said.json["scorers"][1]["n_scored"] == 5
    assert loopback.stats()["served"] == served


@pytest.mark.parametrize("how", ["changed", "new"])
def test_a_judge_that_is_not_as_it_was_is_refused(cli, live, loopback, how):
    project = live(5)
    task = (project.folder / "task.yaml").read_text()
    judged = task + JUDGE.removeprefix("\n")
    project.write("task.yaml", judged if how == "changed" else task)
    cli("run", "task.yaml", "--model", "stub", "-q")
    served = loopback.stats()["served"]
    project.write("task.yaml", judged.replace("Rate the answer", "Judge the answer"))
    said = cli("rescore", "latest", "task.yaml", "--max-failures", "1")
    assert said.code == 2
    assert "model_as_a_judge_scorer asks a model and is not as it was" in said.err
    assert "use `assay run`" in said.err
    assert [run["status"] for run in cli("runs", "--json").lines] == ["completed"], "nothing was begun"
    assert loopback.stats()["served"] == served


def test_another_number_of_trials_is_refused(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1")
    change(recorded, "  scorers:", "  trials: {num_trials: 2}\n  scorers:")
    said = cli("rescore", "latest", "task.yaml", "--max-failures", "1")
    assert said.code == 2
    assert "1 trial per sample" in said.err


def test_a_wrong_task_is_refused(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1")
    change(recorded, "ground_truth:", "ground_truht:")
    said = cli("rescore", "latest", "task.yaml", "--max-failures", "1")
    assert said.code == 2
    assert 'did you mean "ground_truth"?' in said.err


def test_a_misspelt_column_is_found_before_anything_is_scored(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1")
    recorded.write("other.yaml", (recorded.folder / "task.yaml").read_text().replace("sample.answer", "sample.anwser"))
    said = cli("rescore", "latest", "other.yaml")
    assert said.code == 2
    assert 'the dataset has no column "anwser"' in said.err
    assert 'did you mean "answer"?' in said.err
    assert len(cli("runs", "--json").lines) == 1, "nothing was begun"

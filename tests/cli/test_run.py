from __future__ import annotations

import re

import pytest


def test_a_note_is_shown_unless_quiet_and_holds_no_control_characters(cli, recorded):
    text = (recorded.folder / "task.yaml").read_text()
    recorded.write("task.yaml", text.replace("definition:", "definition:\n  type: declarative_task"))
    said = cli("run", "task.yaml", "--limit", "2")
    assert said.err.startswith("note: task.yaml:5:")
    assert cli("run", "task.yaml", "--limit", "2", "-q").err == ""


def test_too_many_failures_are_exit_code_3_and_say_where_to_look(cli, recorded):
    said = cli("run", "task.yaml")
    assert said.code == 3
    assert "25.0% of the scores failed, more than --max-failures 0.05" in said.err
    assert "--failed` shows them" in said.err
    assert cli("run", "task.yaml", "--max-failures", "0.25").code == 0


def test_a_task_without_a_dataset_takes_one_from_the_command_line(cli, recorded):
    text = (recorded.folder / "task.yaml").read_text()
    recorded.write("task.yaml", text.replace("  dataset: {source: {type: local, file_path: data.jsonl}}\n", ""))
    said = cli("run", "task.yaml")
    assert said.code == 2
    assert "--dataset FILE" in said.err
    assert cli("run", "task.yaml", "--dataset", "data.jsonl", "--max-failures", "1").code == 0
    assert "there is no file" in cli("run", "task.yaml", "--dataset", "gone.jsonl").err


def test_a_live_task_without_a_model_is_told_which_option(cli, live):
    live(1)
    said = cli("run", "task.yaml")
    assert said.code == 2
    assert "--model openai/gpt-5-mini" in said.err


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("opnai/gpt-5-mini", 'did you mean "openai/gpt-5-mini"?'),
        ("stubb", 'did you mean "stub"?'),
        ("scripted/gone.jsonl", "gone.jsonl"),
    ],
)
def test_a_model_that_is_not_there_is_told_before_anything_is_asked(cli, live, loopback, model, words):
    live(1)
    said = cli("run", "task.yaml", "--model", model)
    assert said.code == 2
    assert words in said.err
    assert loopback.stats()["served"] == 0


def test_what_an_endpoint_made_us_leave_out_is_told(cli, live, loopback):
    live(3)
    loopback.configure(reject_parameter="temperature")
    said = cli("run", "task.yaml", "--model", "stub")
    assert said.code == 0, said.err
    assert "note: " in said.err
    assert "temperature" in said.err


@pytest.mark.parametrize("most", ["0.05", "1"])
def test_a_run_of_which_every_sample_fails_says_why_in_its_last_line(cli, recorded, most):
    recorded.write("other.jsonl", [{"answer": "yes", "output": None}] * 3)
    said = cli("run", "task.yaml", "--dataset", "other.jsonl", "--max-failures", most)
    assert said.code == (3 if most == "0.05" else 0)
    assert said.err.splitlines()[-1].startswith("every sample failed: ")
    assert said.err.splitlines()[-1].removeprefix("every sample failed: ") in cli("samples", "--failed", "--json").out


def test_few_calls_to_a_dead_model_say_why_in_the_last_line(cli, live):
    project = live(2)
    # nothing listens on the port of the discard protocol
    text = (project.folder / "model.yaml").read_text(encoding="utf-8")
    project.write("model.yaml", re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9", text))
    said = cli("run", "task.yaml", "--model", "stub", "-q")
    assert said.code == 3
    last = said.err.splitlines()[-1]
    assert last.startswith("every sample failed: ")
    assert "refused" in last.lower()


def test_some_failures_name_the_first(cli, recorded):
    said = cli("run", "task.yaml")
    assert said.code == 3
    assert said.err.splitlines()[-1].startswith("the first failure: ")

"""`assay check` on files, folders and models."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTED = """
key: noted
display_name: Noted
config_spec:
  - {type: int, key: least, display_name: Least}
definition:
  type: declarative_task
  dataset: {source: {type: inline_samples, samples: [{a: x}]}}
  scorers: [{type: contains, value: "{{ sample.a }}", substring: "x"}]
"""


def test_several_files_are_checked_in_one_go(cli, recorded):
    recorded.write("other.yaml", NOTED.replace("substring", "substrng"))
    said = cli("check", "task.yaml", "other.yaml")
    assert said.code == 2
    assert 'did you mean "substring"?' in said.out
    assert said.out.endswith(" in 2 files\n")


def test_notes_go_to_stderr_and_stop_nothing(cli, project):
    project.write("task.yaml", NOTED)
    said = cli("check", "task.yaml")
    assert (said.code, said.out) == (0, "1 file checked: no problems\n")
    assert "note: task.yaml:7:" in said.err
    assert "declarative_task" in said.err


def test_a_folder_stands_for_its_yaml_files(cli, project):
    project.write("tasks/one.yaml", NOTED)
    project.write("tasks/deep/two.yml", NOTED.replace("noted", "two"))
    project.write("tasks/readme.md", "not: yaml: at: all")
    said = cli("check", "tasks", "--config", "least=3")
    assert (said.code, said.out) == (0, "2 files checked: no problems\n")


def test_a_file_that_is_not_there_is_a_problem(cli):
    said = cli("check", "gone.yaml")
    assert said.code == 2
    assert "there is no file gone.yaml" in said.out


def test_a_wrong_config_value_is_found(cli, project):
    project.write("task.yaml", NOTED)
    assert cli("check", "task.yaml", "--config", "least=many").code == 2


def test_json_is_a_list_also_when_it_is_empty(cli, recorded):
    said = cli("check", "task.yaml", "--json")
    assert (said.code, said.json) == (0, [])
    recorded.write("task.yaml", (recorded.folder / "task.yaml").read_text().replace("ground_truth", "ground_truht"))
    said = cli("check", "task.yaml", "--json")
    assert said.code == 2
    assert said.json[0]["suggestion"] == "ground_truth"
    assert Path(said.json[0]["file"]).name == "task.yaml"


def test_ping_asks_once_and_says_how_it_went(cli, live, loopback):
    live(1)
    said = cli("check", "--ping", "stub")
    assert said.code == 0
    assert "stub: it answers in" in said.out
    assert loopback.stats()["served"] == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"api_key": "another"}, "STUB_KEY"),
        ({"fail_500": 1.0}, "try again later"),
        ({"fail_429": 1.0}, "rate limit or the quota"),
        ({"fail_500": 1.0, "error_text": "\x1b[31m"}, "try again later"),
    ],
)
def test_a_ping_that_fails_is_explained_with_exit_code_3(cli, live, loopback, settings, words):
    live(1)
    loopback.configure(**settings)
    said = cli("check", "--ping", "stub")
    assert (said.code, said.out) == (3, "")
    assert words in said.err
    assert "\x1b" not in said.err


def test_a_ping_as_json(cli, live, loopback):
    live(1)
    said = cli("check", "--ping", "stub", "--json")
    assert said.code == 0
    assert set(said.json) == {"model", "ok", "message", "latency_s"}
    assert (said.json["model"], said.json["ok"]) == ("stub", True)
    assert said.json["latency_s"] > 0
    both = cli("check", "task.yaml", "--ping", "stub", "--json").json
    assert (both["problems"], both["ping"]["ok"]) == ([], True)
    loopback.configure(fail_500=1.0)
    said = cli("check", "--ping", "stub", "--json")
    assert (said.code, said.json["ok"], said.json["latency_s"], said.err) == (3, False, None, "")
    both = cli("check", "gone.yaml", "--ping", "stub", "--json")
    assert (both.code, len(both.json["problems"]), both.json["ping"]) == (2, 1, None)


def test_a_wrong_file_weighs_more_than_a_model_that_answers(cli, live, loopback):
    live(1)
    assert cli("check", "gone.yaml", "--ping", "stub").code == 2


def test_a_folder_is_checked_file_by_file_each_as_what_it_is(cli, live):
    project = live(2)
    project.write("data.yaml", "key: d\ndisplay_name: D\nsource: {type: local, file_path: data.jsonl}\n")
    project.write("compose.yaml", "services: {web: {image: nginx}}\n")
    said = cli("check", ".")
    assert (said.code, said.out) == (0, "3 files checked: no problems\n")
    project.write("data.yaml", "key: d\ndisplay_name: D\nsource: {type: local, file_path: gone.jsonl}\n")
    project.write("model.yaml", (project.folder / "model.yaml").read_text().replace("display_name", "display_nam"))
    said = cli("check", ".")
    assert said.code == 2
    assert "gone.jsonl" in said.out
    assert 'did you mean "display_name"?' in said.out


def test_a_file_that_is_none_of_ours_is_a_problem_only_when_it_is_named(cli, project):
    project.write("compose.yaml", "services: {web: {image: nginx}}\n")
    assert "compose.yaml:1:1: " in cli("check", "compose.yaml").out
    project.write("task.yaml", NOTED)
    assert cli("check", ".").out == "1 file checked: no problems\n"


def test_a_folder_without_any_of_our_files_is_told(cli, project):
    project.write("empty/compose.yaml", "services: {web: {image: nginx}}\n")
    said = cli("check", "empty")
    assert (said.code, said.out) == (2, "no files of assay found in empty\n")
    assert cli("check", "empty", "--json").json[0]["message"] == "no files of assay found in empty"
    project.write("task.yaml", NOTED)
    assert cli("check", "task.yaml", "empty").code == 2, "each folder for itself"


def test_an_unset_variable_in_a_model_file_is_noted(cli, project):
    project.write("model.yaml", "key: m\ndisplay_name: M\nconfig:\n  url: https://h/v1\n  api_key: $NOT_SET_ANYWHERE\n")
    said = cli("check", "model.yaml")
    assert (said.code, said.out) == (0, "1 file checked: no problems\n")
    assert "note: model.yaml:5:12: the environment variable NOT_SET_ANYWHERE is not set" in said.err


def test_what_demo_and_init_write_is_checked_without_a_problem(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path / "models"))
    cli("demo", "--folder", "demo")
    cli("init", "mine")
    said = cli("check", ".")
    assert said.code == 0, said.out


def test_a_rubric_is_checked_without_a_judge(cli, project):
    project.write("rubric.yaml", "- {name: short, requirement: It is short., weight: 5}\n")
    assert cli("check", "rubric.yaml").code == 0
    project.write("rubric.yaml", "- {name: short, requirement: It is short., wieght: 5}\n")
    said = cli("check", "rubric.yaml")
    assert said.code == 2
    assert 'unknown field "wieght"' in said.out
    assert "rubric.yaml:1:" in said.out


def test_a_missing_include_is_one_problem(cli, project):
    scorer = "{type: python, compute_scores_snippet: !include missing.py, metrics: []}"
    samples = "{source: {type: inline_samples, samples: [{a: 1}]}}"
    task = f"key: t\ndisplay_name: T\ndefinition: {{dataset: {samples}, scorers: [{scorer}]}}\n"
    project.write("task.yaml", task)
    said = cli("check", "task.yaml", "--json")
    assert len(said.json) == 1, said.json
    assert "missing.py" in said.json[0]["message"]


def test_a_misspelled_key_of_a_task_is_named_where_it_stands(project):
    text = "key: t\ndisplay_name: T\ndefintion: {scorers: []}\n"
    outcome = project.assay("check", str(project.write("t.yaml", text)))
    assert outcome.code == 2
    assert 't.yaml:3:1: unknown field "defintion"; did you mean "definition"?' in outcome.out + outcome.err


def test_running_a_data_file_says_where_data_goes(project):
    outcome = project.assay("run", str(project.write("d.csv", "question,answer\na,b\n")))
    assert outcome.code == 2
    assert "d.csv is data, not a task: name the task, and the data with --dataset" in outcome.err

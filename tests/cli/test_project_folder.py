"""Which project a command works on, and what it leaves behind when it fails."""

import copy
import shutil

import pytest

TASK = """
key: exact
display_name: Exact
definition:
  dataset: {key: words}
  solver: {type: pass_through_solver, trace_column: answer}
  scorers: [{type: string_equals, ground_truth: "{{ sample.word }}"}]
"""
DATASET = "key: words\ndisplay_name: Words\nsource: {type: local, file_path: words.csv}\n"


def laid_out(project):
    """A project without `.assay/` and without `.git`, as one that was just copied here."""
    shutil.rmtree(project.folder / ".assay")
    project.write("tasks/exact.yaml", TASK)
    project.write("datasets/words.yaml", DATASET)
    project.write("datasets/words.csv", "word,answer\nyes,yes\nno,yes\n")
    return project


@pytest.mark.sqlite
def test_a_folder_that_was_just_copied_is_a_project(project):
    laid_out(project)
    assert project.assay("check", ".").code == 0
    assert project.assay("list").code == 0
    assert not (project.folder / ".assay").exists()
    shown = project.assay("run", "tasks/exact.yaml", "--json")
    assert shown.code == 0, shown.err
    assert (project.folder / ".assay" / "assay.db").is_file()
    assert not (project.folder / "tasks" / ".assay").exists()


@pytest.mark.sqlite
def test_without_an_argument_the_project_around_the_folder_is_checked_and_listed(project, monkeypatch):
    laid_out(project)
    inner = copy.copy(project)
    inner.folder = project.folder / "tasks"
    assert inner.assay("check").out == "2 files checked: no problems\n"
    keys = [each["key"] for each in inner.assay("list", "--json").json["found"]]
    assert keys == ["exact", "words"]
    assert [each["key"] for each in project.assay("list", "datasets", "--json").json["found"]] == keys


def test_a_failed_command_leaves_no_assay_folder(project):
    laid_out(project)
    project.write(
        "tasks/live.yaml",
        TASK.replace("key: exact", "key: live").replace(
            "{type: pass_through_solver, trace_column: answer}",
            "{type: multi_turn_solver, message_builders: [{type: generate}]}",
        ),
    )
    project.write("broken.yaml", TASK.replace("word }}", "wrod }}"))
    project.write("replies.jsonl", [{"error": "no"}])
    for command in (
        ("run", "broken.yaml"),
        ("run", "tasks/live.yaml"),
        ("run", "tasks/live.yaml", "--model", "openai/gpt-5-mini"),
        ("check", "broken.yaml"),
        ("plan", "broken.yaml"),
        ("runs",),
        ("show", "last"),
        ("import", "nothing.json"),
        ("run", "tasks/exact.yaml", "--dataset", "nowhere.csv"),
    ):
        shown = project.assay(*command, OPENAI_API_KEY="")
        assert shown.code in (2, 3), (command, shown)
        assert not (project.folder / ".assay").exists(), command

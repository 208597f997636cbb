from __future__ import annotations

from pathlib import Path


def test_a_new_project_runs_as_it_is(cli, project):
    said = cli("init", "mine")
    assert said.code == 0
    assert "cd mine" in said.out
    folder = project.folder / "mine"
    assert {path.name for path in folder.iterdir()} == {"task.yaml", "questions.csv", ".assay"}
    assert cli("check", "mine/task.yaml").code == 0
    result = cli("run", "mine/task.yaml", "--json")
    assert result.code == 0
    assert result.json["n_samples"] == 8


def test_here_needs_no_cd(cli, project):
    said = cli("init")
    assert said.code == 0
    assert "cd " not in said.out
    assert (project.folder / "task.yaml").is_file()


def test_nothing_is_ever_overwritten(cli, project):
    project.write("mine/questions.csv", "my own data\n")
    said = cli("init", "mine")
    assert said.code == 2
    assert "already has questions.csv" in said.err
    assert (project.folder / "mine" / "questions.csv").read_text() == "my own data\n"
    assert not (project.folder / "mine" / "task.yaml").exists()


def test_a_place_that_cannot_be_written_is_told(cli, project):
    project.write("file", "in the way")
    said = cli("init", "file/mine")
    assert said.code == 2
    assert str(Path("file/mine")) in said.err

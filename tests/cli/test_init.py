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


def test_the_starter_with_a_judge_runs_and_holds_it_against_people(cli, project):
    assert cli("init", "mine", "--starter", "judge").code == 0
    result = cli("run", "mine/task.yaml", "--json")
    assert result.code == 0
    mean, against = result.json["scorers"][0]["metrics"]
    assert mean["values"]["Share judged correct"]["value"] == 0.5
    assert against["detail"]["confusion"] == {"tp": 4, "fp": 0, "tn": 3, "fn": 1}


def test_the_starter_with_a_panel_runs_and_its_judges_can_be_compared(cli, project):
    said = cli("init", "mine", "--starter", "rubric")
    assert "assay agreement" in said.out
    result = cli("run", "mine/task.yaml", "--json")
    assert result.code == 0
    assert result.json["n_failed"] == 0
    assert result.json["scorers"][0]["n_scored"] == 4


def test_every_starter_passes_its_own_check(cli, project):
    from assay.cli.init import STARTERS

    for starter in STARTERS:
        cli("init", starter, "--starter", starter)
        assert cli("check", f"{starter}/task.yaml").code == 0

from __future__ import annotations

from pathlib import Path

import pytest

from assay.spec.project import project_folder, yaml_files


def test_the_nearest_assay_folder_beats_a_nearer_git_folder(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "tasks"
    inner.mkdir(parents=True)
    assert project_folder(inner / "t.yaml") == inner
    (tmp_path / "repo" / ".git").write_text("gitdir: elsewhere")
    assert project_folder(inner / "t.yaml") == tmp_path / "repo"
    (tmp_path / ".assay").mkdir()
    assert project_folder(inner / "t.yaml") == tmp_path
    (inner / ".assay").mkdir()
    assert project_folder(inner / "t.yaml") == inner


def test_assay_toml_marks_a_project_like_the_assay_folder(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "tasks"
    inner.mkdir(parents=True)
    (tmp_path / "a" / ".git").mkdir()
    (tmp_path / "assay.toml").write_text("")
    assert project_folder(inner / "t.yaml") == tmp_path


@pytest.mark.parametrize(
    "marks", [["run.yaml"], ["run.yml"], ["tasks/", "models/"], ["model_adapters/", "evaluations/"]]
)
def test_a_folder_laid_out_like_a_project_is_one(tmp_path: Path, marks: list[str]) -> None:
    inner = tmp_path / "p" / "tasks" / "deep"
    inner.mkdir(parents=True)
    for mark in marks:
        if mark.endswith("/"):
            (tmp_path / "p" / mark).mkdir(exist_ok=True)
        else:
            (tmp_path / "p" / mark).write_text("")
    assert project_folder(inner / "t.yaml") == tmp_path / "p"
    assert project_folder(inner) == tmp_path / "p"
    assert project_folder(tmp_path / "p") == tmp_path / "p"


def test_one_folder_of_the_layout_is_not_enough(tmp_path: Path) -> None:
    (tmp_path / "p" / "tasks").mkdir(parents=True)
    assert project_folder(tmp_path / "p" / "tasks" / "t.yaml") == tmp_path / "p" / "tasks"


def test_the_nearest_layout_wins_and_none_above_the_repository_counts(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "one" / "tasks"
    inner.mkdir(parents=True)
    (tmp_path / "run.yaml").write_text("")
    (tmp_path / "repo" / ".git").mkdir()
    assert project_folder(inner / "t.yaml") == tmp_path / "repo"
    (tmp_path / "repo" / "run.yml").write_text("")
    (tmp_path / "repo" / "one" / "models").mkdir()
    assert project_folder(inner / "t.yaml") == tmp_path / "repo" / "one"


def test_a_layout_is_looked_for_four_levels_up(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("")
    near, far = tmp_path / "1" / "2" / "3" / "4", tmp_path / "1" / "2" / "3" / "4" / "5"
    far.mkdir(parents=True)
    assert project_folder(near / "t.yaml") == tmp_path
    assert project_folder(far / "t.yaml") == far


def test_look_up_skips_dot_folders_node_modules_and_virtual_environments(tmp_path: Path) -> None:
    for name in (
        "b.yaml",
        "a/c.yml",
        ".hidden/x.yaml",
        "node_modules/x.yaml",
        "env/lib/x.yaml",
        "venv/x.yaml",
        "t.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    assert [str(path.relative_to(tmp_path)) for path in yaml_files(tmp_path)] == ["b.yaml", "a/c.yml"]

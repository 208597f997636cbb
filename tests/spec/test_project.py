from __future__ import annotations

from pathlib import Path

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

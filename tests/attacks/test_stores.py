"""Stores as files: odd paths, private modes, read-only folders, and damage, which is a message and exit code 3."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from contextlib import closing

import pytest

from assay.cli.main import main
from assay.store.store import OPENED

TASK = """
key: quiz
display_name: Quiz
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: trace}
  scorers: [{type: string_equals, ground_truth: "{{ sample.answer }}"}]
"""
READING = [
    ("runs",),
    ("runs", "--json"),
    ("show", "latest"),
    ("show", "latest", "--json"),
    ("samples", "latest"),
    ("samples", "latest", "--json"),
    ("export", "latest", "--to", "out.csv", "--force"),
    ("export", "latest", "--to", "out.jsonl", "--force"),
    ("compare", "latest", "latest"),
    ("gate", "latest", "--require", "accuracy >= 0.1"),
    ("store", "info"),
]


def fill(project):
    said = [{"type": "message", "role": "assistant", "content": "A"}]
    project.write("data.jsonl", [{"trace": said, "answer": "AB"[i % 2], "text": "x" * 500} for i in range(60)])
    project.write("task.yaml", TASK)
    outcome = project.assay("run", "task.yaml")
    assert outcome.code == 0, outcome.err
    return project


@pytest.fixture(scope="module")
def filled(new_project):
    return fill(new_project())


@pytest.mark.parametrize("name", ["what?now", "with%20pct", "a#b", "with space", "ä&=;", "file:x?mode=memory"])
def test_a_project_folder_keeps_its_store_inside_whatever_its_name(tmp_path, new_project, name):
    project = type(new_project())(tmp_path / name)
    fill(project)
    assert (project.folder / ".assay" / "assay.db").is_file()
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    for command in READING:
        assert project.assay(*command).code == 0, command


@pytest.mark.parametrize("location", ["x" * 300, "x" * 5_000, "sub/" * 200 + "x" * 300])
@pytest.mark.parametrize("command", [("runs",), ("show", "latest"), ("run", "task.yaml"), ("plan", "task.yaml")])
def test_a_path_that_is_too_long_is_told(filled, command, location):
    outcome = filled.assay(*command, "--store", location)
    assert outcome.code == 2
    assert "the path of the store is too long" in outcome.err
    assert len(outcome.err) < 1_000


def test_everything_a_run_writes_is_for_its_owner_alone(project):
    shutil.rmtree(project.folder / ".assay")
    project.write("assay.toml", "")
    fill(project)
    connection = sqlite3.connect(project.folder / ".assay" / "assay.db")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("UPDATE runs SET owner = NULL")
    connection.commit()
    with closing(connection):
        written = [path for path in (project.folder / ".assay").rglob("*") if path.name != ".gitignore"]
        assert {"assay.db", "assay.db-wal", "assay.db-shm"} <= {path.name for path in written}
        for path in (project.folder / ".assay", *written):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_store_on_a_read_only_mount_can_be_read(filled, read_only, tmp_path):
    place = read_only(filled.folder / ".assay")
    for command in READING[:-1]:
        outcome = filled.assay(*command, "--store", str(place / "assay.db"))
        assert outcome.code == 0, (command, outcome.err)


def truncated(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def cut_to_one_page(path):
    path.write_bytes(path.read_bytes()[:4096])


def overwritten(start, stop):
    def damage(path):
        content = bytearray(path.read_bytes())
        begin, end = int(len(content) * start), int(len(content) * stop)
        content[begin:end] = b"\xa5" * (end - begin)
        path.write_bytes(content)

    return damage


def changed(*statements):
    def damage(path):
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    return damage


DAMAGE = {
    "half the file": truncated,
    "one page": cut_to_one_page,
    "header": overwritten(0, 0.001),
    "front": overwritten(0.05, 0.2),
    "middle": overwritten(0.4, 0.6),
    "end": overwritten(0.8, 1),
    "all but the header": overwritten(0.02, 1),
    **{
        f"without {table}": changed(f"DROP TABLE {table}")
        for table in ("runs", "samples", "scores", "failures", "votes", "metrics", "calls", "labels", "unsettled")
    },
    "without a column": changed("ALTER TABLE samples DROP COLUMN trace"),
    **{
        f"{column} is {value}": changed(f"UPDATE {table} SET \"{column}\" = '{value}'")
        for table, column in (
            ("runs", "spec"),
            ("runs", "summary"),
            ("runs", "tags"),
            ("runs", "started_at"),
            ("runs", "status"),
            ("samples", "input"),
            ("samples", "trace"),
            ("scores", "values"),
            ("scores", "metadata"),
            ("metrics", "document"),
        )
        for value in ("{", "[]", "{}", "7")
    },
}


@pytest.fixture
def here(filled, tmp_path, monkeypatch, capsys):
    """Run commands in this process: there are many of them."""
    monkeypatch.chdir(filled.folder)

    def command_line(*arguments):
        monkeypatch.setattr("sys.argv", ["assay", *arguments])
        OPENED.clear()
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, capsys.readouterr().err

    return command_line


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_store_is_a_message_and_exit_code_3(filled, tmp_path, here, damage):
    store = tmp_path / "damaged.db"
    shutil.copy(filled.folder / ".assay" / "assay.db", store)
    damage(store)
    for command in READING:
        code, told = here(*command, "--store", str(store))
        # what a command does not read cannot fail it; a run without scorers has nothing to compare
        assert code in (0, 3) or "no metric of the same name" in told, (command, code, told)
        assert "Traceback" not in told
        assert "crashed" not in told, (command, told)
        assert code == 0 or told.strip(), command


def test_damage_is_named(filled, tmp_path):
    store = tmp_path / "damaged.db"
    shutil.copy(filled.folder / ".assay" / "assay.db", store)
    changed("UPDATE samples SET input = '{'")(store)
    outcome = filled.assay("samples", "latest", "--store", str(store))
    assert outcome.code == 3
    assert "samples.input is not a JSON object in 60 of its rows" in outcome.err
    assert json.loads(filled.assay("runs", "--store", str(store), "--json").out)

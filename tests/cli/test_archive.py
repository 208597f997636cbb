"""Run archives: one file that restores a run exactly, and that `compare` and `gate` read as it is."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest
from sqlalchemy import select

from assay.interop.archive import StoredContent, content_digest
from assay.store import schema
from assay.store.runs import find
from assay.store.store import open_for_reading, open_store

VOTES = "item,judge,criterion,label\n1,a,clear,MET\n1,b,clear,UNMET\n2,a,clear,MET\n2,b,clear,MET\n"


def store_of(folder, name="assay.db"):
    return str(folder / ".assay" / name)


@pytest.fixture
def run(cli, recorded):
    """A project with a run that has scores, a failure and labels, and one that has votes."""
    recorded.write(
        "data.jsonl",
        [
            {"answer": "yes", "output": "yes"},
            {"answer": "no", "output": "=yes"},
            {"answer": "maybe", "output": "maybe"},
            {"answer": "no"},
        ],
    )
    cli("run", "task.yaml", "--max-failures", "1", "--name", "v1")
    recorded.write("votes.csv", VOTES)
    cli("import", "votes.csv", "--name", "panel")
    opened = open_store(store_of(recorded.folder))
    with opened.begin() as connection:
        run_id = connection.execute(select(schema.runs.c.id).where(schema.runs.c.name == "v1")).scalar_one()
        label = {"target": "string_equals/is_correct", "annotator": "ann", "label": "yes", "trial": 0}
        facts = {"run": run_id, "sample_id": "0", "probability": 0.5, "created_at": "2026-01-01T00:00:00.000+00:00"}
        connection.execute(schema.labels.insert().values(content=b"\x00\xff", **label, **facts))
    opened.close()
    return cli


def labels_in(location):
    opened = open_for_reading(location)
    with opened.connect() as connection:
        rows = [tuple(row) for row in connection.execute(select(schema.labels))]
    opened.close()
    return rows


def exported(cli, folder, run, store, name):
    assert cli("export", run, "--to", f"{name}.jsonl", "--store", store).code == 0
    return hashlib.sha256((folder / f"{name}.jsonl").read_bytes()).hexdigest()


def without_ids_and_times(path):
    """The digest of everything in an archive but ids and times."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    row = json.loads(parts.pop("run.json"))
    parts["run.json"] = json.dumps({k: v for k, v in row.items() if k not in ("id", "started_at", "finished_at")})
    return hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()


@pytest.mark.parametrize("name", ["v1", "panel"])
def test_an_archive_restores_a_run_exactly(run, recorded, name):
    here, there = store_of(recorded.folder), store_of(recorded.folder, "other.db")
    said = run("export", name, "--to", "run.assay")
    assert said.code == 0, said.err
    restored = run("import", "run.assay", "--store", there, "--json")
    assert restored.code == 0, restored.err
    assert run("show", name, "--json", "--store", there).out == run("show", name, "--json", "--store", here).out
    assert exported(run, recorded.folder, name, here, "a") == exported(run, recorded.folder, name, there, "b")
    assert run("export", name, "--to", "again.assay", "--store", there).code == 0
    assert (recorded.folder / "run.assay").read_bytes() == (recorded.folder / "again.assay").read_bytes()
    if name == "v1":
        assert labels_in(there) == labels_in(here) != []


def test_a_run_and_its_archive_do_not_differ_at_all(run):
    run("export", "v1", "--to", "run.assay")
    compared = run("compare", "v1", "run.assay", "--json")
    assert compared.code == 0, compared.err
    differences = [row["difference"] for row in compared.json["comparisons"]]
    assert [(d["value"], d["n"]) for d in differences] == [(0.0, 3)]
    assert "0 of 3 samples changed" in compared.out
    assert run("compare", "run.assay", "v1", "run.assay").code == 0


def test_a_gate_reads_its_baseline_from_an_archive(run, recorded):
    run("export", "v1", "--to", "baseline.assay")
    worse = [{"answer": "yes", "output": "no"}, {"answer": "no", "output": "=yes"}, {"answer": "maybe", "output": "x"}]
    recorded.write("data.jsonl", worse)
    run("run", "task.yaml", "--store", "fresh.db")
    said = run("gate", "latest", "--baseline", "baseline.assay", "--store", "fresh.db", "--failures", "ignore")
    assert said.code == 1, said.err
    assert "string_equals" in said.out
    assert run("runs", "--json", "--store", "fresh.db").out.count('"task"') == 1, "nothing was imported"


def test_archives_alone_need_no_store(run, recorded, monkeypatch):
    run("export", "v1", "--to", "run.assay")
    elsewhere = recorded.folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "run.assay").write_bytes((recorded.folder / "run.assay").read_bytes())
    monkeypatch.chdir(elsewhere)
    assert run("compare", "run.assay", "run.assay").code == 0
    assert "string_equals" in run("show", "run.assay").out
    assert sorted(path.name for path in elsewhere.iterdir()) == ["run.assay"]


def test_the_latest_run_is_never_that_of_an_archive(run):
    run("export", "v1", "--to", "run.assay")
    assert "panel" in run("compare", "run.assay", "latest").err + run("show", "latest").out


def test_an_archive_that_is_there_already_is_the_same_run(run):
    run("export", "v1", "--to", "run.assay")
    before = run("runs", "--json").out
    said = run("import", "run.assay")
    assert said.code == 0
    assert "already" in said.err
    assert run("runs", "--json").out == before


def test_another_run_under_the_same_id_gets_a_new_one(run, recorded):
    run("export", "v1", "--to", "run.assay")
    opened = open_store(store_of(recorded.folder))
    record = find(opened, "v1")
    with opened.begin() as connection:
        connection.execute(
            schema.scores.update().where(schema.scores.c.id > 0).values({"values": '{"is_correct":0.0}'})
        )
    opened.close()
    said = run("import", "run.assay", "--json")
    assert said.code == 0, said.err
    assert said.json["run"] != record.id
    assert f"run {record.id} of the archive is run {said.json['run']} here" in said.err
    again = run("import", "run.assay", "--json")
    assert again.json["run"] == said.json["run"], "the same archive again is the same run"
    opened = open_for_reading(store_of(recorded.folder))
    digests = {content_digest(StoredContent(opened, find(opened, name))) for name in (record.id, said.json["run"])}
    opened.close()
    assert len(digests) == 2


def rewritten(path, target, **changes):
    """A copy of an archive with some members replaced, added, or left out."""
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        members = {name: source.read(name) for name in source.namelist()} | changes
        for name, content in members.items():
            if content is not None:
                out.writestr(name, content)
    return target.name


def manifest(path, **changes):
    with zipfile.ZipFile(path) as archive:
        return json.dumps(json.loads(archive.read("manifest.json")) | changes)


DAMAGE = {
    "a path that leads elsewhere": ({"../../evil.txt": b"x"}, "not a run archive"),
    "no run": ({"run.json": None}, "not a run archive"),
    "a run that is no object": ({"run.json": b"[]"}, "run.json must be a JSON object"),
    "a run without an id": ({"run.json": b'{"status": "completed"}'}, "does not describe a finished run"),
    "a row that is no JSON": ({"samples.jsonl": b"{nope\n"}, "samples.jsonl, line 1"),
    "a slot that no scorer has": ({"scores.jsonl": b'{"position":0,"slot":9,"values":"{}"}\n'}, "slot 9"),
    "a value that is no JSON": ({"scores.jsonl": b'{"position":0,"slot":1,"values":"x"}\n'}, "values cannot be read"),
    "rows that are missing": ({"samples.jsonl": b""}, "has 0 rows, 4 were written"),
    "an unknown member": ({"more.jsonl": b""}, "not a run archive"),
    "metrics of the wrong form": (
        {"metrics.jsonl": b'{"place":0,"scorer":"s","metric":"m","type":"t","document":"[]"}\n'},
        "does not describe",
    ),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_archive_is_refused_and_leaves_no_trace(run, recorded, what):
    changes, message = DAMAGE[what]
    run("export", "v1", "--to", "run.assay")
    name = rewritten(recorded.folder / "run.assay", recorded.folder / "bad.assay", **changes)
    before = run("runs", "--json", "--store", "there.db").out
    said = run("import", name, "--store", "there.db")
    assert (said.code, message in said.err) == (2, True), said.err
    assert run("compare", "v1", name).code == 2
    assert '"task"' not in run("runs", "--json", "--store", "there.db").out + before
    assert not (recorded.folder.parent.parent / "evil.txt").exists()


def test_a_truncated_archive_is_refused(run, recorded):
    run("export", "v1", "--to", "run.assay")
    whole = (recorded.folder / "run.assay").read_bytes()
    (recorded.folder / "cut.assay").write_bytes(whole[: len(whole) // 2])
    said = run("gate", "v1", "--baseline", "cut.assay")
    assert said.code == 2
    assert "cut.assay cannot be read: it is damaged or not a run archive" in said.err
    (recorded.folder / "flipped.assay").write_bytes(whole[:200] + bytes([whole[200] ^ 0xFF]) + whole[201:])
    assert run("import", "flipped.assay", "--store", "there.db").code == 2
    assert 'no archive "none.assay"' in run("show", "none.assay").err


def test_an_archive_that_unpacks_to_too_much_is_refused(run, recorded, monkeypatch):
    run("export", "v1", "--to", "run.assay")
    monkeypatch.setattr("assay.interop.archive.SMALL", 1 << 20)
    name = rewritten(
        recorded.folder / "run.assay", recorded.folder / "bomb.assay", **{"labels.jsonl": b" " * (8 << 20)}
    )
    said = run("import", name)
    assert said.code == 2
    assert "would unpack to 8," in said.err


def test_an_archive_of_a_newer_assay_says_so(run, recorded):
    run("export", "v1", "--to", "run.assay")
    path = recorded.folder / "run.assay"
    name = rewritten(path, recorded.folder / "new.assay", **{"manifest.json": manifest(path, version=2)})
    assert "written by a newer assay" in run("import", name).err


def test_replies_are_for_archives(run):
    assert "--replies is for run archives" in run("export", "--to", "out.csv", "--replies").err


def test_ids_and_times_aside_two_exports_are_equal(run, recorded):
    run("export", "v1", "--to", "run.assay")
    run("import", "run.assay", "--store", "there.db", "--name", "v1")
    run("export", "v1", "--to", "again.assay", "--store", "there.db")
    assert without_ids_and_times(recorded.folder / "run.assay") == without_ids_and_times(
        recorded.folder / "again.assay"
    )

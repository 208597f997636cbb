from __future__ import annotations

import csv
import json
import sys

import pytest


@pytest.fixture
def run(cli, recorded):
    recorded.write(
        "data.jsonl",
        [
            {"answer": "yes", "output": "yes", "n": 1, "ok": True, "list": [1], "mixed": 1, "share": 1},
            {"answer": "=1+1", "output": "=1+1", "n": 2, "ok": False, "list": [], "mixed": "x", "share": 0.5},
            {"answer": "-2", "output": "@SUM(A1)", "n": -3, "ok": True, "list": None, "mixed": None, "share": 2},
            {"answer": "no"},
        ],
    )
    cli("run", "task.yaml", "--max-failures", "1")
    return cli


def test_jsonl_is_what_samples_prints(run, recorded):
    said = run("export", "--to", "out.jsonl")
    assert (said.code, said.out) == (0, "wrote 4 samples to out.jsonl\n")
    written = (recorded.folder / "out.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in written] == run("samples", "--json").lines


def test_the_provenance_goes_with_every_table(run, recorded):
    parquet = pytest.importorskip("pyarrow.parquet")
    expected = run("show", "--json").json
    for name in ("out.jsonl", "out.csv"):
        assert run("export", "--to", name).code == 0
        beside = json.loads((recorded.folder / f"{name}.provenance.json").read_text())
        assert beside == {"run": expected["run"], **expected["provenance"]}
    assert run("export", "--to", "out.parquet").code == 0
    metadata = parquet.read_schema(recorded.folder / "out.parquet").metadata
    assert json.loads(metadata[b"assay.provenance"]) == {"run": expected["run"], **expected["provenance"]}
    assert not (recorded.folder / "out.parquet.provenance.json").exists()


def test_csv_cells_that_look_like_formulas_are_harmless(run, recorded):
    assert run("export", "latest", "--to", "out.CSV").code == 0
    with (recorded.folder / "out.CSV").open(newline="") as written:
        rows = list(csv.DictReader(written))
    assert [row["sample.answer"] for row in rows] == ["yes", "'=1+1", "'-2", "no"]
    assert rows[2]["output"] == "'@SUM(A1)"
    assert rows[2]["sample.n"] == "-3", "a number is no formula"
    assert rows[0]["sample.list"] == "[1]"
    assert rows[0]["string_equals.is_correct"] == "1.0"
    assert rows[3]["failures"].startswith("missing_field: ")


def test_parquet_has_a_type_a_column(run, recorded):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert run("export", "--to", "out.parquet").code == 0
    table = parquet.read_table(recorded.folder / "out.parquet")
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["sample.n"], types["sample.ok"], types["sample.share"]) == ("int64", "bool", "double")
    assert (types["sample.mixed"], types["output"]) == ("string", "string")
    rows = table.to_pylist()
    assert [row["sample.mixed"] for row in rows] == ["1", "x", None, None]
    assert [row["string_equals.is_correct"] for row in rows] == [1.0, 1.0, 0.0, None]


def test_many_rows_are_written_in_parts(run, recorded, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("assay.interop.export.PARQUET_ROWS", 3)
    run("export", "--to", "out.parquet")
    assert parquet.ParquetFile(recorded.folder / "out.parquet").metadata.num_rows == 4


def test_without_pyarrow_the_message_holds_the_command(run, recorded, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = run("export", "--to", "out.parquet")
    assert said.code == 2
    assert "pip install 'assay[parquet]'" in said.err
    assert not list(recorded.folder.glob("*out.parquet*"))


@pytest.mark.parametrize("name", ["out.xlsx", "out"])
def test_an_ending_that_says_no_format_is_refused(run, name):
    said = run("export", "--to", name)
    assert said.code == 2
    assert ".jsonl or .csv or .parquet or .assay" in said.err


def test_a_folder_that_cannot_be_written_is_told(run):
    said = run("export", "--to", "no/such/folder/out.csv")
    assert said.code == 2
    assert "cannot write to no/such/folder" in said.err


def test_a_file_that_is_there_is_replaced_only_by_force(run, recorded):
    old = recorded.write("out.csv", "old")
    said = run("export", "--to", "out.csv")
    assert (said.code, said.out) == (2, "")
    assert "out.csv already exists: --force replaces it" in said.err
    assert old.read_text() == "old"
    assert run("export", "--to", "out.csv", "--force").code == 0
    assert old.read_text().startswith("sample_id,")


def test_an_error_leaves_the_old_file_and_nothing_else(run, recorded, monkeypatch):
    old = recorded.write("out.csv", "old")
    before = sorted(path.name for path in recorded.folder.iterdir())

    def fail(*arguments, **extra):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("assay.interop.export.flat_rows", fail)
    with pytest.raises(RuntimeError):
        from assay.interop.export import ExportOptions, export
        from assay.store.runs import find
        from assay.store.store import open_store

        store = open_store(str(recorded.folder / ".assay" / "assay.db"))
        try:
            export(store, find(store, "latest"), old, ExportOptions(force=True))
        finally:
            store.close()
    assert old.read_text() == "old"
    assert sorted(path.name for path in recorded.folder.iterdir()) == before

"""Stores written at schema 0003 by every command that writes: they migrate, read as before, and ask nothing again.

How the stores came about, and why a call would be noticed, is in fixtures/0003/README.md.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "fixtures" / "0003"
STORES = sorted(path.name.removesuffix(".db.gz") for path in (HERE / "stores").iterdir())

AGAIN_MAY_DIFFER = {"run", "runs", "store", "cost_usd", "spending", "usage", "latency_s", "file", "stale", "cached"}
"""A run that is made again has another id, and what was paid for before costs nothing now."""
# identities changed with the form of the spec, so runs are made again from stored replies instead of shown again
AGAIN_MAY_DIFFER |= {"n_cached"}
# the sampling of a model is part of what decides a generated dataset
AGAIN_MAY_DIFFER |= {"digest"}


INTERVAL = {"low", "high", "method", "caveat", "n_effective", "clusters", "words", "reason", "n_to_decide", "level"}
# values of version 0.1 had no standard error
INTERVAL |= {"standard_error"}
"""Intervals are computed by the methods of today wherever numbers are computed again; `show` has the stored ones."""
STORED = ("show", "runs", "samples")


def _unpacked(path: Path):
    return json.loads(gzip.decompress(path.read_bytes()))


def _models_class():
    spec = importlib.util.spec_from_file_location("old_stores_server", HERE / "server.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Models


MODELS = _models_class()
COMMANDS = _unpacked(HERE / "commands.json.gz")["stores"]


class OldStore:
    """A copy of a store and of the project it was written in, and the command line in this process."""

    def __init__(self, name, folder, monkeypatch, capfd):
        self.project = folder / "deeper" / "project"
        shutil.copytree(HERE / "project", self.project)
        (self.project / ".assay").mkdir()
        self.path = folder / f"{name}.db"
        self.path.write_bytes(gzip.decompress((HERE / "stores" / f"{name}.db.gz").read_bytes()))
        self._monkeypatch, self._capfd = monkeypatch, capfd
        monkeypatch.chdir(self.project)
        monkeypatch.setattr(sys, "path", [*sys.path])
        for variable in ("ASSAY_STORE", "ASSAY_PLUGINS", "ASSAY_ALLOW_CODE", "http_proxy", "https_proxy", "no_proxy"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("NO_PROXY", "")

    def assay(self, *arguments, **environment):
        from assay.cli.main import main

        for variable, value in environment.items():
            self._monkeypatch.setenv(variable, value)
        self._monkeypatch.setattr(sys, "argv", ["assay", *arguments, "--store", str(self.path)])
        self._capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        sys.stdout.flush()
        shown = self._capfd.readouterr()
        return left.value.code or 0, shown.out, shown.err

    def calls(self):
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute("SELECT count(*) FROM calls").fetchone()[0]


@pytest.fixture
def old_store(tmp_path, monkeypatch, capfd):
    return lambda name: OldStore(name, tmp_path, monkeypatch, capfd)


def _document(command, text):
    """The JSON that a command printed: one document, or one per line."""
    if command in ("runs", "samples"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text) if text.strip() else None


def _differences(now, before, ignored, where=""):
    if isinstance(now, dict) and isinstance(before, dict):
        # entries that are new since then are no difference
        names = [name for name in before if name not in ignored]
        return [
            line
            for name in names
            for line in _differences(now.get(name, "-"), before[name], ignored, f"{where}/{name}")
        ]
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        pairs = enumerate(zip(now, before, strict=True))
        return [line for i, (a, b) in pairs for line in _differences(a, b, ignored, f"{where}/{i}")]
    if isinstance(now, float) and isinstance(before, float | int) and abs(now - before) < 1e-12:
        return []
    return [] if now == before else [f"{where}: {str(now)[:90]} was {str(before)[:90]}"]


def _is_expected(line, store):
    """Differences that are improvements: wording, a renamed field, and intervals that graded runs lacked before."""
    if "votes are missing" in line or "votes could not be had" in line or "/warnings/" in line:
        return True
    # "is what occurs in the votes" became "is taken from the votes"
    if line.startswith("/notes/") and "is taken from the votes" in line:
        return True
    if "/reversed_order:" in line or "/backwards:" in line:
        return True
    # one of the eight samples failed: a gate of 0.1 passed over it
    if store == "run" and line == "/checks/2/passed: False was True":
        return True
    # a rubric scorer whose file names no metrics has a mean of each criterion, too
    if store == "whole" and line.startswith("/scorers/0/metrics: "):
        return True
    # pass@k is the unbiased value now
    if store == "rescore" and ("/comparisons/" in line or "/scorers/" in line):
        return True
    graded = ("grade", "looks", "audit", "import", "outage")
    # two graded runs whose panels differ are noted as such, too
    return store in graded and line.startswith(("/comparisons/", "/notes: ['rubric is not the same scorer"))


@pytest.mark.parametrize("name", STORES)
def test_an_old_store_is_migrated_with_a_backup_and_reads_as_before(old_store, name):
    store = old_store(name)
    before = store.path.read_bytes()
    code, _, err = store.assay("runs")
    assert code == 3, "a reading command leaves an older store alone"
    assert "assay store migrate" in err
    assert store.path.read_bytes() == before

    code, out, err = store.assay("store", "migrate")
    assert code == 0, err
    (backup,) = [path for path in store.path.parent.iterdir() if "backup" in path.name]
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0003",)

    wrong = []
    for entry in _unpacked(HERE / "expected" / f"{name}.json.gz"):
        code, out, err = store.assay(*entry["argv"])
        lines = [] if code == entry["exit"] else [f"exit {code} was {entry['exit']}: {err[:300]}"]
        ignored = {"file"} if entry["argv"][0] in STORED else {"file", *INTERVAL}
        lines += _differences(_document(entry["argv"][0], out), entry["json"], ignored)
        wrong += [f"{' '.join(entry['argv'])}: {line}" for line in lines if not _is_expected(line, name)]
    assert wrong == []


@pytest.mark.parametrize("name", [name for name in STORES if name != "outage"])
def test_everything_that_an_old_store_was_written_by_runs_again_without_a_call(old_store, name):
    store = old_store(name)
    wrong = []
    for entry in COMMANDS[name]["again"]:
        paid = store.calls()
        with MODELS(refuse=True) as models:
            code, out, err = store.assay(*entry["argv"], **models.env)
        lines = [] if code == entry["exit"] else [f"exit {code} was {entry['exit']}: {err[:300]}"]
        lines += [f"asked {len(models.asked)} times"] if models.asked else []
        lines += [f"{store.calls() - paid} new calls"] if store.calls() != paid else []
        lines += _differences(_document(entry["argv"][0], out), entry["json"], AGAIN_MAY_DIFFER | INTERVAL)
        wrong += [f"{' '.join(entry['argv'])}: {line}" for line in lines if not _is_expected(line, name)]
    assert wrong == []


def test_what_an_outage_lost_is_asked_for_again_and_nothing_else(old_store):
    store = old_store("outage")
    for entry in COMMANDS["outage"]["again"]:
        with MODELS() as models:
            store.assay(*entry["argv"], **models.env)
        assert len(models.asked) == entry["calls"], entry["argv"]


def test_a_call_that_is_not_in_the_store_would_be_noticed(old_store):
    store = old_store("run")
    with MODELS(refuse=True) as models:
        store.assay("run", "live.yaml", "--model", "other", "--json", "--fresh", **models.env)
    assert models.asked

"""kill -9 in the middle of a panel: the same result, and only what was not committed is asked again."""

from __future__ import annotations

import json
import signal
import sqlite3
import time

import pytest

ITEMS, JUDGES, CRITERIA = 200, 3, 4
IN_FLIGHT = 20

TASK = """
key: graded
display_name: Graded
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - type: rubric
      seed: 5
      rubric:
        - {name: polite, requirement: Is polite.}
        - {name: rude, requirement: Is rude., weight: -5}
        - {name: length, requirement: How long is it?, options: [{label: short, value: 0}, {label: long, value: 1}]}
        - name: kind
          requirement: What is it?
          scale_type: nominal
          options: [{label: a tale, value: 0.2}, {label: a poem, value: 0.9}, {label: a list, value: 0.5}]
      judges: [{model_key: judge0}, {model_key: judge1}, {model_key: judge2}]
"""
ARGUMENTS = ("run", "task.yaml", "--json", "--max-concurrency", str(IN_FLIGHT), "--max-failures", "1")


@pytest.fixture
def panel(project, loopback):
    loopback.configure(body="auto", vary=True, latency_ms=20, track_bodies=False, keep_requests=0)
    for number in range(JUDGES):
        config = {"url": f"{loopback.url}/chat/completions", "api_key": "sk-1", "model_key": f"m{number}"}
        model = {"key": f"judge{number}", "display_name": "J", "config": config, "sampling": {"temperature": 0}}
        project.write(f"judge{number}.yaml", json.dumps(model))
    project.write("data.jsonl", [{"reply": f"Text number {number}."} for number in range(ITEMS)])
    project.write("task.yaml", TASK)
    return project


def _committed(project):
    connection = sqlite3.connect(project.folder / ".assay" / "assay.db")
    try:
        return connection.execute("SELECT count(*) FROM calls").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def _content(project, *store):
    rows = project.assay("samples", "--json", *store).lines
    return [{key: row[key] for key in ("sample_id", "scores", "failures")} for row in rows]


def test_a_killed_panel_goes_on_where_it_stopped_and_only_changes_are_judged_anew(panel, loopback):
    calm = panel.assay(*ARGUMENTS, "--store", "calm.db")
    assert calm.code == 0, calm.err
    calls = ITEMS * JUDGES * CRITERIA
    assert loopback.stats()["arrived"] == calls
    before = calls
    for more in (200, 500):
        process = panel.start(*ARGUMENTS)
        while loopback.stats()["arrived"] < before + more:
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.01)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        before = loopback.stats()["arrived"]
    committed = _committed(panel)
    assert 0 < committed < calls
    finished = panel.assay(*ARGUMENTS)
    assert finished.code == 0, finished.err
    assert loopback.stats()["arrived"] - before == calls - committed
    assert finished.json["scorers"] == calm.json["scorers"]
    assert _content(panel) == _content(panel, "--store", "calm.db")
    _changes(panel, loopback)


def _changes(panel, loopback):
    """A criterion's text, a new criterion, a weight."""
    inserted = "        - {name: new, requirement: Is new.}\n        - {name: polite"
    for changed, calls in (
        (TASK.replace("Is polite.", "Is polite throughout."), ITEMS * JUDGES),
        (TASK.replace("        - {name: polite", inserted), ITEMS * JUDGES),
        (TASK.replace("weight: -5", "weight: -7").replace("value: 0.9", "value: 0.8"), 0),
        (TASK.replace("      judges:", "      aggregation: weighted\n      judges:"), 0),
    ):
        before = loopback.stats()["arrived"]
        panel.write("task.yaml", changed)
        assert panel.assay(*ARGUMENTS).code == 0
        assert loopback.stats()["arrived"] - before == calls

from __future__ import annotations

import json

import pytest


def test_an_empty_store_says_how_to_make_a_run(cli, project):
    from assay.store.store import open_store

    open_store(str(project.folder / ".assay" / "assay.db")).close()
    said = cli("runs")
    assert (said.code, said.out) == (0, "no runs yet; `assay run TASK.yaml` creates one\n")
    assert cli("runs", "--json").out == ""


def test_no_store_is_told_as_such(cli):
    said = cli("runs")
    assert said.code != 0
    assert "assay run" in said.err


def test_runs_are_listed_newest_first(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1")
    cli("run", "task.yaml", "--limit", "2")
    newest, oldest = cli("runs", "--json").lines
    assert (newest["n_samples"], oldest["n_samples"]) == (2, 4), "numbers, for machines"
    assert newest["status"] == "completed"
    assert newest["file"] == "task.yaml"
    assert newest["started_at"] >= oldest["started_at"]
    table = cli("runs").out.splitlines()
    assert table[0].split() == ["run", "task", "model", "status", "samples", "started", "(UTC)"]
    assert [line.split()[0] for line in table[1:]] == [newest["run"], oldest["run"]]
    assert len(cli("runs", "--limit", "1").out.splitlines()) == 2
    assert all(len(line) <= 80 for line in table)


def test_an_unfinished_run_has_no_samples_to_show(cli, recorded):
    from assay.store import runs
    from assay.store.run_spec import RunSpec
    from assay.store.runs import NewRun
    from assay.store.store import open_store

    store = open_store(str(recorded.folder / ".assay" / "assay.db"))
    runs.start(store, NewRun(spec=RunSpec(kind="run", task="half\x1b[2J"), file="f", model=None))
    store.close()
    (row,) = cli("runs", "--json").lines
    assert (row["status"], row["n_samples"]) == ("interrupted", None)
    assert "\x1b" not in cli("runs").out
    said = cli("show")
    assert said.code == 2
    assert "has no metrics yet" in said.err


def _long_names(folder):
    from assay.store import runs
    from assay.store.run_spec import RunSpec
    from assay.store.runs import NewRun
    from assay.store.store import open_store

    store = open_store(str(folder / ".assay" / "assay.db"))
    for n, kind in enumerate(("run", "audit", "run")):
        spec = RunSpec(kind=kind, task=f"summaries-of-long-letters-{n}")
        new = NewRun(spec=spec, file="f", model="openrouter/vendor/model-with-a-name")
        runs.finish(store, runs.start(store, new).no, status="interrupted", summary=None, documents=[])
    store.close()


def test_long_names_lose_their_middle_and_dates_stay_whole(cli, project):
    _long_names(project.folder)
    head, *rows = cli("runs").out.splitlines()
    assert len(rows) == 2, "one line a run"
    assert all(len(line) <= 80 and line == line.rstrip() for line in (head, *rows))
    assert all("…" in row and row.split()[-1][2] == ":" for row in rows)
    assert rows[0].split()[1].endswith("-2"), "the end of a name tells runs apart"


def test_steps_of_something_else_are_listed_when_asked_for_and_are_never_the_latest(cli, project):
    _long_names(project.folder)
    listed = [row["task"][-1] for row in cli("runs", "--json").lines]
    assert listed == ["2", "0"]
    everything = cli("runs", "--json", "--all").lines
    assert [row["task"][-1] for row in everything] == ["2", "1", "0"]
    assert cli("samples", everything[1]["run"]).code == 0, "by its id it can be looked at"


def test_runs_are_told_apart_by_name_and_by_the_settings_in_which_they_differ(cli, recorded):
    for arguments in (("--name", "v1", "--limit", "2"), ("--name", "v2", "--tag", "nightly", "--tag", "x")):
        cli("run", "task.yaml", "--max-failures", "1", *arguments)
    newest, oldest = cli("runs", "--json").lines
    assert (newest["name"], newest["tags"], oldest["name"], oldest["tags"]) == ("v2", ["nightly", "x"], "v1", [])
    head, first, second = cli("runs").out.splitlines()
    assert head.split()[:3] == ["run", "name", "task"]
    assert (first.split()[1], second.split()[1:4]) == ("v2", ["v1", "yes-no", "limit=2"])
    assert cli("show", "v1", "--json").json["run"] == oldest["run"]
    assert cli("show", "yes-no@latest", "--json").json["run"] == newest["run"]
    compared = cli("compare", "v1", "v2", "--json").json
    assert (compared["baseline"]["run_name"], compared["runs"][0]["run_name"]) == ("v1", "v2")
    assert "limit=2" in cli("compare", "v1", "v2").out


def test_the_same_content_under_another_name_is_not_computed_again(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1", "--name", "v1")
    again = cli("run", "task.yaml", "--max-failures", "1", "--name", "v2", "--json").json
    assert again["n_cached"] == 4
    assert cli("run", "task.yaml", "--name", "latest").code == 2


def test_rescored_and_imported_runs_have_names_too(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1", "--name", "v1")
    cli("rescore", "v1", "task.yaml", "--max-failures", "1", "--name", "again", "--tag", "t")
    recorded.write("scores.csv", "sample_id,output,correct\na,x,1\nb,y,0\n")
    cli("import", "scores.csv", "--output", "output", "--score", "correct", "--name", "theirs")
    cli("import", "scores.csv", "--output", "output", "--score", "correct", "--name", "renamed")
    rows = {row["name"]: row for row in cli("runs", "--json").lines}
    assert set(rows) == {"v1", "again", "renamed"}
    assert (rows["again"]["tags"], rows["again"]["kind"]) == (["t"], "rescore")


def test_a_pipe_does_not_shorten_names(cli, project, monkeypatch):
    _long_names(project.folder)
    monkeypatch.delenv("COLUMNS")
    assert "openrouter/vendor/model-with-a-name" in cli("runs").out


def test_a_pipe_does_not_cut_the_lines_of_samples(cli, recorded, monkeypatch):
    question = "Is ice cold? " * 40
    recorded.write("long.jsonl", json.dumps({"question": question, "answer": "yes", "output": "yes"}) + "\n")
    cli("run", "task.yaml", "--dataset", "long.jsonl")
    monkeypatch.delenv("COLUMNS")
    assert question.strip() in cli("samples").out


def test_the_cost_of_all_runs_is_added_up(cli, live):
    live(3)
    cli("run", "task.yaml", "--model", "stub", "--name", "first")
    cli("run", "task.yaml", "--model", "stub", "--fresh")
    cli("run", "task.yaml", "--model", "stub")
    document = cli("runs", "--costs", "--json").json
    assert [run["n_calls"] for run in document["runs"]] == [3, 3], "the third run reused all answers"
    assert (document["n_calls"], document["n_unpriced"]) == (6, 0)
    assert document["cost_usd"] == pytest.approx(0.000246)
    assert [(model["model"], model["n_calls"]) for model in document["models"]] == [("stub", 6)]
    shown = cli("runs", "--costs", "--limit", "1").out
    assert "(1 more run: --limit, --json)" in shown
    assert "Total: $0.0002 for 6 calls of 2 runs" in shown
    assert "no run has paid for a call since 2999" in cli("runs", "--costs", "--since", "2999-01-01").out
    assert cli("runs", "--costs", "--since", "2020-01-01T10:00", "--json").json["n_calls"] == 6


def test_money_of_known_and_unknown_prices_is_kept_apart():
    from decimal import Decimal
    from io import StringIO

    from rich.console import Console

    from assay.report.costs import costs_document, costs_table
    from assay.results.costs import CostReport, RunCost
    from assay.types import Spending, Usage

    def paid(model, n, cost):
        usage = Usage(prompt_tokens=n, completion_tokens=n)
        return Spending(model=model, purpose="solve", n_calls=n, usage=usage, cost_usd=cost and Decimal(cost))

    spending = (paid("a", 2, "0.1"), paid("b", 3, None))
    run = RunCost(run="r", name=None, kind="run", task="t", started_at="2026-01-02T03:04", spending=spending)
    report = CostReport(since=None, runs=(run, run))
    document = costs_document(report)
    assert (document["cost_usd"], document["n_unpriced"], document["n_calls"]) == (0.2, 6, 10)
    out = StringIO()
    Console(file=out, width=100).print(costs_table(report, 20))
    assert "Total: $0.2000 + 6 calls without a price for 10 calls of 2 runs" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--since", "2026-01-01"), "--since needs --costs"),
        (("--costs", "--since", "monday"), "is not a date"),
        (("--costs", "--all"), "counts all runs"),
    ],
)
def test_options_that_do_not_go_together_are_told(cli, project, arguments, words):
    said = cli("runs", *arguments)
    assert said.code == 2
    assert words in said.err

from __future__ import annotations

import pytest

import assay


def test_the_numbers_come_back_as_they_were(cli, recorded):
    first = cli("run", "task.yaml", "--json", "--max-failures", "1")
    run = first.json["run"]
    for name in ("latest", run, run[:5]):
        shown = cli("show", name, "--json").json
        shown.pop("provenance")
        assert shown == first.json
    assert "Accuracy" in cli("show").out
    assert "0.667" in cli("show").out


def test_the_display_name_of_a_metric_is_shown_when_it_is_run_and_later(cli, recorded):
    task = (recorded.folder / "task.yaml").read_text()
    recorded.write("task.yaml", task.replace("name: Accuracy", 'name: Accuracy, display_name: "Share right"'))
    first = cli("run", "task.yaml", "--max-failures", "1")
    assert "\nShare right " in first.out
    assert "\nShare right " in cli("show").out
    assert cli("show", "--json").json["scorers"][0]["metrics"][0]["display_name"] == "Share right"


@pytest.mark.parametrize("command", ["show", "samples"])
def test_a_run_that_is_not_there_is_told(cli, recorded, command):
    cli("run", "task.yaml", "--max-failures", "1")
    said = cli(command, "zzzz")
    assert said.code == 2
    assert "zzzz" in said.err


def test_the_store_may_lie_elsewhere(cli, recorded, tmp_path):
    place = str(tmp_path / "elsewhere.db")
    cli("run", "task.yaml", "--max-failures", "1", "--store", place)
    assert cli("show").code != 0
    assert cli("show", "--store", place).code == 0


def test_the_provenance_of_a_run_is_shown(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1", "--name", "v2", "--tag", "nightly", "--limit", "3", "--seed", "7")
    origin = cli("show", "v2", "--json").json["provenance"]
    assert (origin["name"], origin["tags"], origin["task"], origin["file"]) == (
        "v2",
        ["nightly"],
        "yes-no",
        "task.yaml",
    )
    assert (origin["seed"], origin["limit"], origin["trials"], origin["cost_usd"]) == (7, 3, 1, 0.0)
    assert origin["dataset"]["path"] == "data.jsonl"
    assert len(origin["dataset"]["sha256"]) == 64
    assert origin["assay"] == assay.__version__
    assert origin["started_at"] <= origin["finished_at"]
    shown = cli("show", "v2").out
    for words in ("name v2; tags nightly", "dataset data.jsonl, sha256 ", "seed 7, 1 trial, limit 3", "no model calls"):
        assert words in shown, words
    assert max(map(len, shown.splitlines())) <= 80


def test_a_model_and_its_settings_are_part_of_the_provenance(cli, live):
    live(2)
    cli("run", "task.yaml", "--model", "stub")
    origin = cli("show", "--json").json["provenance"]
    assert origin["models"]["answers"]["name"] == "stub"
    assert "model stub" in cli("show").out


def test_a_run_can_be_cited(cli, recorded):
    cli("run", "task.yaml", "--max-failures", "1", "--name", "v2")
    said = cli("show", "v2", "--cite")
    assert said.code == 0
    assert said.out.count("\n") == 1, "one paragraph"
    for words in (
        'evaluated on the task "Yes or no" over 4 samples of data.jsonl (SHA-256 ',
        "with seed 0 and assay ",
        "Accuracy: 0.667 (95% CI 0.208 to 0.939, wilson, n = 3).",
        "1 sample failed (missing_field 1); failures are not part of these values.",
        "Run ",
        ' "v2", ',
    ):
        assert words in said.out, said.out
    assert cli("show", "--cite", "--json").code == 2

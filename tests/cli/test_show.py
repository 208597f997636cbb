from __future__ import annotations

import pytest


def test_the_numbers_come_back_as_they_were(cli, recorded):
    first = cli("run", "task.yaml", "--json", "--max-failures", "1")
    run = first.json["run"]
    for name in ("latest", run, run[:5]):
        assert cli("show", name, "--json").json == first.json
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

"""A folder laid out like an AI GO! project runs as it is: copied to an empty folder, with nothing set up before."""

import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "aigo_project"


@pytest.fixture
def aigo(project, loopback):
    """The project where there was nothing, and `assay` run in it."""
    shutil.rmtree(project.folder)
    shutil.copytree(HERE, project.folder)

    def assay(*arguments):
        environment = {"PILOT_URL": f"{loopback.url}/chat/completions", "PILOT_KEY": "k"}
        return project.assay(*arguments, **environment)

    return assay


def test_checking_is_the_first_command(aigo, project):
    shown = aigo("check", ".")
    assert shown.code == 0, shown.out
    assert shown.out == "34 files checked: no problems\n"
    assert shown.err.count("of the AI GO! platform has no counterpart here") == 5
    assert not (project.folder / ".assay").exists()


def test_listing_is_the_first_command(aigo):
    shown = aigo("list", "--json")
    assert shown.code == 0, shown.out
    assert {"harbour", "mcqa", "riddles", "pilot", "harbour_adapter", "voyages_six"} <= {
        entry["key"] for entry in shown.json["found"]
    }


def test_a_task_is_the_first_command(aigo):
    shown = aigo("run", "tasks/mcqa.yaml", "--model", "pilot", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["n_samples"] == 3
    assert shown.json["excluded"] == {"short_names": 1}


@pytest.fixture
def everything(aigo):
    shown = aigo("run", "run.yaml", "--allow-code", "--gate", "--json", "--max-failures", "0.5")
    assert shown.code == 0, shown.err + shown.out
    assert shown.err.count("note: ") == 2, shown.err  # an unused field, and a column that collides
    return {result["specification"]: result for result in shown.json["results"]} | {"": shown.json}


def value(result, scorer=0, metric=0, name=None):
    values = result["scorers"][scorer]["metrics"][metric]["values"]
    return values[name or next(iter(values))]["value"]


def test_a_run_file_is_the_first_command(everything):
    keys = ["quiz", "quiz_north", "capital", "radio", "recited", "log_review", "resumed", "sailing", "side_by_side"]
    keys += ["review_of_quiz", "logged", "papers", "again"]
    assert [result["specification"] for result in everything[""]["results"]] == keys
    assert [verdict["passed"] for verdict in everything[""]["policies"]] == [True, True]
    failed = {result["specification"]: result["n_failed"] for result in everything[""]["results"]}
    assert {key for key, n in failed.items() if n} == {"logged"}


def test_every_feature_does_what_its_file_says(everything):
    assert value(everything["quiz"]) == 1.0
    assert everything["quiz_north"]["n_samples"] == 2  # one sample in Europe, one with a long name
    assert value(everything["capital"], name="pass_2") == 1.0
    assert value(everything["capital"], scorer=1) == 1.0
    assert (everything["radio"]["n_samples"], value(everything["radio"])) == (2, 2.0)
    assert value(everything["recited"]) == 1.0
    assert value(everything["log_review"], scorer=1, name="pairs_mean") == 0.5
    assert value(everything["resumed"]) == 1.0
    assert (everything["sailing"]["n_samples"], value(everything["sailing"])) == (6, 1.0)
    assert value(everything["side_by_side"]) == 1.0
    assert value(everything["review_of_quiz"]) == 1.0
    assert value(everything["papers"]) == 40


def test_the_order_of_combined_rows(aigo, project):
    shown = aigo("generate", "datasets/voyages.yaml", "--allow-code", "--json")
    rows = Path(shown.json["file"]).read_text().splitlines()
    sails = ["Alda high", "Bryn low", "Cato high", "Alda low", "Bryn high", "Cato low"]
    assert all(ship_and_tide.split()[1] in row for ship_and_tide, row in zip(sails, rows, strict=True))
    assert all(ship_and_tide.split()[0] in row for ship_and_tide, row in zip(sails, rows, strict=True))
    assert '"level"' not in "".join(rows)
    assert 'the column "level" is in ships and tides: the values of tides are kept' in shown.err
    assert [entry["n_out"] for entry in shown.json["debug"]] == [6, 6]


def test_a_run_file_without_an_evaluation_defines_things(aigo):
    shown = aigo("run", "define.yaml")
    assert shown.code == 0, shown.err
    assert "1 dataset: lighthouse" in shown.out
    assert "1 task: recited" in shown.out
    assert "lighthouse: 1 row (generated now)" in shown.out
    again = aigo("run", "define.yaml", "--json").json
    assert again["datasets"][0]["made_now"] is False


def test_datasets_that_cost_money_need_a_limit(aigo, project, loopback):
    define = (
        "dataset_generators: [{$ref: dataset_generators/riddles.yaml}]\ndatasets: [{$ref: datasets/riddles.yaml}]\n"
    )
    project.write("riddles.yaml", define)
    shown = aigo("run", "riddles.yaml")
    assert shown.code == 2
    assert 'the dataset "riddles_two" asks the model "pilot", which may cost money' in shown.err
    assert "--max-cost" in shown.err
    assert loopback.requests() == []
    assert not (project.folder / ".assay").exists()
    model = project.folder / "models" / "pilot.yaml"
    model.write_text(model.read_text() + "prices: {input_per_million: 1, output_per_million: 1}\n")
    assert "costs money" in aigo("run", "riddles.yaml").err
    loopback.configure(text='{"riddle": "What floats?"}')
    paid = aigo("run", "riddles.yaml", "--max-cost", "1")
    assert paid.code == 0, paid.err
    assert "riddles_two: 2 rows (generated now)" in paid.out
    (asked, _) = loopback.requests()[-2:]
    assert "Answer with one JSON object and nothing else." in str(asked["body"])


def test_excluded_samples_say_by_which_rule(aigo, project):
    run = aigo("run", "tasks/mcqa.yaml", "--model", "pilot", "--json").json["run"]
    rows = aigo("samples", run, "--json").lines
    assert [row.get("excluded_by") for row in rows] == [None, None, ["short_names"]]
    assert aigo("samples", run).out.count("excluded from the metrics by short_names") == 1
    for name in ("out.jsonl", "out.csv"):
        assert aigo("export", run, "--to", name).code == 0
        assert (project.folder / name).read_text().count("short_names") == 1


def test_secrets_without_a_block_come_from_the_environment(aigo, loopback, project):
    assert aigo("run", "tasks/mcqa.yaml", "--model", "pilot").code == 0
    headers = {name.lower(): text for name, text in loopback.requests()[0]["headers"].items()}
    assert headers["authorization"] == "Bearer k"
    without = project.assay("run", "tasks/mcqa.yaml", "--model", "pilot", PILOT_URL=f"{loopback.url}/chat/completions")
    assert without.code == 2
    assert 'no "secrets" block has "PILOT_KEY"' in without.err
    assert str(project.folder / ".env") in without.err


def test_the_environment_file_that_is_read_is_named(aigo, project, loopback):
    project.write(".env", f"PILOT_URL={loopback.url}/chat/completions\nPILOT_KEY=k\n")
    assert project.assay("run", "tasks/mcqa.yaml", "--model", "pilot").code == 0
    project.write(".env", "")
    shown = project.assay("run", "tasks/mcqa.yaml", "--model", "pilot")
    assert shown.code == 2
    assert f"PILOT_URL is not set, nor is it in {project.folder / '.env'}" in shown.err


@pytest.mark.parametrize(
    "name",
    [
        "model_adapters/harbour.yaml",
        "dataset_generators/voyages.yaml",
        "datasets/harbours.yaml",
        "datasets/voyages.yaml",
        "models/pilot.yaml",
        "evaluations/harbour.yaml",
        "tasks/mcqa.yaml",
        "run.yaml",
        "define.yaml",
    ],
)
def test_every_kind_of_file_can_be_checked_by_name(aigo, name):
    shown = aigo("check", name)
    assert (shown.code, shown.out) == (0, "1 file checked: no problems\n"), shown.out


def test_a_problem_that_several_files_meet_is_counted_once(aigo, project):
    path = project.folder / "datasets" / "harbours.yaml"
    path.write_text(path.read_text().replace("file_path: harbours.csv", "file_path: harbour.csv"))
    shown = aigo("check", ".")
    assert shown.code == 2
    assert shown.out.count('there is no file "harbour.csv" in datasets; did you mean "harbours.csv"?') == 1
    assert shown.out.splitlines()[-1].startswith("1 problem in ")


def test_a_log_that_is_there_is_the_result(everything, aigo):
    logged = everything["logged"]
    assert (logged["n_samples"], logged["n_failed"]) == (3, 1)
    assert value(logged) == 0.5
    rows = aigo("samples", logged["run"], "--json").lines
    assert [row["output"] for row in rows] == ["A", "C", None]
    assert "Timeout: no answer in time" in rows[2]["failures"][0]["detail"]


def test_a_log_that_is_not_there_is_noted_and_the_task_is_run(aigo, project):
    (project.folder / "logs" / "quiz.json").unlink()
    shown = aigo("run", "run.yaml", "--allow-code", "--json")
    assert shown.code == 0, shown.err
    assert 'there is no log "logs/quiz.json": the task is run' in shown.err
    (logged,) = [result for result in shown.json["results"] if result["specification"] == "logged"]
    assert logged["n_failed"] == 0


def test_the_cost_of_repeated_runs_is_their_sum(aigo, project):
    for name in ("pilot", "parrot"):
        model = project.folder / "models" / f"{name}.yaml"
        model.write_text(model.read_text() + "prices: {input_per_million: 1, output_per_million: 1}\n")
    shown = aigo("run", "run.yaml", "--allow-code", "--json", "--max-failures", "0.5")
    results = {result["specification"]: result for result in shown.json["results"]}
    calls = {
        key: sum(spent["n_calls"] for spent in result["spending"])
        for key, result in results.items()
        if "spending" in result
    }
    assert calls["capital"] == 2 * 2 * 3  # two runs of two trials of three samples
    assert calls["again"] == 2 * calls["quiz"]
    assert results["again"]["cost_usd"] == pytest.approx(2 * results["quiz"]["cost_usd"])

"""Files with every feature of the format: each loads, checks and runs against a real server."""

import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "project"
TASKS = sorted(path.name for path in (HERE / "tasks").glob("*.yaml"))


@pytest.fixture
def compat(project, loopback):
    """The project with every feature, and `assay` run in it."""
    shutil.copytree(HERE, project.folder, dirs_exist_ok=True)

    def assay(*arguments):
        environment = {"STUB_URL": f"{loopback.url}/chat/completions", "STUB_KEY": "k"}
        return project.assay(*arguments, **environment)

    return assay


def accuracy(result, scorer=0, metric=0):
    (value,) = list(result["scorers"][scorer]["metrics"][metric]["values"].values())[:1]
    return value["value"]


def test_the_whole_project_has_no_problems(compat):
    shown = compat("check", ".")
    assert shown.code == 0, shown.out + shown.err
    assert compat("list").code == 0


@pytest.mark.parametrize("name", [name for name in TASKS if name != "review.yaml"])
def test_every_task_runs_unchanged(compat, name):
    live = name in ("referenced.yaml", "conversation.yaml", "old_choices.yaml", "split.yaml", "led.yaml")
    model = ("--model", "stub") if live else ()
    shown = compat("run", f"tasks/{name}", *model, "--allow-code", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["n_failed"] == 0
    assert shown.json["n_samples"] > 0 or name == "evidence.yaml"


def test_old_spellings_are_taken_with_one_line_each(compat):
    shown = compat("run", "tasks/old_choices.yaml", "--model", "stub")
    assert shown.code == 0, shown.err
    for words in ("declarative_task", "evaluated_entity_type", "modalities", "data_source", "choices_field"):
        assert shown.err.count(f'"{words}"') == 1, words


@pytest.fixture
def everything(compat):
    shown = compat("run", "run.yaml", "--allow-code", "--gate", "--json")
    assert shown.code == 0, shown.err
    return {result["specification"]: result for result in shown.json["results"]} | {"": shown.json}


def test_a_run_file_with_every_feature_runs(everything):
    keys = ["review", "answered", "side-by-side", "conversation", "old-choices", "combined", "recorded"]
    keys += ["split", "led", "evidence", "again"]
    assert [result["specification"] for result in everything[""]["results"]] == keys
    assert [verdict["passed"] for verdict in everything[""]["policies"]] == [True, True, True]


def test_referenced_scorers_and_actions_do_what_their_files_say(everything):
    answered = everything["answered"]
    assert [scorer["key"] for scorer in answered["scorers"]] == ["exact", "exact_twice", "sure", "short"]
    assert (accuracy(answered), accuracy(answered, 1)) == (1.0, 0.0)
    assert answered["excluded"] == {"unsure": 1}
    assert answered["scorers"][0]["n_scored"] == 2


def test_included_code_sees_the_parameters(everything):
    short = everything["answered"]["scorers"][3]
    assert short["metrics"][0]["values"]["short_mean"]["value"] == 0.5  # Oslo fits into 6 letters, Nairobi does not
    assert short["metrics"][1]["values"]["length_max"]["value"] == 7


def test_the_result_of_a_task_is_the_dataset_of_another(everything):
    assert everything["review"]["n_samples"] == 3
    assert accuracy(everything["review"]) == 1.0


def test_trials_and_their_renamed_aggregate_come_from_the_specification(everything):
    conversation = everything["conversation"]
    assert (conversation["trials"], conversation["n_samples"]) == (3, 2)
    assert conversation["model"] == "adapted"
    assert conversation["scorers"][0]["metrics"][0]["values"]["pass_2"]["value"] == 1.0


def test_repeated_runs_are_told_apart(everything):
    assert len(set(everything["old-choices"]["repeatability"]["runs"])) == 2
    assert everything["again"]["repeatability"]["runs"][0] == everything["old-choices"]["run"]


def test_combined_rows_and_recorded_calls(everything):
    assert (everything["combined"]["n_samples"], accuracy(everything["combined"])) == (3, 1.0)
    calls = everything["recorded"]["scorers"][0]["metrics"]
    assert 0.5 in [value["value"] for metric in calls for value in metric["values"].values()]


def test_rows_of_one_answer_are_one_cluster(everything):
    value = everything["split"]["scorers"][0]["metrics"][0]["values"]["accuracy"]
    assert (value["value"], value["n"], value["clusters"]) == (0.5, 6, 3)
    assert everything["split"]["model"] == "own"


def test_code_leads_a_conversation_and_scores_all_samples_together(everything):
    exact, rank = everything["led"]["scorers"]
    assert exact["metrics"][0]["values"]["accuracy"]["value"] == 1.0
    assert rank["metrics"][0]["values"]["rank_mean"]["value"] == 1.0
    assert rank["metrics"][1]["values"]["ranks"]["value"] == 3


@pytest.mark.parametrize(("polite", "asked"), [("true", 3), ("false", 0)])
def test_a_flag_inside_a_template_decides_what_is_asked(compat, loopback, polite, asked):
    compat("run", "tasks/referenced.yaml", "--model", "stub", "--allow-code", "--config", f"polite={polite}")
    bodies = [str(request["body"]) for request in loopback.requests()]
    assert sum("Please answer: What" in body for body in bodies) == asked

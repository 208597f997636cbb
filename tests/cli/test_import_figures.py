"""`assay import` of files that the tools wrote themselves: figures equal the source's, and what is lacking is named."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from assay.datasets import inspect_file

FIXTURES = Path(__file__).parents[1] / "import_fixtures"


def figures(result):
    assert result.code == 0, result.err
    return result.json["source_figures"]


def metrics(result, scorer):
    (entry,) = [entry for entry in result.json["scorers"] if entry["key"] == scorer]
    return {name: value["value"] for metric in entry["metrics"] for name, value in metric["values"].items()}


def inspect_summary(path):
    if path.suffix == ".json":
        return json.loads(path.read_bytes())["results"]["scores"]
    with zipfile.ZipFile(path) as archive:
        return json.loads(inspect_file._read(path, archive, archive.getinfo("header.json")))["results"]["scores"]


INSPECT = sorted((FIXTURES / "inspect").iterdir())
FIELDS = {"match": "accuracy", "grader": "accuracy", "length": "value", "tone": "tone", "facts": "facts"}


@pytest.mark.parametrize("path", INSPECT, ids=lambda path: path.name)
def test_the_figures_of_an_inspect_log_are_those_of_its_summary(project, cli, path):
    result = cli("import", str(path), "--json")
    found = figures(result)
    expected, lacking = set(), set()
    for entry in inspect_summary(path):
        reducer = entry.get("reducer")
        suffix = f"_{reducer}" if reducer not in (None, "mean") else ""
        for key, metric in entry["metrics"].items():
            name = f"{entry['name']} {key}" + (f" ({reducer})" if reducer else "")
            if key not in ("accuracy", "mean", "std"):
                lacking.add(name)
                continue
            expected.add(name)
            here = FIELDS[entry["name"]] + suffix + ("_std" if key == "std" else "")
            assert metrics(result, entry["scorer"])[here] == pytest.approx(metric["value"], abs=1e-12), name
    assert expected
    assert (set(found["equal"]), set(found["not_imported"]), found["different"]) == (expected, lacking, [])
    assert f"figures of the source that are not imported: {next(iter(found['not_imported']))}" in result.err


def test_an_inspect_log_whose_summary_disagrees_with_its_samples_says_so(project, cli):
    log = json.loads((FIXTURES / "inspect" / "all_reducers.json").read_bytes())
    log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = 0.75
    project.write("log.json", json.dumps(log))
    result = cli("import", "log.json", "--json")
    assert figures(result)["different"] == [
        {"name": "match accuracy (mean)", "source": 0.75, "imported": pytest.approx(1 / 9)}
    ]
    assert 'the figure "match accuracy (mean)" differs: 0.75 in the source, 0.111111 here' in result.err
    again = cli("import", "log.json", "--json")
    assert again.json["source_figures"] == result.json["source_figures"]
    del log["results"]
    project.write("log.json", json.dumps(log))
    result = cli("import", "log.json", "--json")
    assert "the source has no summary of its own" in result.err
    assert "source_figures" not in result.json


def test_a_failed_sample_of_an_inspect_log_is_a_failure_and_its_accuracy_that_of_the_others(project, cli):
    result = cli("import", str(FIXTURES / "inspect" / "errors.eval"), "--json")
    assert (result.json["scorers"][0]["n_failed"], metrics(result, "match")) == (1, {"accuracy": 0.5})


def lm_eval_summary(task):
    (path,) = (
        p for p in (FIXTURES / "lm_eval").glob("results_*.json") if task in json.loads(p.read_bytes())["results"]
    )
    return json.loads(path.read_bytes())


@pytest.mark.parametrize(("task", "scorers"), [("colors", {"none": "lm_eval"}), ("words", {})])
def test_the_figures_of_lm_eval_are_those_of_its_results_file(project, cli, task, scorers):
    (path,) = (FIXTURES / "lm_eval").glob(f"samples_{task}_*.jsonl")
    result = cli("import", str(path), "--json")
    found, summary = figures(result), lm_eval_summary(task)
    # the folder holds the results of another run and model, too
    assert (result.json["model"], found["different"]) == (summary["model_name"], [])
    numbers = {name: value for name, value in summary["results"][task].items() if isinstance(value, float)}
    assert {*found["equal"], *found["not_imported"]} == set(numbers)
    for name in found["equal"]:
        metric, filter_ = name.split(",")
        here = metrics(result, scorers.get(filter_, filter_))[metric]
        assert here == pytest.approx(numbers[name], abs=1e-12), name
    kept = {"acc,none", "acc_norm,none", "brier_score,none"} if task == "colors" else None
    assert set(found["equal"]) == (kept or {"exact_match,whole", "exact_match,from_the"})


def test_corpus_metrics_of_lm_eval_are_imported_text_by_text_and_named_as_lacking(project, cli):
    (path,) = (FIXTURES / "lm_eval").glob("samples_words_*.jsonl")
    result = cli("import", str(path), "--json")
    assert {"bleu,whole", "chrf,whole", "ter,from_the"} <= set(figures(result)["not_imported"])
    right, *_, other = cli("samples", "--json").lines
    assert right["scores"]["whole"]["values"]["bleu_sentence"] == pytest.approx(100)
    assert right["scores"]["whole"]["values"]["ter_sentence"] == 0
    # one of eight words differs
    assert other["scores"]["whole"]["values"]["ter_sentence"] == pytest.approx(12.5)


def test_samples_of_lm_eval_without_a_results_file_or_with_fewer_samples_say_so(project, cli):
    (path,) = (FIXTURES / "lm_eval").glob("samples_colors_*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    project.write("samples_colors.jsonl", "".join(lines))
    assert "the source has no summary of its own" in cli("import", "samples_colors.jsonl").err
    project.write("results_1.json", json.dumps(lm_eval_summary("colors")))
    project.write("samples_colors.jsonl", "".join(lines[:-1]))
    result = cli("import", "samples_colors.jsonl", "--json")
    assert "the results file counts 4 samples, this file has 3" in result.err
    assert {entry["name"] for entry in figures(result)["different"]} == {
        "acc,none",
        "acc_norm,none",
        "brier_score,none",
    }


def test_figures_of_lm_eval_that_are_no_means_are_not_taken_for_means(project, cli):
    rows = [
        {"doc_id": i, "doc": {}, "resps": [["x"]], "acc": i % 2, "perplexity": -1.5, "mcc": [0, 1], "own": 3}
        for i in (0, 1)
    ]
    project.write("samples_t.jsonl", rows)
    results = {"acc,none": 0.5, "perplexity,none": 4.48, "mcc,none": 0.1, "own,none": 6.0}
    configs = {
        "t": {"metric_list": [{"metric": "own", "aggregation": "sum"}, {"metric": "acc", "aggregation": "mean"}]}
    }
    project.write("results_1.json", json.dumps({"results": {"t": results}, "configs": configs, "model_name": "m"}))
    found = figures(cli("import", "samples_t.jsonl", "--json"))
    assert (found["equal"], found["different"]) == (["acc,none"], [])
    assert found["not_imported"] == ["perplexity,none", "mcc,none", "own,none"]


AUTORUBRIC = FIXTURES / "autorubric"


def test_score_level_figures_of_autorubric_are_those_of_its_metrics(project, cli):
    result = cli("import", str(AUTORUBRIC / "experiment"), "--dataset", str(AUTORUBRIC / "dataset.json"), "--json")
    run, found = result.json["run"], figures(result)
    theirs = json.loads((AUTORUBRIC / "experiment" / "metrics.json").read_bytes())
    agreement = cli("agreement", run, "--json").json
    ours = {name: value["value"] for name, value in agreement["scores"]["panel"].items()}
    assert ours["rmse"] == pytest.approx(theirs["score_rmse"])
    assert ours["mae"] == pytest.approx(theirs["score_mae"])
    assert ours["bias"] == pytest.approx(theirs["bias"]["mean_bias"])
    for name in ("pearson", "spearman", "kendall"):
        assert ours[name] == pytest.approx(theirs[f"score_{name}"]["coefficient"])
    for judge, figures_of_judge in theirs["per_judge"].items():
        assert agreement["scores"][judge]["rmse"]["value"] == pytest.approx(figures_of_judge["score_rmse"])
    assert agreement["overall"]["panel"]["macro_accuracy"]["value"] == pytest.approx(theirs["macro_accuracy"])
    (command,) = found["computed_by"]
    assert command == f"assay agreement {run}"
    computed = {"score_rmse", "score_mae", "score_spearman", "score_kendall", "score_pearson", "bias", "macro_accuracy"}
    assert set(found["computed_by"][command]) == computed
    assert {"criterion_accuracy", "micro_kappa", "per_judge"} <= set(found["not_imported"])
    assert f"`assay agreement {run}` computes: " in result.err


def test_without_the_dataset_no_figure_of_autorubric_is_promised(project, cli):
    result = cli("import", str(AUTORUBRIC / "experiment"), "--json")
    assert figures(result)["computed_by"] == {}
    assert "score_rmse" in figures(result)["not_imported"]


PROMPTFOO = FIXTURES / "promptfoo"


@pytest.mark.parametrize("column", range(4))
def test_a_column_of_promptfoo_has_the_figures_of_its_summary(project, cli, column):
    result = cli("import", str(PROMPTFOO / "results.json"), "--column", str(column), "--json")
    summary = json.loads((PROMPTFOO / "results.json").read_bytes())["results"]["prompts"][column]
    found, theirs, ours = figures(result), summary["metrics"], metrics(result, "promptfoo")
    assert (result.json["task"], result.json["model"], result.json["n_samples"]) == ("sums", summary["provider"], 4)
    assert ours["accuracy"] == theirs["testPassCount"] / 4
    assert ours["score"] == pytest.approx(theirs["score"] / 4)
    assert ours["length"] == theirs["namedScores"]["length"]
    assert found["different"] == []
    assert set(found["equal"]) == {"score", "testPassCount", "testFailCount", "testErrorCount", "namedScores.length"}
    lacking = {"assertPassCount", "assertFailCount", "totalLatencyMs", "tokenUsage"}
    assert set(found["not_imported"]) == {*lacking, "namedScores.right (weighted by assertions)"}


def test_columns_of_promptfoo_are_runs_of_their_own_that_can_be_compared(project, cli):
    path = str(PROMPTFOO / "results.json")
    several = cli("import", path)
    assert several.code == 2
    assert 'the columns are 0 (echo: "What is {{a}} + {{a}}? {{reply}}"), 1 (echo: "Add' in several.err
    assert "the file has no column 4; the columns are 0 (echo" in cli("import", path, "--column", "4").err
    first, second = (cli("import", path, "--column", column, "--json").json["run"] for column in "01")
    assert first != second
    assert cli("compare", first, second, "--json").json["comparisons"][0]["n"] == 4
    sample = cli("samples", first, "--id", "1", "--json").lines[0]
    assert sample["sample"] == {"a": 3, "reply": "It is 7"}
    assert [turn["content"] for turn in sample["trace"]] == ["What is 3 + 3? It is 7"] * 2
    assert sample["output"] == "What is 3 + 3? It is 7"


def test_errors_of_promptfoo_are_failures_and_repeats_are_trials(project, cli):
    result = cli("import", str(PROMPTFOO / "errors.json"), "--json")
    assert (result.json["trials"], result.json["n_samples"]) == (2, 3)
    assert result.json["scorers"][0]["n_failed"] == 2
    found = figures(result)
    assert set(found["equal"]) == {"score", "testPassCount", "testFailCount", "testErrorCount"}
    assert found["different"] == []
    failed = cli("samples", "--failed", "--json").lines
    assert {entry["sample_id"] for entry in failed} == {"1"}
    assert "the model is away" in json.dumps(failed)
    assert "node:internal" not in json.dumps(failed)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_test_run_of_deepeval_has_the_figures_of_its_summary(project, cli, wrapped):
    run = json.loads((FIXTURES / "deepeval" / "test_run.json").read_bytes())
    # .deepeval/.latest_test_run.json holds the same in a field
    project.write("test_run.json", json.dumps({"testRunData": run} if wrapped else run))
    result = cli("import", "test_run.json", "--json")
    found = figures(result)
    assert (found["different"], found["not_imported"]) == ([], ["runDuration"])
    for entry in run["metricsScores"]:
        ours = metrics(result, entry["metric"].replace(" ", "_"))
        assert ours["score"] == pytest.approx(sum(entry["scores"]) / len(entry["scores"]))
        assert ours["passed"] == pytest.approx(entry["passes"] / (entry["passes"] + entry["fails"]))
    assert metrics(result, "test_case") == {"passed": run["testPassed"] / len(run["testCases"])}
    assert result.json["model"] == "my-model"
    assert {entry["key"]: entry["n_failed"] for entry in result.json["scorers"]}["Word_Overlap"] == 1
    sample = cli("samples", "--id", "capital", "--json").lines[0]
    assert sample["sample"]["retrieval_context"] == ["Paris is the capital."]
    assert sample["scores"]["Word_Overlap"]["metadata"]["reason"] == "3 of 3 words"


def test_a_conversation_of_deepeval_becomes_a_trace(project, cli):
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello", "order": 1}]
    case = {"name": "talk", "success": True, "turns": turns, "scenario": "greeting"}
    case["metricsData"] = [{"name": "Role", "success": True}, {"name": "Tone", "score": 0.5, "success": True}]
    project.write("run.json", json.dumps({"testCases": [], "conversationalTestCases": [case], "metricsScores": []}))
    result = cli("import", "run.json", "--json")
    assert result.json["failures"] == {"missing_field": 1}
    sample = cli("samples", "--json").lines[0]
    assert (sample["output"], sample["sample"], len(sample["trace"])) == ("Hello", {"scenario": "greeting"}, 2)


SOURCES = {
    "inspect.json": FIXTURES / "inspect" / "all_reducers.json",
    "log.eval": FIXTURES / "inspect" / "mean.eval",
    "promptfoo.json": PROMPTFOO / "errors.json",
    "deepeval.json": FIXTURES / "deepeval" / "test_run.json",
    "samples_colors.jsonl": next((FIXTURES / "lm_eval").glob("samples_colors_*.jsonl")),
}
FORMAT_OF = {
    "inspect.json": "inspect",
    "log.eval": "inspect",
    "promptfoo.json": "promptfoo",
    "deepeval.json": "deepeval",
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("share", [0, 0.5])
def test_an_empty_or_cut_off_file_is_refused(project, cli, name, share):
    whole = SOURCES[name].read_bytes()
    (project.folder / name).write_bytes(whole[: int(len(whole) * share)])
    result = cli("import", name)
    assert (result.code, "Traceback" in result.err) == (2, False)
    assert name in result.err
    reasons = ("is this file whole?", "the table has no rows", "these bytes are not text", "unexpected end of data")
    assert any(reason in result.err for reason in reasons), result.err


@pytest.mark.parametrize("name", FORMAT_OF)
@pytest.mark.parametrize("wanted", ["inspect", "lm_eval", "promptfoo", "deepeval"])
def test_a_file_of_another_tool_is_refused(project, cli, name, wanted):
    (project.folder / name).write_bytes(SOURCES[name].read_bytes())
    result = cli("import", name, "--format", wanted)
    assert result.code == (0 if FORMAT_OF[name] == wanted else 2), result.err
    if result.code:
        assert name in result.err


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (next((FIXTURES / "lm_eval").glob("results_*.json")), "import the samples_*.jsonl beside it"),
        (AUTORUBRIC / "experiment" / "metrics.json", "import its folder"),
        (AUTORUBRIC / "experiment" / "manifest.json", "import its folder"),
        (AUTORUBRIC / "dataset.json", "cannot tell which tool wrote"),
    ],
)
def test_a_part_of_a_result_says_what_to_import(project, cli, path, message):
    result = cli("import", str(path))
    assert result.code == 2
    assert message in result.err


def test_files_without_a_summary_say_that_nothing_can_be_checked(project, cli):
    run = json.loads((PROMPTFOO / "errors.json").read_bytes())
    del run["results"]["prompts"][0]["metrics"]
    project.write("a.json", json.dumps(run))
    run = json.loads((FIXTURES / "deepeval" / "test_run.json").read_bytes())
    del run["metricsScores"]
    project.write("b.json", json.dumps({"testRunData": run}))
    for name in ("a.json", "b.json"):
        assert "the source has no summary of its own" in cli("import", name).err
    assert "--column chooses a column of promptfoo results" in cli("import", "b.json", "--column", "1").err

"""`assay import` of files that the tools wrote themselves: figures equal the source's, and what is lacking is named."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from assay.interop import inspect_log

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
        return json.loads(inspect_log._read(path, archive, archive.getinfo("header.json")))["results"]["scores"]


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

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

"""`inspect_ai`: samples and conversations of a log that Inspect wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

LOGS = Path(__file__).parents[1] / "import_fixtures" / "inspect"
TASK = """
key: again
display_name: Again
definition:
  dataset: {{source: {source}}}
  solver: {{type: pass_through_solver, trace_column: trace}}
  scorers: [{{type: string_equals, ground_truth: "{{{{ sample.target }}}}"}}]
"""


@pytest.fixture
def scored(project):
    def run(source, *options):
        project.write("task.yaml", TASK.format(source=source))
        return project.assay("run", "task.yaml", "--json", "--max-failures", "1", *options)

    return run


@pytest.mark.parametrize("name", ["mean.eval", "all_reducers.json"])
def test_the_samples_of_a_log_are_rows_with_traces(project, scored, name):
    (project.folder / name).write_bytes((LOGS / name).read_bytes())
    outcome = scored(f"{{type: inspect_ai, path: {name}}}")
    assert outcome.code == 0, outcome.err
    imported = project.assay("import", name, "--json").json
    assert outcome.json["n_samples"] == imported["n_samples"] * imported["trials"]
    (first, *_) = project.assay("samples", "again@latest", "--json").lines
    assert first["sample"]["trace"][-1]["role"] == "assistant"
    assert first["sample_id"].endswith("/1"), "every epoch is a row"


def test_a_limit_takes_the_first_samples(project, scored):
    (project.folder / "log.eval").write_bytes((LOGS / "mean.eval").read_bytes())
    assert scored("{type: inspect_ai, path: log.eval, limit: 2}").json["n_samples"] == 2


def test_calls_and_their_outputs_are_items(project, scored):
    messages = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": "get", "arguments": {"x": 1}}]},
        {"role": "tool", "tool_call_id": "c", "content": "sunny"},
        {"role": "assistant", "content": "sunny"},
    ]
    sample = {"id": 1, "epoch": 1, "input": "Weather?", "target": "sunny", "messages": messages}
    project.write("log.json", json.dumps({"eval": {"task": "t"}, "samples": [sample]}))
    outcome = scored("{type: inspect_ai, path: log.json}")
    assert outcome.json["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 1.0
    (row,) = project.assay("samples", "latest", "--json").lines
    assert [item["type"] for item in row["sample"]["trace"]] == [
        "message",
        "message",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert row["sample"]["trace"][2]["arguments"] == '{"x":1}'


@pytest.mark.parametrize(
    ("source", "content", "words"),
    [
        ("{type: inspect_ai, path: missing.eval}", None, "missing.eval"),
        ("{type: inspect_ai, path: log.json}", "[1, 2]", "expected an Inspect log as a JSON object"),
        ("{type: inspect_ai, path: log.json}", "{", "is this file whole?"),
        ("{type: inspect_ai, path: log.json, limit: 0}", "{}", "limit"),
        ("{type: inspect_ai, file_path: log.json}", "{}", "path"),
    ],
)
def test_mistakes_name_the_file(project, scored, source, content, words):
    if content is not None:
        project.write("log.json", content)
    outcome = scored(source)
    assert outcome.code == 2
    assert words in outcome.err

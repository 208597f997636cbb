"""Settings are untrusted input: numbers, references, schemas, keys and names that would hang or crash a command."""

from __future__ import annotations

import json
import os
import time

import pytest

from assay.datasets.csv_table import read_csv
from assay.errors import SpecError
from assay.interop.export import harmless
from assay.models.endpoint import Endpoint
from assay.results.rules import parse_rule
from assay.scorers import schema as schema_module

TASK = """
key: odd
display_name: Odd
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: pass_through_solver
    trace_column: trace
  scorers:
    - %s
"""
SECONDS = 120
"""Far less than any of these took, and enough for the busiest machine."""


def within(project, *arguments, **extra):
    started = time.process_time()
    outcome = project.assay(*arguments, **extra)
    assert time.process_time() - started < SECONDS
    return outcome


@pytest.mark.parametrize("number", [":".join(["59"] * 200_000), ":".join(["59"] * 200_000) + ".5", "9" * 600_000])
def test_an_endless_number_is_refused_at_once(project, number):
    project.write("task.yaml", f"key: {number}\n")
    outcome = within(project, "check", "task.yaml")
    assert outcome.code == 2
    assert "characters; at most 200 are read" in outcome.err + outcome.out


def test_references_that_double_at_every_level_are_counted(project):
    for level in range(26):
        project.write(f"{level}.yaml", f"a: {{$ref: {level + 1}.yaml}}\nb: {{$ref: {level + 1}.yaml, c: 1}}\n")
    project.write("26.yaml", "key: end\n")
    outcome = within(project, "check", "0.yaml")
    assert outcome.code == 2
    assert (outcome.err + outcome.out).count("more than 2,000 $ref to follow") == 1


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "pipe"])
@pytest.mark.parametrize("command", ["check", "run", "plan", "grade"])
def test_devices_and_pipes_are_refused(project, command, path):
    os.mkfifo(project.folder / "pipe")
    outcome = within(project, command, path, *(["data.jsonl"] if command == "grade" else []))
    assert outcome.code == 2
    assert outcome.err + outcome.out


@pytest.mark.parametrize("path", ["/dev/zero", "pipe"])
def test_a_dataset_is_no_device_and_no_pipe(project, path):
    os.mkfifo(project.folder / "pipe")
    task = TASK.replace("data.jsonl", path) % '{type: string_equals, ground_truth: "A"}'
    project.write("task.yaml", task)
    assert within(project, "run", "task.yaml", "--allow-outside").code == 2


@pytest.mark.parametrize(
    "written",
    [
        '{type: json_schema, schema: "{\\"type\\": \\"object\\", \\"required\\": [\\"a\\"]}"}',
        "{type: json_schema, schema: {type: object, properties: {a: {$ref: '#/$defs/n'}}, required: [a], "
        "$defs: {n: {type: integer}}}}",
    ],
    ids=["as text", "with a reference inside"],
)
def test_a_json_schema_is_text_or_a_mapping_that_refers_to_its_own_parts(project, written):
    replies = ['{"a": 1}', '{"b": 1}', "no JSON"]
    traces = [[{"type": "message", "role": "assistant", "content": reply}] for reply in replies]
    project.write("data.jsonl", [{"trace": trace} for trace in traces])
    project.write("task.yaml", TASK % written)
    outcome = project.assay("run", "task.yaml", "--json")
    assert outcome.code == 0, outcome.err
    samples = project.assay("samples", "latest", "--json")
    assert [next(iter(entry["scores"].values()))["values"]["is_correct"] for entry in samples.lines] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_schema_that_branches_at_every_level_is_counted(keyword):
    parts = {f"p{n}": {keyword: [{"$ref": f"#/$defs/p{n + 1}"}] * 2} for n in range(24)}
    schema = {"$ref": "#/$defs/p0", "$defs": {**parts, "p24": {"type": "integer"}}}
    started = time.process_time()
    with pytest.raises(schema_module.RowFailureError, match="takes more than 200,000 steps"):
        schema_module._judge(json.dumps(schema))("text")
    assert time.process_time() - started < SECONDS


def test_a_schema_has_all_its_steps_for_every_reply():
    problem_of = schema_module._judge(json.dumps({"items": {"type": "integer"}}))
    for _ in range(5):
        assert problem_of([1] * 60_000) is None


@pytest.mark.parametrize("n", [16_000, 16_385, 100_000])
def test_tables_with_many_columns_are_read_or_refused_at_once(tmp_path, n):
    path = tmp_path / "data.csv"
    path.write_text(",".join(f"c{i}" for i in range(n)) + "\n" + ",".join(["1"] * n) + "\n")
    started = time.process_time()
    if n <= 16_384:
        (batch,) = read_csv(path)
        assert len(batch.samples[0]) == n
    else:
        with pytest.raises(SpecError, match=f"{n:,} columns; at most 16,384 are read"):
            list(read_csv(path))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("key", ["sk-1\r\nX-Evil: 1", "sk-1\n", "sk-\x01-1"])
@pytest.mark.parametrize("where", ["api_key", "header", "provider"])
def test_a_key_with_control_characters_is_refused_and_not_shown(live, key, where):
    project = live(3)
    if where == "header":
        model = json.loads((project.folder / "model.yaml").read_text())
        model["config"]["custom_headers"] = {"X-Key": model["config"].pop("api_key")}
        project.write("model.yaml", json.dumps(model))
    name = "openai/gpt-x" if where == "provider" else "model.yaml"
    outcome = project.assay("run", "task.yaml", "--model", name, STUB_KEY=key, OPENAI_API_KEY=key)
    assert outcome.code == 2
    assert "control character" in outcome.err
    assert "sk-" not in outcome.err + outcome.out


def test_a_header_cannot_hold_nul():
    with pytest.raises(SpecError, match='"Authorization" holds a line break or another control character'):
        Endpoint(url="http://localhost/", headers={"Authorization": "Bearer a\x00b"})


def test_an_address_with_a_password_beside_a_key_is_refused(live):
    project = live(3)
    model = (project.folder / "model.yaml").read_text()
    project.write("model.yaml", model.replace("http://127", "http://user:hunter2@127"))
    outcome = project.assay("run", "task.yaml", "--model", "model.yaml")
    assert outcome.code == 2
    assert "keep one of them" in outcome.err
    assert "hunter2" not in outcome.err + outcome.out


def test_an_empty_variable_does_not_hide_the_one_in_the_env_file(live, loopback):
    project = live(3)
    assert project.assay("run", "task.yaml", "--model", "model.yaml", STUB_KEY="").code == 0
    assert {request["headers"]["authorization"] for request in loopback.requests()} == {"Bearer sk-loopback"}


@pytest.mark.parametrize("front", ["", "\n", "\r\n", "\t", " \n\t ", "\xa0", "\ufeff", "\x00"])
@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1+cmd", "@SUM(A1)"])
def test_no_cell_of_an_export_is_a_formula(front, formula):
    assert harmless(front + formula) == f"'{front}{formula}"


@pytest.mark.parametrize("text", ["plain", "a=1", "\nplain", "1 - 2", ""])
def test_other_cells_are_as_they_were(text):
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("rule", "address", "operator"),
    [
        ("p<0.05 >= 0.8", "p<0.05", ">="),
        ("mean/score>3 rate>=50%", "mean/score>3 rate", ">="),
        ("a=b = 1", "a=b", "="),
        ("<b> > 0", "<b>", ">"),
        ("x<= <= 1", "x<=", "<="),
        ("length ≥ 3 ≤ 0.5", "length ≥ 3", "<="),
        ("accuracy==0.5", "accuracy", "="),
    ],
)
def test_a_metric_whose_name_holds_an_operator_can_be_gated(rule, address, operator):
    parsed = parse_rule(rule)
    assert (parsed.address, parsed.operator) == (address, operator)


@pytest.mark.parametrize("rule", ["accuracy => 0.8", "accuracy === 0.8", ">= 0.8", "accuracy", "accuracy >=", "= 1"])
def test_slips_are_not_rules(rule):
    with pytest.raises(SpecError, match="is not a rule"):
        parse_rule(rule)

"""Scorers of function calls and of what they returned."""

from __future__ import annotations

import pytest

TASK = """
key: agent
display_name: Agent
definition:
  dataset: {{source: {{type: local, file_path: data.jsonl}}}}
  solver: {{type: pass_through_solver, trace_column: trace}}
  scorers: [{scorer}]
"""


def _call(name, arguments="{}", call_id="1"):
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}


def _output(text, call_id="1"):
    return {"type": "function_call_output", "call_id": call_id, "output": text}


SAID = {"type": "message", "role": "assistant", "content": "Done."}
TRACES = {
    "found": [_call("search"), _output("3 flights to Bern"), SAID],
    "second call": [_call("search"), _output("none"), _call("search", call_id="2"), _output("a flight", "2"), SAID],
    "other function": [_call("book"), _output("flight booked"), SAID],
    "never called": [SAID],
    "dangerous": [_call("delete", '{"all": true}'), _output("ok"), SAID],
    "harmless": [_call("delete", '{"all": false}'), _output("ok"), SAID],
}


@pytest.fixture
def scores(project):
    """Score every trace; the values and metadata by the names above."""

    def run(scorer):
        project.write("data.jsonl", [{"sample_id": name, "trace": trace} for name, trace in TRACES.items()])
        project.write("task.yaml", TASK.format(scorer=scorer))
        outcome = project.assay("run", "task.yaml", "--json")
        assert outcome.code == 0, outcome.err
        samples = project.assay("samples", "latest", "--json", "--limit", "99").lines
        return {sample["sample_id"]: next(iter(sample["scores"].values())) for sample in samples}

    return run


def _right(scored, field="is_correct"):
    return {name for name, score in scored.items() if score["values"][field] == 1.0}


def test_any_output_of_the_function_may_match(scores):
    scored = scores("{type: function_call_output_contains, function_name: search, pattern: 'flights?'}")
    assert _right(scored) == {"found", "second call"}
    assert scored["second call"]["metadata"]["matching_outputs"] == ["a flight"]
    assert scored["never called"]["metadata"]["num_outputs"] == 0


def test_no_output_of_the_function_may_match(scores):
    scored = scores("{type: function_call_output_not_contains, function_name: search, pattern: 'flights?'}")
    assert _right(scored) == set(TRACES) - {"found", "second call"}


def test_a_call_that_is_not_allowed_is_named(scores):
    scored = scores("{type: disallowed_function_calls, function_calls: [delete, wipe]}")
    assert _right(scored, "no_disallowed_calls_made") == set(TRACES) - {"dangerous", "harmless"}
    assert scored["dangerous"]["metadata"]["disallowed_calls"] == [{"name": "delete", "arguments": {"all": True}}]


def test_arguments_narrow_what_is_not_allowed(scores):
    entry = "{name: delete, arguments: {all: true}}"
    scored = scores(f"{{type: disallowed_function_calls, function_calls: [{entry}]}}")
    assert _right(scored, "no_disallowed_calls_made") == set(TRACES) - {"dangerous"}


@pytest.mark.parametrize(
    ("scorer", "words"),
    [
        ("{type: function_call_output_contains, function_name: f, pattern: '('}", "RE2 cannot run the pattern"),
        ("{type: function_call_output_contains, function_name: f, pattern: ''}", "the pattern is empty"),
        ("{type: function_call_output_contains, pattern: x}", 'missing field "function_name"'),
        ("{type: disallowed_function_calls, function_calls: delete}", "expected a list of function names"),
        ("{type: disallowed_function_call, function_calls: [f]}", 'did you mean "disallowed_function_calls"?'),
    ],
)
def test_mistakes_are_found_in_the_file(project, scorer, words):
    project.write("data.jsonl", [{"trace": [SAID]}])
    project.write("task.yaml", TASK.format(scorer=scorer))
    outcome = project.assay("check", "task.yaml")
    assert outcome.code == 2
    assert words in outcome.out

"""Solvers through the command line: with recorded replies, and with a model server on this machine."""

from __future__ import annotations

import json

import pytest

TASK = """key: talk
display_name: Talk
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
%s
  scorers:
    - {type: contains, substring: "{{ sample.wanted }}", metrics: [{type: mean, field: is_correct, name: Found}]}
"""
SINGLE = """
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages: [{role: user, content: "{{ sample.q }}"}]
"""
GENERIC = """
    type: single_turn_solver
    input_builder:
      type: generic
      template: |
        {"messages": [{"role": "user", "content": {{ sample.q | tojson }}}], "top_k": 3}
    sampling: {temperature: 0.25}
"""
GROUPED = """
    type: grouped_single_turn_solver
    input_builder:
      type: generic
      template: "{{ sample.parts }}"
"""
SIMULATED = """
    type: multi_turn_solver
    message_builders:
      - {type: chat_message, role: system, content: Sell umbrellas.}
      - type: loop
        max_iterations: 4
        message_builders:
          - type: generate_message
            model_key: scripted/user.jsonl
            extra_input_messages: [{role: system, content: "You want {{ sample.wish }}."}]
            terminate_if: {includes: BYE, keep_iteration: false}
          - {type: generate}
"""


@pytest.fixture
def run(project):
    def ran(solver, rows, model, **environment):
        project.write("data.jsonl", rows)
        task = TASK % solver.strip("\n")
        if solver is GROUPED:
            task = task.replace("type: contains,", 'type: contains, value: "{{ solver_output.output }}",')
        project.write("task.yaml", task)
        outcome = project.assay("run", "task.yaml", "--model", model, "--json", "--max-failures", "1", **environment)
        assert outcome.code == 0, outcome.err
        return outcome.json, project.assay("samples", "--json").lines

    return ran


@pytest.fixture
def server(loopback):
    return {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": loopback.url}


def test_a_simulated_user_talks_to_the_model_until_it_leaves(project, run):
    project.write("user.jsonl", [{"reply": "Hello"}, {"reply": "A red one"}, {"reply": "BYE"}])
    project.write("shop.jsonl", [{"match": "Hello", "reply": "Which?"}, {"match": "red", "reply": "Here, red."}])
    result, (sample,) = run(SIMULATED, [{"wish": "a red umbrella", "wanted": "red"}], "scripted/shop.jsonl")
    assert result["scorers"][0]["metrics"][0]["values"]["Found"]["value"] == 1.0
    assert sample["output"] == "Here, red."
    said = [(item["role"], item["content"]) for item in sample["trace"]]
    assert said == [
        ("system", "Sell umbrellas."),
        ("user", "Hello"),
        ("assistant", "Which?"),
        ("user", "A red one"),
        ("assistant", "Here, red."),
    ]


def test_a_finished_conversation_costs_nothing_the_second_time(project, run):
    project.write("user.jsonl", [{"reply": "Hello"}, {"reply": "BYE"}])
    project.write("shop.jsonl", [{"reply": "Which?"}])
    first, _ = run(SIMULATED, [{"wish": "x", "wanted": "W"}], "scripted/shop.jsonl")
    again, (sample,) = run(SIMULATED, [{"wish": "x", "wanted": "W"}], "scripted/shop.jsonl")
    assert (first["n_cached"], again["n_cached"]) == (0, 1)
    assert sample["output"] == "Which?"


def test_one_question_over_http_and_what_is_no_answer_is_a_failure(run, server):
    rows = [
        {"q": "x [[reply: B]]", "wanted": "B"},
        {"q": "x [[null]]", "wanted": "B"},
        {"q": "x [[refusal]]", "wanted": "B"},
        {"q": "x [[filter]]", "wanted": "B"},
        {"q": "x [[tool: look_up]]", "wanted": "B"},
        {"q": "x [[status: 400]]", "wanted": "B"},
    ]
    result, samples = run(SINGLE, rows, "openai/test", **server)
    assert result["failures"] == {"parse": 1, "refusal": 2, "http": 1}
    assert result["scorers"][0]["metrics"][0]["values"]["Found"]["n"] == 2
    assert [sample["output"] for sample in samples if not sample["failures"]] == ["B", ""]
    (called,) = [item for item in samples[4]["trace"] if item["type"] == "function_call"]
    assert called["name"] == "look_up"


def test_a_generic_template_reaches_the_endpoint_with_its_own_fields(run, server, loopback):
    run(GENERIC, [{"q": 'say "B" [[reply: B]]', "wanted": "B"}], "openai/test", **server)
    (request,) = loopback.requests()
    body = request["body"] if isinstance(request["body"], dict) else json.loads(request["body"])
    assert body["messages"] == [{"role": "user", "content": 'say "B" [[reply: B]]'}]
    assert (body["top_k"], body["temperature"], body["model"]) == (3, 0.25, "test")


def test_the_conversation_is_sent_whole_each_turn_with_the_fields_of_replies(run, server, loopback):
    loopback.configure(reasoning="let me think")
    solver = """
    type: multi_turn_solver
    message_builders:
      - {type: chat_message, role: user, content: "first [[reply: one]]"}
      - {type: generate}
      - {type: chat_message, role: user, content: "{{ messages[-1].content }} was first [[reply: two]]"}
      - {type: generate}
"""
    _, (sample,) = run(solver, [{"wanted": "two"}], "openai/test", **server)
    assert sample["output"] == "two"
    bodies = [r["body"] if isinstance(r["body"], dict) else json.loads(r["body"]) for r in loopback.requests()]
    second = max((body["messages"] for body in bodies), key=len)
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert second[1]["reasoning_content"] == "let me think"
    assert second[2]["content"] == "one was first [[reply: two]]"


def test_a_group_is_answered_input_by_input(run, server):
    parts = {"left": "[[reply: L]]", "right": "[[reply: R]]"}
    result, (sample, failed) = run(
        GROUPED,
        [{"parts": parts, "wanted": "R"}, {"parts": [*parts.values(), "[[null]]"], "wanted": "R"}],
        "openai/test",
        **server,
    )
    assert json.loads(sample["output"]) == {"left": "L", "right": "R"}
    assert result["n_failed"] == 1
    assert failed["failures"][0]["detail"].startswith("input 2: the reply has no content")


def test_a_loop_that_never_ends_fails_its_sample_alone(project, run):
    project.write("user.jsonl", [{"reply": "more"}])
    project.write("shop.jsonl", [{"reply": "here"}])
    result, (sample,) = run(SIMULATED, [{"wish": "x", "wanted": "h"}], "scripted/shop.jsonl")
    assert result["failures"] == {"parse": 1}
    assert "did not end within 4 iterations" in sample["failures"][0]["detail"]

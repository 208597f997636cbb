from __future__ import annotations

import pytest

from assay.solvers.builders import Loop, all_of
from assay.solvers.multi_turn import MultiTurnSolver

HEAD = """key: t
display_name: t
definition:
  dataset: {source: {type: inline_samples, samples: [{q: hello, log: []}]}}
  scorers: [{type: string_equals, ground_truth: "{{ sample.q }}"}]
  solver:
    type: multi_turn_solver
    message_builders:
"""
GOOD = '      - {type: chat_message, role: user, content: "{{ sample.q }}"}\n      - {type: generate}\n'


def _problems(project, builders):
    project.write("task.yaml", HEAD + builders)
    return [
        (p["line"], p["column"], p["message"], p["suggestion"])
        for p in project.assay("check", "task.yaml", "--json").json
    ]


@pytest.mark.parametrize(
    ("builders", "found"),
    [
        (GOOD, []),
        (
            GOOD + "      - {type: generat}\n",
            [(11, 16, "type: expected one of chat_message, generate, generate_message, loop, load_trace", "generate")],
        ),
        (GOOD + "      - {role: user}\n", [(11, 9, 'missing field "type" in message_builders', None)]),
        (GOOD + "      - wait\n", [(11, 9, 'expected a mapping, got text ("wait")', None)]),
        (
            GOOD + "      - {type: generate, terminate_if: {include: x}}\n",
            [(11, 41, 'unknown field "include" in terminate_if', "includes")],
        ),
        (
            GOOD + '      - {type: generate, terminate_if: {includes: ""}}\n',
            [(11, 51, "includes: expected some text", None)],
        ),
        (
            GOOD + '      - {type: chat_message, role: usr, content: "{{ sample.w }}"}\n',
            [(11, 36, "role: expected one of system, developer, user, assistant", "user")],
        ),
        ("      []\n", [(9, 7, "message_builders: expected at least 1 entries", None)]),
        (
            GOOD + "      - type: loop\n        message_builders:\n          - {type: load_trace, trace_column: log}\n",
            [(13, 20, "type: load_trace is not allowed inside a loop", None)],
        ),
        (
            GOOD + "      - {type: loop, max_iterations: -1, message_builders: [{type: generate}]}\n",
            [(11, 38, "max_iterations: expected a number >= 0", None)],
        ),
    ],
)
def test_what_is_wrong_is_told_at_its_place(project, builders, found):
    problems = _problems(project, builders)
    assert [(line, column, suggestion) for line, column, _, suggestion in problems] == [
        (line, column, suggestion) for line, column, _, suggestion in found
    ]
    for (_, _, message, _), (_, _, words, _) in zip(problems, found, strict=True):
        assert message.startswith(words)


def test_columns_are_checked_in_every_nested_template_but_variables_are_not_columns(project):
    problems = _problems(
        project,
        """      - {type: load_trace, trace_column: lgo}
      - type: loop
        message_builders:
          - {type: chat_message, role: user, content: "{{ loop_index }} {{ messages[0].content }} {{ sample.qq }}"}
          - type: generate_message
            model_key: scripted/user.jsonl
            extra_input_messages: [{role: system, content: "{{ sample.persona }} {{ loop_index }}"}]
          - {type: generate, terminate_if: {includes: "{{ sample.stop }}"}}
""",
    )
    assert [line for line, *_ in problems] == [9, 12, 15, 16]
    assert [message.split('"')[1] for _, _, message, _ in problems] == ["lgo", "qq", "persona", "stop"]


def test_all_builders_are_found_however_deep():
    settings = MultiTurnSolver.model_validate(
        {
            "type": "multi_turn_solver",
            "message_builders": [
                {"type": "loop", "message_builders": [{"type": "loop", "message_builders": [{"type": "generate"}]}]}
            ],
        }
    )
    assert [builder.type for builder in all_of(settings.message_builders)] == ["loop", "loop", "generate"]
    assert isinstance(settings.message_builders[0], Loop)
    assert not settings.message_builders[0].can_end_early

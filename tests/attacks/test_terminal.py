"""What models and datasets write reaches the terminal as text: no control sequence survives in any command."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

HOSTILE = {
    "colour": "\x1b[31mred",
    "cursor": "\x1b[2J\x1b[H",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;file:///etc/passwd\x07click\x1b]8;;\x07",
    "clipboard": "\x1b]52;c;ZWNobw==\x07",
    "eight bits": "\x9b31mred\x9d0;owned\x9c",
    "bell": "\x07\x07",
    "backspace": "right\x08\x08\x08\x08\x08wrong",
    "carriage return": "hidden\rshown",
    "right to left": "\u202egpj.exe\u202c",
    "zero width": "ad\u200bmin\ufeff",
    "nul": "a\x00b",
    "markup": "[bold red]not bold[/bold red] [link=https://example.org]x[/link]",
    "unclosed markup": "[/] [/bold]",
}
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters other than tab and line feed, and those that turn the direction of text."""
COMMANDS = [
    ("show", "latest"),
    ("samples", "latest"),
    ("samples", "latest", "--failed"),
    ("samples", "latest", "--wrong"),
    ("runs",),
    ("compare", "one", "two", "--show-flips", "5"),
    ("gate", "latest", "--require", "is_correct_mean >= 0"),
    ("show", "latest", "--cite"),
]
TASK = """
key: hostile
display_name: Hostile
definition:
  dataset: {source: {type: local, file_path: data.jsonl, id_column: id}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - {type: string_equals, key: exact, ground_truth: "{{ sample.truth }}", metrics: [{type: mean, field: is_correct}]}
"""


def rows(flip):
    hostile = [
        {"id": f"{n} {text}", "output": text, "truth": text if (n % 2) ^ flip else "other", "note": text}
        for n, text in enumerate(HOSTILE.values())
    ]
    return [*hostile, {"id": "no truth \x1b[31m", "output": "\x1b[31m", "note": "", "truth": None}]


@pytest.fixture(scope="module")
def shown(new_project):
    project = new_project()
    project.write("task.yaml", TASK)
    for name, flip in (("one", 0), ("two", 1)):
        project.write("data.jsonl", rows(flip))
        outcome = project.assay("run", "task.yaml", "--name", name, "--max-failures", "1")
        assert outcome.code == 0, outcome.err
        assert not FORBIDDEN.search(outcome.out + outcome.err)
    return project


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_control_sequence_reaches_the_terminal(shown, command):
    outcome = shown.assay(*command, FORCE_COLOR="")
    assert outcome.code in (0, 1), outcome.err
    assert outcome.out
    assert not FORBIDDEN.search(outcome.out + outcome.err)


def test_markup_is_shown_as_it_is(shown):
    assert "[bold red]not bold" in shown.assay("samples", "latest").out


def test_names_in_error_messages_are_cleaned(shown):
    shown.write("bad.yaml", 'key: "\\e[31mred"\n"\\e]0;owned\\a": 1\n')
    for command in (("check", "bad.yaml"), ("show", "\x1b[31mnone"), ("run", "\x1b]0;x\x07.yaml")):
        outcome = shown.assay(*command)
        assert outcome.code == 2
        assert not FORBIDDEN.search(outcome.out + outcome.err)


def test_reports_for_other_programs_stay_well_formed(shown):
    outcome = shown.assay(
        "gate", "latest", "--require", "is_correct_mean >= 0.9", "--junit", "gate.xml", "--markdown", "gate.md"
    )
    assert outcome.code == 1, outcome.err
    ElementTree.parse(shown.folder / "gate.xml")
    assert not FORBIDDEN.search((shown.folder / "gate.md").read_text())

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.spec import LoadedTask

Load = Callable[..., LoadedTask]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("ground_truth: 012", 'ground_truth: expected text, got a number (10); quote it: "012"'),
        ("ground_truth: 2024-01-02", 'ground_truth: expected text, got a date (2024-01-02); quote it: "2024-01-02"'),
        ("ground_truth: 12:30", 'ground_truth: expected text, got a number (750); quote it: "12:30"'),
        ("ground_truth: No", 'ground_truth: expected text, got false; quote it: "No"'),
        ("ground_truth: null", 'ground_truth: expected text, got nothing; quote it: "null"'),
        ("ground_truth: ", "ground_truth: expected text, got nothing"),
        ("ground_truth: [a]", "ground_truth: expected text, got a list"),
        ("ground_truth: {a: 1}", "ground_truth: expected text, got a mapping"),
        ("ground_truth: x, tolerance: much", 'tolerance: expected a number, got text ("much")'),
        ("ground_truth: x, tolerance: -1", "tolerance: expected a number >= 0, got a number (-1)"),
        ("ground_truth: x, exact: 1", "exact: expected true or false, got a number (1)"),
        ("ground_truth: x, normalize: strip", 'normalize: expected a list, got text ("strip")'),
        ("ground_truth: x, normalize: [stirp]", 'expected one of strip, lower, got text ("stirp")'),
        ("ground_truth: x, choices: 3", 'choices: expected text or a list, got a number (3); quote it: "3"'),
        ("ground_truth: x, choices: [A, 3]", 'expected text, got a number (3); quote it: "3"'),
        ("ground_truth: x, purpose: qq", 'purpose: expected one of score, qa, got text ("qq")'),
        ("ground_truth: x, key: a b", 'key: expected letters, digits, _ and - only, got text ("a b")'),
        ("ground_truth: x, key: ''", "key: expected at least 1 characters"),
        ("ground_truth: x, zzz: 1", 'unknown field "zzz" in equals; known: choices, display_name'),
        ("value: x", 'missing field "ground_truth" in equals'),
    ],
)
def test_a_wrong_value_is_told_in_words_at_its_place(load: Load, fields: str, expected: str) -> None:
    (problem,) = load(f"scorers:\n  - {{type: equals, {fields}}}\n").problems
    assert problem.message.startswith(expected)
    assert problem.source_line is not None
    assert problem.place is not None
    assert problem.place.line == 6


def test_the_nearest_choice_is_offered(load: Load) -> None:
    (problem,) = load("scorers: [{type: equals, ground_truth: x, normalize: [stirp]}]").problems
    assert problem.suggestion == "strip"


def test_a_missing_field_and_its_near_miss_are_one_error_also_when_nested(load: Load) -> None:
    loaded = load("solver:\n  type: pass_through_solver\n  trace_column: x\n  extra: [{role: user, contnet: hi}]\n")
    (problem,) = loaded.problems
    assert (problem.message, problem.suggestion) == ('unknown field "contnet" in extra', "content")


def test_a_rule_of_the_settings_themselves_is_told_at_the_part(load: Load) -> None:
    (problem,) = load("scorers:\n  - type: pattern\n    pattern: '('\n").problems
    assert problem.message == "the pattern has an open parenthesis"
    assert str(problem.place) == "task.yaml:6:7"


def test_a_problem_that_the_settings_raise_themselves_keeps_or_gets_a_place(load: Load) -> None:
    here, there = load("scorers:\n  - {type: strict, at: here}\n  - {type: strict, at: nowhere}\n").problems
    assert str(here) == "task.yaml:6:26: not this\n    6 |     - {type: strict, at: here}\n" + f"      | {'^':>26}"
    assert str(there.place) == "task.yaml:7:7"

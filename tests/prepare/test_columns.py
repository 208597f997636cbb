"""Columns are compared with the data before a run."""

from __future__ import annotations

import pytest

from assay.builtin import registry
from assay.prepare.columns import answer_problems, column_problems
from assay.spec import load_task

TASK = """
key: t
display_name: t
config_spec: [{{type: string, key: column, display_name: Column}}]
definition:
  dataset: {{source: {{type: inline_samples, samples: [{{answer: x}}]}}}}
  {solver}
  scorers:
    - {scorer}
"""
SOLVER = "solver: {type: pass_through_solver, trace_column: output}"


def problems(project, scorer, solver=SOLVER, rows=({"answer": "x", "output": "y"}, {"hint": "z"})):
    path = project.write("task.yaml", TASK.format(solver=solver, scorer=scorer))
    loaded = load_task(path, registry(), strict=False)
    assert loaded.problems == ()
    return [str(problem).splitlines()[0].split(": ", 1)[1] for problem in column_problems(loaded, rows)]


@pytest.mark.parametrize(
    "scorer",
    [
        '{type: string_equals, ground_truth: "{{ sample.answer }}"}',
        '{type: string_equals, ground_truth: "{{ sample.hint }}"}',
        '{type: string_equals, ground_truth: "{{ sample.sample_id }}"}',
        '{type: string_equals, ground_truth: "{{ sample.gone | default(1) }}"}',
        '{type: string_equals, ground_truth: "{{ sample[\\"answer\\"] }}"}',
        '{type: string_equals, ground_truth: "{{ sample.<< config.column >> }}"}',
        "{type: string_equals, ground_truth: no template at all}",
    ],
)
def test_columns_that_some_row_has_are_fine(project, scorer):
    assert problems(project, scorer) == []


@pytest.mark.parametrize(
    ("scorer", "words"),
    [
        ('{type: string_equals, ground_truth: "{{ sample.anser }}"}', 'no column "anser"'),
        ('{type: string_equals, ground_truth: "{{ sample.answer"}', "not a template"),
        ('{type: string_equals_mcqa, ground_truth_choice: A, choices: ["A", "{{ sample.gone }}"]}', '"gone"'),
        (
            "{type: string_equals, ground_truth: x,"
            ' metrics: [{type: mean, field: is_correct, group_by: "{{ sample.g }}"}]}',
            '"g"',
        ),
        (
            '{type: function_call_coverage, function_calls: [{name: f, arguments: {a: "{{ sample.missing }}"}}]}',
            '"missing"',
        ),
    ],
)
def test_a_column_that_no_row_has_is_a_problem_wherever_it_is_read(project, scorer, words):
    (problem,) = problems(project, scorer)
    assert words in problem


def test_a_column_named_without_a_template_is_looked_up_too(project):
    scorer = "{type: contains, substring: x}"
    (problem,) = problems(project, scorer, solver="solver: {type: pass_through_solver, trace_column: outptu}")
    assert problem == 'the dataset has no column "outptu"; it has answer, output, hint; did you mean "output"?'


def test_without_rows_only_syntax_is_checked(project):
    assert problems(project, '{type: string_equals, ground_truth: "{{ sample.any }}"}', rows=()) == []
    assert problems(project, '{type: string_equals, ground_truth: "{{ sample.any"}', rows=()) != []


@pytest.mark.parametrize(
    ("scorer", "solver", "n"),
    [
        ("{type: contains, substring: x}", "", 1),
        ('{type: contains, substring: x, value: "{{ sample.answer }}"}', "", 0),
        ("{type: contains, substring: x}", SOLVER, 0),
    ],
)
def test_a_scorer_of_answers_needs_somebody_who_answers(project, scorer, solver, n):
    path = project.write("task.yaml", TASK.format(solver=solver, scorer=scorer))
    assert len(list(answer_problems(load_task(path, registry(), strict=False)))) == n

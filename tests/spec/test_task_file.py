from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import Problem, SpecError
from assay.registry import Registry
from assay.spec import LoadedTask, load_task

Load = Callable[..., LoadedTask]


def told(loaded: LoadedTask) -> list[str]:
    """The first line of every problem."""
    return [str(problem).split("\n")[0] for problem in loaded.problems]


def test_everything_wrong_with_a_file_comes_in_one_go(load: Load) -> None:
    loaded = load(
        "key: qa\n"
        "display_name: QA\n"
        "description: Questions\n"
        "description: Twice\n"
        "definition:\n"
        "  scorers:\n"
        "    - type: equals\n"
        '      ground_truht: "{{ sample.answer }}"\n'
        "    - type: equal\n"
        '      ground_truth: "{{ sample.answer }}"\n'
        "    - type: equals\n"
        "      ground_truth: yes\n"
        "    - type: equals\n"
        "      key: right\n"
        '      ground_truth: "{{ sample.anwser }}"\n',
        whole=True,
    )
    assert [str(problem) for problem in loaded.problems] == [
        'task.yaml:4:1: duplicate key "description"; it is already on line 3\n    4 | description: Twice\n      | ^',
        'task.yaml:8:7: unknown field "ground_truht" in equals; did you mean "ground_truth"?\n'
        '    8 |       ground_truht: "{{ sample.answer }}"\n'
        "      |       ^",
        'task.yaml:9:13: unknown scorer type "equal"; known: equals, free, pattern, strict; did you mean "equals"?\n'
        "    9 |     - type: equal\n"
        "      |             ^",
        'task.yaml:12:21: ground_truth: expected text, got true; quote it: "yes"\n'
        "   12 |       ground_truth: yes\n"
        "      |                     ^",
    ]
    (right,) = loaded.scorers
    assert right.key == "right"
    assert right.settings.ground_truth.place.line == 15


def test_a_right_file_has_all_its_parts(load: Load) -> None:
    loaded = load(
        "dataset: {source: {type: inline_samples, samples: [{q: 1, a: $HOME}]}}\n"
        "solver: {type: pass_through_solver, trace_column: q}\n"
        "scorers:\n"
        "  - type: equals\n"
        "    ground_truth: '{{ sample.a }}'\n"
        "  - type: free\n"
        "    metrics: []\n"
        "trials: {num_trials: 2, score_aggregators: [{score_name: s, aggregator: {function: pass@k, k: 2}}]}\n"
        "actions: [{key: out, action: exclude_from_metrics, filter: 'scores.free.x'}]\n"
    )
    assert loaded.problems == ()
    assert loaded.notes == ()
    assert loaded.task.key == "qa"
    assert loaded.task.definition.trials is not None
    assert loaded.solver is not None
    assert loaded.solver.kind.name == "pass_through_solver"
    assert [scorer.key for scorer in loaded.scorers] == ["equals", "free"]
    assert [metric.key for metric in loaded.scorers[0].metrics] == ["mean"]
    assert loaded.scorers[1].metrics == ()
    assert loaded.dataset is not None
    assert loaded.dataset.settings.samples == [{"q": 1, "a": "$HOME"}]
    assert loaded.resolved["definition"]["scorers"][0]["type"] == "equals"


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        ("solver: {type: multi_turn_solver}", 'solver "multi_turn_solver" is not available in this version'),
        ("scorers: [{type: rubric}]", 'scorer "rubric" is not available in this version'),
    ],
)
def test_what_the_format_has_and_this_version_lacks_gets_one_clear_error(
    load: Load, definition: str, words: str
) -> None:
    (problem,) = load(definition).problems
    assert words in problem.message
    assert problem.place is not None
    assert problem.place.line > 4
    assert problem.suggestion is None


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        ("[]", "definition: expected a mapping, got a list"),
        ("type: benchmrk", 'type: expected "benchmark_task", got text ("benchmrk"); did you mean "benchmark_task"?'),
        ("scorer: []", 'unknown field "scorer" in definition; did you mean "scorers"?'),
        ("scorers: 3", "scorers: expected a list, got a number (3)"),
        ("scorers: [3]", "expected a scorer, such as {type: ...}, got a number (3)"),
        ("scorers: [{key: a}]", 'missing field "type" in the scorer; known: equals, free, pattern, strict'),
        ("scorers: [{typ: free}]", 'unknown field "typ" in the scorer; did you mean "type"?'),
        ("scorers: [{type: 3}]", "type: expected text, got a number (3)"),
        ("scorers: [{type: free, metrics: 3}]", "metrics: expected a list, got a number (3)"),
        ("solver: none", 'solver: expected a mapping, got text ("none")'),
        ("solver: {type: pass_thru_solver}", 'did you mean "pass_through_solver"?'),
        ("dataset: qa", 'dataset: expected a mapping, got text ("qa")'),
        ("dataset: {}", 'a dataset has "key" or "source"'),
        ("dataset: {kye: a}", 'unknown field "kye" in dataset; did you mean "key"?'),
        ("dataset: {source: 3}", "source: expected a mapping, got a number (3)"),
        ("dataset: {source: {type: locl}}", 'did you mean "local"?'),
        ("dataset: {source: {type: local}}", 'missing field "file_path" in local'),
        ("trials: {num_trials: 1}", "num_trials: expected a number >= 2, got a number (1)"),
        (
            "trials: {num_trials: 2, score_aggregators: [{score_name: s, aggregator: {function: pass@k}}]}",
            'aggregator: pass@k needs "k"',
        ),
        ("actions: [{key: a, action: drop, filter: x}]", 'action: expected "exclude_from_metrics"'),
    ],
)
def test_a_wrong_definition_is_told_in_words(load: Load, definition: str, words: str) -> None:
    problems = told(load(definition))
    assert len(problems) == 1
    assert problems[0].startswith("task.yaml:")
    assert words in problems[0]


def test_fields_that_are_missing_at_the_top_are_all_told(load: Load) -> None:
    loaded = load("display_nme: x\ndefinition: {}\n", whole=True)
    assert told(loaded) == [
        'task.yaml:1:1: missing field "key" in the task',
        'task.yaml:1:1: unknown field "display_nme" in the task; did you mean "display_name"?',
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("evaluation: {}\n", "this file is a run file, not a task"),
        ("task_specifications: []\n", "this file is an evaluation, not a task"),
        ("key: a\nsource: {}\n", "this file is a dataset, not a task"),
        ("process_input: {}\n", "this file is an adapter, not a task"),
        ("assessment_plan: {}\n", "have no counterpart here"),
        ("hello: world\n", "not a file of assay"),
        ("just text\n", "not a file of assay"),
    ],
)
def test_a_file_that_is_not_a_task_is_refused_with_its_kind(load: Load, text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        load(text, whole=True)


def test_old_spellings_are_taken_with_one_line_each(load: Load) -> None:
    loaded = load(
        "key: qa\ndisplay_name: QA\ndescription: d\nevaluated_entity_type: x\nmodalities: [text]\n"
        "definition:\n"
        "  type: declarative_task\n"
        "  evaluated_entity_type: kept quiet\n"
        "  dataset: {fast_subset_size: 3, data_source: {type: local, file_path: a.csv}}\n",
        whole=True,
    )
    assert loaded.problems == ()
    assert [str(note).split("\n")[0] for note in loaded.notes] == [
        'task.yaml:4:1: deprecated: "evaluated_entity_type" is ignored',
        'task.yaml:5:1: deprecated: "modalities" is ignored',
        'task.yaml:7:9: deprecated: "declarative_task" is now "benchmark_task"',
        'task.yaml:9:13: deprecated: "fast_subset_size" is ignored',
        'task.yaml:9:34: deprecated: "data_source" is now "source"',
    ]
    assert loaded.dataset is not None
    assert loaded.dataset.settings.file_path == "a.csv"


def test_a_problem_in_an_included_file_is_placed_there(load: Load, project: Path) -> None:
    (project / "scorer.yaml").write_text("# a scorer\ntype: equals\nground_truth: 012\n")
    loaded = load("scorers:\n  - $ref: scorer.yaml\n")
    assert told(loaded) == ['scorer.yaml:3:15: ground_truth: expected text, got a number (10); quote it: "012"']


def test_a_variable_is_used_by_value_and_stored_by_name(load: Load) -> None:
    environment = {"TRUTH": "s3cret", "DATA": "data.csv"}
    loaded = load(
        "dataset: {source: {type: local, file_path: $DATA}}\n"
        "scorers: [{type: equals, ground_truth: '${TRUTH}', metrics: []}]\n",
        environment=environment,
    )
    assert loaded.problems == ()
    assert loaded.scorers[0].settings.ground_truth == "s3cret"
    assert loaded.dataset is not None
    assert loaded.dataset.settings.file_path == "data.csv"
    assert loaded.dataset.written == {"type": "local", "file_path": "$DATA"}
    assert loaded.resolved["definition"]["scorers"][0]["ground_truth"] == "${TRUTH}"
    assert "s3cret" not in repr(loaded.document)


VALID = """\
key: qa
display_name: QA
description: |
  Questions
config_spec:
  - {type: int, key: n, display_name: N, default_value: 3}
  - {type: categorical, key: c, display_name: C, allowed_values: [a, b], default_value: a}
definition:
  dataset:
    source:
      type: inline_samples
      samples: [{q: "x", a: y}]
  solver: {type: pass_through_solver, trace_column: q, extra: [{role: user, content: "{{ sample.q }}"}]}
  scorers:
    - &first
      type: equals
      ground_truth: "{{ sample.a }} << config.n >>"
      choices: [A, B]
      tolerance: << config.n >>
      metrics:
        - {type: mean, field: is_correct}
        - {type: binary, field_gt: answer_gt, weights: {yes: 1}}
    - <<: *first
      key: second
  trials: {num_trials: 2}
"""
PIECES = ["", "\t", "{", "}", "[", "]", ": ", "- ", "*first", "&x", "!include a", "$ref: b", "<<: ", "null", "\n", "'"]
PIECES += ["<< config.m >>", "((TODO))", "$NOPE", "!!python/x 1", "1e999", "2024-01-01", "0x", "é\u2028", "---\n", "?"]


def test_the_file_that_is_mutated_below_is_right(load: Load) -> None:
    loaded = load(VALID, whole=True)
    assert told(loaded) == []
    assert [scorer.key for scorer in loaded.scorers] == ["equals", "second"]


def problems_of(registry: Registry, *, strict: bool) -> tuple[Problem, ...]:
    """What is wrong with task.yaml, whether it stops the loading or not."""
    try:
        return load_task(Path("task.yaml"), registry, strict=strict, environment={}).problems
    except SpecError as error:
        return error.problems


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, len(VALID)), st.integers(0, 40), st.sampled_from(PIECES)), min_size=1, max_size=4)
)
def test_a_damaged_file_gives_problems_and_never_anything_else(
    project: Path, registry: Registry, damage: list[tuple[int, int, str]]
) -> None:
    text = VALID
    for start, length, piece in damage:
        text = text[:start] + piece + text[start + length :]
    (project / "task.yaml").write_text(text, encoding="utf-8")
    for strict in (True, False):
        problems = problems_of(registry, strict=strict)
        assert all(str(problem) for problem in problems)


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_at_all_give_a_spec_error(project: Path, registry: Registry, content: bytes) -> None:
    (project / "task.yaml").write_bytes(content)
    with pytest.raises(SpecError):
        load_task(Path("task.yaml"), registry, strict=True, environment={})


def any_yaml() -> st.SearchStrategy[Any]:
    plain = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(), st.text(max_size=5), st.dates())
    return st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


@given(st.sampled_from(["dataset", "solver", "scorers", "trials", "actions", "type"]), any_yaml())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_in_any_part_is_answered_with_problems(
    project: Path, registry: Registry, part: str, value: Any
) -> None:
    import yaml

    top = {"key": "qa", "display_name": "QA", "description": "d", "definition": {part: value}}
    (project / "task.yaml").write_text(yaml.safe_dump(top, allow_unicode=True), encoding="utf-8")
    assert all(str(problem) for problem in problems_of(registry, strict=False))

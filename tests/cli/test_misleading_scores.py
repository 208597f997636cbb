"""What is missing, unreadable or ambiguous is never scored as a plain wrong answer, nor as a right one."""

from __future__ import annotations

import pytest

TASK = """
key: quiz
display_name: Quiz
definition:
  dataset: {{source: {{type: local, file_path: rows.jsonl}}}}
  solver: {{type: pass_through_solver, trace_column: output}}
  scorers: [{scorer}]
"""
EXACT = '{type: string_equals, ground_truth: "{{ sample.answer }}"}'
NUMBER = '{type: numeric_equals, ground_truth: "{{ sample.answer }}"}'


@pytest.fixture
def scored(project, cli):
    """Score recorded answers; gives the JSON of the run."""

    def run(scorer, rows, code=0):
        project.write("task.yaml", TASK.format(scorer=scorer))
        project.write("rows.jsonl", rows)
        said = cli("run", "task.yaml", "-q", "--json")
        assert said.code == code, said.err
        return said.json

    return run


@pytest.mark.parametrize("missing", [None, ""])
def test_samples_without_a_ground_truth_are_failures_and_not_wrong_answers(scored, missing):
    rows = [{"answer": "x", "output": "x"}] * 70 + [{"answer": missing, "output": "x"}] * 30
    run = scored(EXACT, rows, code=3)
    assert run["failures"] == {"missing_field": 30}
    assert run["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 1.0
    assert (run["scorers"][0]["n_scored"], run["scorers"][0]["n_failed"]) == (70, 30)


def test_predictions_that_are_neither_class_are_counted_in_the_table_and_in_the_gate(scored, cli):
    scorer = EXACT[:-1] + (
        ", metrics: [{type: binary-classification, field_pred: answer_pred, field_gt: answer_gt,"
        ' positive_answer: "yes", negative_answer: "no"}]}'
    )
    rows = [{"answer": word, "output": word} for word in ("yes", "no") * 5]
    rows += [{"answer": "yes", "output": "I cannot say"}] * 90
    run = scored(scorer, rows)
    assert run["scorers"][0]["metrics"][0]["detail"]["n_excluded"] == 90
    shown = cli("show", "latest").out
    assert "90 excluded" in " ".join(shown.split())
    gated = cli("gate", "--require", "binary-classification/f1_score >= 0.8")
    assert "excluded 90" in " ".join(gated.out.split()), gated.out + gated.err


def test_integers_beyond_64_bits_keep_every_digit(scored):
    large = 123456789012345678901234567890123
    rows = [{"answer": large, "output": str(large)}, {"answer": large + 1, "output": str(large)}]
    assert scored(NUMBER, rows)["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 0.5


def test_fractions_powers_and_times_are_not_their_last_number(scored):
    pairs = {"3/4": "1/4", "10^5": "5", "1:30": "2:30"}
    run = scored(NUMBER, [{"answer": truth, "output": output} for truth, output in pairs.items()], code=3)
    assert run["failures"] == {"parse": 1}
    assert run["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 0.0
    right = scored(NUMBER, [{"answer": "3/4", "output": "0.75"}, {"answer": "10^5", "output": "100000"}])
    assert right["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 1.0


def test_values_that_yaml_would_turn_into_something_else_stay_text_and_are_named(project, cli):
    samples = '[{output: "no", answer: no}, {output: "12:30", answer: 12:30}, {output: "010", answer: 010}]'
    task = TASK.format(scorer=EXACT).replace(
        "{type: local, file_path: rows.jsonl}", f"{{type: inline_samples, samples: {samples}}}"
    )
    project.write("task.yaml", task)
    checked = cli("check", "task.yaml")
    for value in ("no", "12:30", "010"):
        assert f'"{value}" is kept as text' in checked.out + checked.err
    run = cli("run", "task.yaml", "-q", "--json").json
    assert run["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 1.0


def test_a_key_that_comes_twice_is_an_error_and_not_its_last_value(project, cli):
    project.write("task.yaml", TASK.format(scorer=EXACT))
    project.write("rows.jsonl", '{"output": "a", "answer": "a", "answer": "b"}\n')
    said = cli("run", "task.yaml", "-q")
    assert said.code == 2
    assert 'rows.jsonl:1:1: the key "answer" appears twice' in said.err

"""Mistakes in AI GO! files: each is told with its place, and with the nearest right name."""

import json
import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "aigo_project"


@pytest.fixture
def changed(project):
    """The project with one text of one file replaced, and what a command says of it."""
    shutil.rmtree(project.folder)
    shutil.copytree(HERE, project.folder)

    def change(name, before, after):
        path = project.folder / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
        return project

    return change


@pytest.mark.parametrize(
    ("name", "before", "after", "place", "words"),
    [
        ("tasks/log_review.yaml", "trace_column: log", "trace_column: lgo", ":8:", 'did you mean "log"'),
        (
            "tasks/radio.yaml",
            "extra_input_messages",
            "extra_inputs_messages",
            ":",
            'did you mean "extra_input_messages"',
        ),
        (
            "dataset_generators/riddles.yaml",
            "format_instructions",
            "format_instruction",
            ":",
            'did you mean "format_instructions"',
        ),
        ("datasets/voyages.yaml", "include_io: false", "include_oi: false", ":8:", 'did you mean "include_io"'),
        ("run.yaml", "methodology:", "methodolgy:", ":43:", 'unknown field "methodolgy"'),
        ("datasets/northern.yaml", "sample.region ==", "sample.regoin ==", ":7:", 'did you mean "region"'),
        ("datasets/northern.yaml", "length > 9 }}", "length > }}", ":7:", "no Jinja expression"),
        (
            "tasks/mcqa.yaml",
            "sample.answer | length",
            "scores.string_equals_mcqa.is_corect",
            ":",
            'did you mean "is_correct"',
        ),
        ("tasks/mcqa.yaml", "ground_truth_correct_choice", "ground_truth_corect_choice", ":", "gives no field"),
        (
            "dataset_generators/riddles.yaml",
            "      sample_properties:",
            "      file_ids_field: files\n      sample_properties:",
            ":12:",
            "files cannot be sent to a model",
        ),
        ("model_adapters/harbour.yaml", "!include ../code/adapter_in.jinja", '"{{ input."', ":", "process_input"),
        ("tasks/side_by_side.yaml", "      value:", "      display_name:", ":", "give `value`"),
    ],
)
def test_a_mistake_is_told_at_its_place(changed, name, before, after, place, words):
    shown = changed(name, before, after).assay("check", ".")
    assert shown.code == 2, shown.out
    lines = [line for line in shown.out.splitlines() if words in line]
    assert lines, shown.out
    assert lines[0].startswith(f"{name}{place}")


def test_an_unknown_trace_format_is_found_before_the_run(changed):
    project = changed("datasets/logbook.jsonl", '"FORMAT": "open_responses"', '"FORMAT": "open_respones"')
    shown = project.assay("check", "tasks/log_review.yaml")
    assert shown.code == 2
    assert shown.out.startswith('tasks/log_review.yaml:8:53: none of the first 2 rows of "log" is a trace; row 1: ')
    assert (
        'unknown trace FORMAT "open_respones": expected "open_responses"; did you mean "open_responses"?' in shown.out
    )
    assert not (project.folder / ".assay").exists()


def test_a_single_row_that_is_no_trace_fails_alone(project, changed):
    changed(
        "datasets/logbook.jsonl",
        '"FORMAT": "open_responses", "items": [{"type": "message", "role": "user"',
        '"FORMAT": "other", "items": [{"type": "message", "role": "user"',
    )
    shown = project.assay("run", "tasks/log_review.yaml", "--allow-code", "--json", "--max-failures", "1")
    assert shown.code == 0, shown.err
    assert (shown.json["n_samples"], shown.json["n_failed"]) == (2, 1)
    (failed,) = project.assay("samples", "--failed", "--json").lines
    assert 'unknown trace FORMAT "other"' in failed["failures"][0]["detail"]


def test_a_column_that_collides_is_named(changed):
    project = changed("dataset_generators/one.yaml", "A single row", "One row")
    shown = project.assay("check", "datasets/voyages.yaml")
    assert shown.code == 0
    assert "note: dataset_generators/voyages.yaml:" in shown.err
    assert 'the column "level" is in ships and tides: the values of tides are kept' in shown.err


@pytest.mark.parametrize("module", ["latticeflow.core.dtypes", "latticeflow.assessment.dtypes"])
def test_an_unknown_class_lists_those_that_there_are(changed, module):
    project = changed(
        "code/accessors.py",
        "from latticeflow.core.dtypes import FunctionCallItem",
        f"from {module} import FunctionCalItem",
    )
    shown = project.assay("run", "tasks/log_review.yaml", "--allow-code")
    assert shown.code in (2, 3)
    assert f"{module} has no 'FunctionCalItem'; did you mean FunctionCallItem?" in shown.err
    assert "RawSample" in shown.err


def test_grouped_output_without_a_value_is_never_scored(changed):
    project = changed("tasks/side_by_side.yaml", "      value:", "      display_name:")
    project.write("replies.jsonl", [{"reply": "Lisbon"}])
    shown = project.assay("run", "tasks/side_by_side.yaml", "--model", "scripted/replies.jsonl")
    assert shown.code == 2
    assert "string_equals scores a chat reply, but grouped_single_turn_solver gives several outputs" in shown.err


def test_custom_output_without_a_value_is_never_scored(changed, project):
    changed("tasks/capital.yaml", "Capitals", "Capitals")
    project.write(
        "models/custom.yaml",
        json.dumps(
            {
                "key": "own",
                "display_name": "Own",
                "task": "custom",
                "config": {
                    "connection_type": "custom_inference",
                    "environment": {},
                    "timeout": 9,
                    "run_inference_snippet": "def run_inference(body, environment):\n    return {'port': 'Lisbon'}\n",
                },
            }
        ),
    )
    task = project.folder / "tasks" / "recited.yaml"
    task.write_text(
        task.read_text().replace(
            '{type: chat_message, role: assistant, content: "{{ sample.ship }}"}', "{type: generate}"
        )
    )
    shown = project.assay("run", "tasks/recited.yaml", "--model", "own", "--allow-code")
    assert shown.code == 2
    assert "string_equals scores a chat reply, but the model own is of the task custom" in shown.err

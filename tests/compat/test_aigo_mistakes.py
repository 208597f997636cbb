"""Mistakes in AI GO! files: each is told with its place, and with the nearest right name."""

import json
import shutil
from pathlib import Path

import pytest

from assay.api.check import check_files
from assay.builtin import registry

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
        ("datasets/northern.yaml", "length > 9 }}", "length > }}", ":7:", "not a Jinja expression"),
        (
            "tasks/mcqa.yaml",
            "sample.answer | length",
            "scores.string_equals_mcqa.is_corect",
            ":",
            'did you mean "is_correct"',
        ),
        ("tasks/mcqa.yaml", "ground_truth_correct_choice", "ground_truth_corect_choice", ":", "produces no field"),
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
    assert 'string_equals scores a chat reply, but the model "own" has task: custom' in shown.err


MISTAKES = {
    "run file": [
        ("run.yaml", "dataset_generators:", "dataset_generator:", 8, 'did you mean "dataset_generators"'),
        ("run.yaml", "models/parrot.yaml", "models/parot.yaml", 6, 'did you mean "models/parrot.yaml"'),
        ("run.yaml", 'operator: ">="', 'operator: "=>"', 41, "expected one of >, >=, =, <, <="),
        ("run.yaml", "_keys: [quiz]", "_keys: [quizz]", 42, 'did you mean "quiz"'),
        ("run.yaml", "config: {model: pilot,", "config: {modell: pilot,", 48, 'did you mean "model"'),
        ("run.yaml", "cache_policy: reuse", "cache_policy: reus", 49, 'did you mean "reuse"'),
    ],
    "evaluation": [
        ("evaluations/harbour.yaml", "task_key: capital", "task_key: capitol", 17, 'did you mean "capital"'),
        ("evaluations/harbour.yaml", "{num_runs: 2}\n    i", "{num_runs: 1}\n    i", 29, "expected a number >= 2"),
        ("evaluations/harbour.yaml", "_key: harbour,", "_key: harbor,", 30, 'did you mean "harbour"'),
        ("evaluations/harbour.yaml", "_key: quiz}", "_key: quizz}", 30, 'did you mean "quiz"'),
        ("evaluations/harbour.yaml", "    inputs: ", "    input: ", 30, 'did you mean "inputs"'),
        ("evaluations/harbour.yaml", "config: {num_runs", "config: {num_run", 29, 'did you mean "num_runs"'),
    ],
    "generator": [
        ("dataset_generators/one.yaml", "type: empty", "type: emtpy", 5, 'did you mean "empty"'),
        ("dataset_generators/one.yaml", "type: empty", "type: empty, num_samples: 0", 5, "expected a number >= 1"),
        ("dataset_generators/one.yaml", "type: template", "type: templat", 7, 'did you mean "template"'),
        ("dataset_generators/voyages.yaml", "config.tides >>]", "config.tide >>]", 13, 'did you mean "tides"'),
        ("dataset_generators/voyages.yaml", "columns: [level", "column: [level", 18, 'did you mean "columns"'),
        ("code/voyage.py", "def synthesize", "def sythesize", 1, 'did you mean "synthesize"'),
    ],
    "generated dataset": [
        ("datasets/voyages.yaml", "_key: voyages", "_key: voyage", 5, 'did you mean "voyages"'),
        ("datasets/voyages.yaml", "{mood: rough}", "{moood: rough}", 5, 'did you mean "mood"'),
        ("datasets/voyages.yaml", "num_samples: 6", "num_samples: six", 7, "expected a whole number"),
        ("datasets/voyages.yaml", "include_io: false", "include_io: perhaps", 8, "expected true or false"),
        ("datasets/voyages.yaml", "long_description", "long_descripton", 3, 'did you mean "long_description"'),
    ],
    "model": [
        ("models/pilot.yaml", "chat_completion}", "chat_completions}", 12, "openai_chat_completion"),
        ("models/pilot.yaml", "task: chat_completion", "task: chat", 4, "expected one of chat_completion, embeddings"),
        ("models/pilot.yaml", "custom_connection", "custom_conection", 8, 'did you mean "custom_connection"'),
        ("models/pilot.yaml", "rate_limit: 6000", "rate_limit: -1", 5, "expected a number >= 1"),
        ("models/adapted.yaml", "harbour_adapter", "harbor_adapter", 7, 'did you mean "harbour_adapter"'),
        ("models/parrot.yaml", "timeout: 20", "timeout: soon", 8, "expected a number"),
        ("models/adapted.yaml", "  model_key", "  tls_context: {validation_context: {trusted_ca: nope}}\n  model_key",
         6, "expected a certificate in PEM format, encoded in base64"),
    ],
    "adapter": [
        ("model_adapters/harbour.yaml", "jinja\n  source", "jinjaa\n  source", 5, 'did you mean "jinja"'),
        ("model_adapters/harbour.yaml", "process_output:", "proces_output:", 7, 'did you mean "process_output"'),
        ("model_adapters/harbour.yaml", "display_name: Harbour adapter\n", "", 1, 'missing field "display_name"'),
        ("model_adapters/harbour.yaml", "source_code", "source_cod", 6, 'did you mean "source_code"'),
        ("model_adapters/harbour.yaml", "code/adapter_in.jinja", "code/adapter_inn.jinja", 6, "adapter_in.jinja"),
    ],
    "conversation": [
        ("tasks/radio.yaml", "max_iterations: 0", "max_iterations: -1", 14, "expected a number >= 0"),
        ("tasks/radio.yaml", "on_max_iterations: continue", "on_max_iterations: go", 19, "one of error, continue"),
        ("tasks/radio.yaml", "- type: generate\n", "- type: generat\n", 27, 'did you mean "generate"'),
        ("tasks/radio.yaml", "output_role: user", "output_role: usr", 23, 'did you mean "user"'),
        ("tasks/resumed.yaml", "type: load_trace", "type: load_trac", 11, 'did you mean "load_trace"'),
        ("tasks/resumed.yaml", "trace_column: log", "trace_colum: log", 11, 'did you mean "trace_column"'),
    ],
    "scorer and metric": [
        ("tasks/mcqa.yaml", "choices: ", "choises: ", 21, 'did you mean "choices"'),
        ("tasks/mcqa.yaml", "field: is_correct", "field: is_corect", 23, 'did you mean "is_correct"'),
        ("tasks/mcqa.yaml", "binary-class", "binary-clas", 25, 'did you mean "binary-classification"'),
        ("tasks/mcqa.yaml", "positive_answer", "positiv_answer", 28, 'did you mean "positive_answer"'),
        ("tasks/mcqa.yaml", "sample.options", "sample.option", 21, 'did you mean "options"'),
        ("tasks/log_review.yaml", "mode: in_order", "mode: inorder", 10, 'did you mean "in_order"'),
    ],
    "filter and action": [
        ("tasks/mcqa.yaml", "op: less_than", "op: less_then", 33, 'did you mean "less_than"'),
        ("tasks/mcqa.yaml", "from_metrics", "from_metric", 32, 'did you mean "exclude_from_metrics"'),
        ("tasks/mcqa.yaml", "sample.answer | l", "sample.answr | l", 33, 'did you mean "answer"'),
        ("tasks/mcqa.yaml", "answer | length", "answer | lenght", 33, 'Did you mean "length"'),
        ("tasks/mcqa.yaml", ", value: 6", "", 33, '"less_than" needs "value"'),
        ("datasets/northern.yaml", "op: exists", "op: exist", 8, 'did you mean "exists"'),
    ],
    "trials": [
        ("tasks/capital.yaml", "pass@k", "pas@k", 28, 'did you mean "pass@k"'),
        ("tasks/capital.yaml", "num_trials: 2", "num_trials: 1", 26, "expected a number >= 2"),
        ("tasks/capital.yaml", "field: pass_2", "field: pass_3", 19, 'did you mean "pass_2"'),
        ("tasks/capital.yaml", ", k: 2", "", 28, 'pass@k needs "k"'),
        ("tasks/capital.yaml", "score_aggregators", "score_agregators", 27, 'did you mean "score_aggregators"'),
    ],
    "code": [
        ("code/typed.py", "def compute_scores", "def compute_score", 4, 'did you mean "compute_scores"'),
        ("code/typed.py", "-> SampleScore:", "-> SampleScore", 4, "not Python: expected ':'"),
        ("tasks/papers.yaml", "def compute_evidence", "def compute_evidenc", 10, 'did you mean "compute_evidence"'),
        ("code/parrot.py", "(body, environment, sample)", "(body, *, sample)", 4, "expected run_inference(body, env"),
        ("tasks/capital.yaml", "code/typed.py", "code/type.py", 22, "typed.py"),
    ],
}  # fmt: skip
"""At least five mistakes of every class of feature: file, text, the same text with the mistake, line and words."""


@pytest.mark.parametrize("mistake", [mistake for listed in MISTAKES.values() for mistake in listed])
def test_a_mistake_names_its_line_and_what_was_expected(changed, monkeypatch, mistake):
    name, before, after, line, words = mistake
    monkeypatch.setenv("PILOT_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PILOT_KEY", "k")
    project = changed(name, before, after)
    monkeypatch.chdir(project.folder)
    problems = check_files([Path()], registry()).problems
    shown = "\n".join(map(str, problems))
    assert any(problem.place and problem.place.line == line and words in str(problem) for problem in problems), shown
    assert all(problem.place is not None for problem in problems), shown
    assert len(problems) <= 2, shown


def test_every_class_of_feature_has_five_mistakes():
    assert all(len(listed) >= 5 for listed in MISTAKES.values())

"""Fields that AI GO! files have, one by one: each is accepted and does what it says."""

import base64
import json
import ssl
import subprocess

import pytest

from assay.errors import SpecError
from assay.models.tls import tls_context
from assay.spec.model import TlsSettings, load_model
from assay.spec.run_file import load_run

SHIPS = "key: ships\ndisplay_name: Ships\nsource: {type: local, file_path: ships.csv}\n"


@pytest.fixture
def ships(project):
    project.write("ships.yaml", SHIPS)
    project.write("ships.csv", "ship,port\nAlda,Faro\nBryn,Cork\n")
    return project


def task(solver, scorers, dataset="{key: ships}"):
    return json.dumps(
        {"key": "t", "display_name": "T", "definition": {"dataset": "D", "solver": solver, "scorers": scorers}}
    ).replace('"D"', dataset.replace("{key: ships}", '{"key": "ships"}'))


RIGHT = [{"type": "string_equals", "ground_truth": "{{ sample.ship }}"}]


def test_a_conversation_without_generate_needs_no_model(ships):
    builders = [{"type": "chat_message", "role": "user", "content": "{{ sample.ship }}"}]
    ships.write("t.yaml", task({"type": "multi_turn_solver", "message_builders": builders}, RIGHT))
    shown = ships.assay("run", "t.yaml", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["model"] is None
    assert shown.json["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 1.0
    assert ships.assay("run", "t.yaml", "--model", "scripted/x.jsonl").code == 2


def test_a_conversation_without_generate_may_ask_another_model(ships):
    ships.write("captain.jsonl", [{"reply": "Alda"}])
    message = {
        "type": "generate_message",
        "model_key": "scripted/captain.jsonl",
        "extra_input_messages": [{"type": "chat_message", "role": "user", "content": "Which?"}],
    }
    ships.write("t.yaml", task({"type": "multi_turn_solver", "message_builders": [message]}, RIGHT))
    shown = ships.assay("run", "t.yaml", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 0.5


@pytest.mark.parametrize("calls", ['["look"]', '[{"name": "look", "arguments": {"x": 1}}]', "{{ ['look'] }}"])
def test_function_calls_may_be_json_text(project, calls):
    log = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": '{"x": 1}'}}],
        }
    ]
    project.write("data.jsonl", [{"log": log}])
    scorer = {"type": "function_call_coverage", "function_calls": calls}
    solver = {"type": "pass_through_solver", "trace_column": "log"}
    project.write("t.yaml", task(solver, [scorer], '{"source": {"type": "local", "file_path": "data.jsonl"}}'))
    shown = project.assay("run", "t.yaml", "--json")
    assert shown.code == 0, shown.err
    values = [value for metric in shown.json["scorers"][0]["metrics"] for value in metric["values"].items()]
    assert any("coverage" in name and value["value"] == 1.0 for name, value in values)


def test_a_json_trace_in_text_is_a_trace(project):
    trace = {
        "FORMAT": "open_responses",
        "items": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Alda"}]}],
    }
    project.write(
        "data.jsonl", [{"log": json.dumps(trace), "ship": "Alda"}, {"log": '{"ship": 1}', "ship": '{"ship": 1}'}]
    )
    solver = {"type": "pass_through_solver", "trace_column": "log"}
    project.write("t.yaml", task(solver, RIGHT, '{"source": {"type": "local", "file_path": "data.jsonl"}}'))
    shown = project.assay("run", "t.yaml", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 1.0


def test_a_part_of_an_unknown_type_is_a_failure_with_the_nearest_name(project):
    items = [{"type": "message", "role": "assistant", "content": [{"type": "outputtext", "value": "Alda"}]}]
    good = [{"role": "assistant", "content": "Bryn"}]
    project.write("data.jsonl", [{"log": {"items": items}, "ship": "Alda"}, {"log": good, "ship": "Bryn"}])
    solver = {"type": "pass_through_solver", "trace_column": "log"}
    project.write("t.yaml", task(solver, RIGHT, '{"source": {"type": "local", "file_path": "data.jsonl"}}'))
    shown = project.assay("run", "t.yaml", "--json", "--max-failures", "1")
    assert shown.json["n_failed"] == 1
    (failed,) = project.assay("samples", "--failed", "--json").lines
    assert 'unknown type "outputtext"; did you mean "output_text"?' in failed["failures"][0]["detail"]


def test_old_names_of_dataset_keys_are_taken_with_a_line(ships):
    solver = {"type": "pass_through_solver", "trace_column": "ship"}
    ships.write("t.yaml", task(solver, RIGHT, '{"dataset_key": "ships"}'))
    shown = ships.assay("run", "t.yaml", "--json")
    assert shown.code == 0, shown.err
    assert shown.err.count('deprecated: "dataset_key" is now "key"') == 1
    generator = {
        "key": "g",
        "display_name": "G",
        "definition": {
            "dataset": {"type": "dataset_sample_combinations", "dataset_keys": ["ships", "ships"]},
            "synthesizers": [{"type": "empty"}],
        },
    }
    ships.write("g.yaml", json.dumps(generator))
    shown = ships.assay("check", "g.yaml")
    assert shown.code == 0, shown.out
    assert 'deprecated: "dataset_keys" is now "keys"' in shown.err


def test_fields_of_the_platform_are_noted(project):
    generator = {
        "key": "g",
        "display_name": "G",
        "definition": {
            "dataset": {"type": "task_result", "ai_app_key": "app", "key": "x"},
            "synthesizers": [{"type": "empty"}],
        },
    }
    project.write("g.yaml", json.dumps(generator))
    shown = project.assay("check", "g.yaml")
    assert shown.code == 0, shown.out
    assert '"ai_app_key" is not used' in shown.err


@pytest.mark.parametrize(
    ("debug", "kept"),
    [
        (True, ["n_failed", "n_in", "n_out", "synthesizer"]),
        ({"enabled": True, "include_io": True}, ["input", "n_failed", "n_in", "n_out", "output", "synthesizer"]),
        ({"enabled": False, "include_io": True}, None),
        (False, None),
    ],
)
def test_debug_keeps_what_synthesizers_took_and_gave(project, debug, kept):
    generator = {
        "key": "g",
        "display_name": "G",
        "definition": {"dataset": {"type": "empty"}, "synthesizers": [{"type": "template", "template": "hello"}]},
    }
    project.write("g.yaml", json.dumps(generator))
    specification = {"dataset_generator_key": "g", "num_samples": 1, "debug": debug}
    project.write("d.yaml", json.dumps({"key": "d", "display_name": "D", "generator_specification": specification}))
    shown = project.assay("generate", "d.yaml", "--json")
    assert shown.code == 0, shown.err
    if kept is None:
        assert "debug" not in shown.json
    else:
        assert [sorted(entry) for entry in shown.json["debug"]] == [kept]


@pytest.fixture
def certificate(tmp_path):
    """A certificate that nobody else trusts, as PEM in base64."""
    made = tmp_path / "own.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=own",
        "-keyout",
        "/dev/null",
        "-out",
        str(made),
    ]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("openssl is not there")
    return base64.b64encode(made.read_bytes()).decode()


def test_a_trusted_certificate_is_added_to_the_usual_ones(certificate):
    settings = TlsSettings.model_validate({"validation_context": {"trusted_ca": certificate}})
    context = tls_context("https://host/", settings, {})
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert any(("commonName", "own") in part for entry in context.get_ca_certs() for part in entry["subject"])


def test_untrusted_chains_are_accepted_where_the_file_says_so():
    settings = TlsSettings.model_validate({"validation_context": {"trust_chain_verification": "accept_untrusted"}})
    assert tls_context("https://host/", settings, {}).verify_mode == ssl.CERT_NONE


def test_a_certificate_that_is_none_is_told_at_its_place(project):
    config = {"url": "https://host/v1", "tls_context": {"validation_context": {"trusted_ca": "bm9wZQ=="}}}
    path = project.write("m.yaml", json.dumps({"key": "m", "display_name": "M", "config": config}))
    with pytest.raises(SpecError, match=r"m\.yaml:1:\d+: .*expected a certificate in PEM format"):
        load_model(path)


def test_a_certificate_may_be_a_secret(project, certificate, monkeypatch):
    monkeypatch.setenv("OWN_CA", certificate)
    config = {"url": "https://host/v1", "tls_context": {"validation_context": {"trusted_ca": "<< secrets.OWN_CA >>"}}}
    path = project.write("m.yaml", json.dumps({"key": "m", "display_name": "M", "config": config}))
    assert load_model(path).config.tls_context.validation_context.certificate.startswith("-----BEGIN")


def test_a_repeatability_specification_may_have_its_own_number_of_samples(ships):
    builders = [{"type": "chat_message", "role": "user", "content": "{{ sample.ship }}"}, {"type": "generate"}]
    ships.write("t.yaml", task({"type": "multi_turn_solver", "message_builders": builders}, RIGHT))
    ships.write("replies.jsonl", [{"reply": "Alda"}])
    specifications = [
        {"task_key": "t", "model_key": "scripted/replies.jsonl"},
        {
            "type": "repeatability",
            "key": "again",
            "num_samples": 1,
            "repeatability_config": {"num_runs": 2},
            "inputs": [{"evaluation_key": "e"}],
        },
    ]
    ships.write(
        "run.yaml", json.dumps({"evaluation": {"key": "e", "display_name": "E", "task_specifications": specifications}})
    )
    shown = ships.assay("run", "run.yaml", "--json")
    assert shown.code == 0, shown.err
    first, again = shown.json["results"]
    assert (first["n_samples"], again["n_samples"]) == (2, 1)
    assert len(set(again["repeatability"]["runs"])) == 2
    assert first["run"] not in again["repeatability"]["runs"]


OTHER_NAMES = """
key: t
display_name: T
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - type: string_equals_mcqa
      ground_truth_choice: "{{ sample.right }}"
      choices: [A, B]
      metrics:
        - type: python
          compute_metrics_snippet: |
            def compute_metrics(scores):
                names = [(s["ground_truth_correct_choice"], s["ground_truth_choices"]) for s in scores]
                return {"n": names.count(("A", ["A", "B"]))}
  actions:
    - key: wrong
      action: exclude_from_metrics
      filter:
        op: is_true
        expression: >-
          {{ scores.string_equals_mcqa.ground_truth_correct_choice != scores.string_equals_mcqa.predicted_choice }}
"""


def test_other_names_of_multiple_choice_metadata_work_in_filters_and_code(project):
    project.write("data.jsonl", [{"reply": "A", "right": "A"}, {"reply": "B", "right": "A"}])
    project.write("t.yaml", OTHER_NAMES)
    shown = project.assay("run", "t.yaml", "--allow-code", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["excluded"] == {"wrong": 1}
    assert shown.json["scorers"][0]["metrics"][0]["values"]["n"]["value"] == 1


def test_an_unset_secret_inside_a_run_file_is_told(project):
    config = {"url": "https://host/v1", "api_key": "<< secrets.NOT_SET_ANYWHERE >>"}
    path = project.write("run.yaml", json.dumps({"models": [{"key": "m", "display_name": "M", "config": config}]}))
    assert any("NOT_SET_ANYWHERE" in problem.message for problem in load_run(path, strict=True).problems)

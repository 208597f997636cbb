"""`--log-file` and `-v` of commands that call models, against a real server."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def events(project):
    def read():
        text = (project.folder / "run.log").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    return read


def named(events, name):
    return [event for event in events if event["event"] == name]


def test_every_attempt_is_in_the_log_with_its_run_sample_and_number(cli, live, loopback, events):
    live(8)
    loopback.configure(fail_first=3, fail_status=500)
    said = cli("run", "task.yaml", "--model", "stub", "--log-file", "run.log", "--json")
    assert said.code == 0, said.err
    calls = named(events(), "call")
    assert len(calls) == loopback.stats()["served"] == 11
    assert {call["run"] for call in calls} == {said.json["run"]}
    by_sample = {}
    for call in calls:
        by_sample.setdefault(call["sample"], []).append((call["attempt"], call["status"], call.get("http")))
    assert len(by_sample) == 8
    for attempts in by_sample.values():
        *refused, last = attempts
        assert last == (len(attempts), "ok", None)
        assert refused == [(number, "failed", 500) for number in range(1, len(attempts))]
    assert len(named(events(), "retry")) == 3
    # one digest per question, whatever the attempt
    assert len({call["call"] for call in calls}) == 8


def test_a_run_is_logged_from_start_to_end(cli, live, events):
    live(4)
    assert cli("run", "task.yaml", "--model", "stub", "--log-file", "run.log").code == 0
    names = [event["event"] for event in events()]
    assert names[0] == "run started"
    assert names[-1] == "run finished"
    assert sum(event["samples"] for event in named(events(), "commit")) == 4
    assert cli("run", "task.yaml", "--model", "stub", "--log-file", "run.log").code == 0
    assert [event["event"] for event in events()][len(names) :] == ["run reused", "run finished"]


def test_the_numbers_with_a_log_are_those_without(cli, live):
    live(12)
    options = ("run", "task.yaml", "--model", "stub", "--fresh", "--json")
    plain, logged = cli(*options).json, cli(*options, "--log-file", "run.log", "-vv").json
    assert logged["scorers"] == plain["scorers"]


def test_a_key_that_the_server_repeats_is_never_in_the_log(cli, live, loopback, project):
    live(2)
    loopback.configure(api_key="another")
    said = cli("run", "task.yaml", "--model", "stub", "--log-file", "run.log", "-vv")
    assert said.code == 3
    log = (project.folder / "run.log").read_text()
    assert '"http": 401' in log
    assert "sk-loopback" not in log + said.err + said.out


def test_a_sample_that_fails_is_logged_with_its_reason(cli, recorded, events):
    assert cli("run", "task.yaml", "--log-file", "run.log").code == 3
    failures = named(events(), "failure")
    failed = cli("samples", "--failed", "--json").lines
    assert len(failed) > 0
    assert {event["sample"] for event in failures} == {sample["sample_id"] for sample in failed}
    assert all(event["level"] == "warning" and event["detail"] for event in failures)


def test_verbose_prints_the_start_and_the_end_on_stderr(cli, live):
    live(2)
    said = cli("run", "task.yaml", "--model", "stub", "-v", "-q", "--json")
    lines = said.err.splitlines()
    assert [" ".join(line.split()[1:4]) for line in lines] == ["info run started", "info run finished"]
    assert said.json["run"] in lines[0]


def test_a_log_file_in_a_folder_that_does_not_exist_stops_the_command_before_any_call(cli, live, loopback):
    live(2)
    said = cli("run", "task.yaml", "--model", "stub", "--log-file", "gone/run.log")
    assert said.code == 2
    assert said.err == "cannot write the log file gone/run.log: No such file or directory\n"
    assert loopback.stats()["served"] == 0


def test_a_sample_id_that_holds_a_key_is_hidden(cli, live, project):
    live(1)
    project.write("data.jsonl", [{"sample_id": "id-sk-loopback", "question": "Question 0?", "answer": "A"}])
    assert cli("run", "task.yaml", "--model", "stub", "--log-file", "run.log").code == 0
    log = (project.folder / "run.log").read_text()
    assert "sk-loopback" not in log
    assert '"id-[hidden]"' in log


@pytest.mark.parametrize(
    "arguments",
    [
        ("grade", "rubric.yaml", "texts.jsonl", "--judge", "model.yaml"),
        ("audit", "rubric.yaml", "--submissions", "texts.jsonl", "--judge", "model.yaml", "--yes", "--probe", "noise"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_calls_of_judges_are_logged_with_their_samples(cli, live, loopback, project, events, arguments):
    live(1)
    project.write("rubric.yaml", "- {name: polite, requirement: Is polite.}")
    project.write("texts.jsonl", [{"text": f"Letter {n} [[reply: MET]]"} for n in range(4)])
    cli(*arguments, "--log-file", "run.log")
    calls = named(events(), "call")
    assert len(calls) == loopback.stats()["served"] >= 4
    assert all(call["run"] and call["sample"] and call["attempt"] >= 1 for call in calls)
    assert {call["purpose"] for call in calls} == {"judge"}


def test_the_calls_that_generate_a_dataset_are_logged(cli, live, loopback, project, events):
    live(3)
    prompt = '{{ source.question }} [[reply: {"samples": [{"made": "{{ source.answer }}"}]}]]'
    asks = {"type": "llm", "model_key": "stub", "user_prompt_template": prompt, "sample_properties": {"made": "a word"}}
    parts = {"dataset": {"type": "dataset_samples", "key": "rows"}, "synthesizers": [asks]}
    source = {"source": {"type": "local", "file_path": "data.jsonl"}}
    generated = {"generator_specification": {"dataset_generator_key": "asking", "num_samples": 3}}
    generator = {"key": "asking", "display_name": "Asking", "description": "Asks a model", "definition": parts}
    project.write("asking.yaml", json.dumps(generator))
    project.write("rows.yaml", json.dumps({"key": "rows", "display_name": "Rows", **source}))
    project.write("made.yaml", json.dumps({"key": "made", "display_name": "Made", **generated}))
    said = cli("generate", "made.yaml", "--log-file", "run.log")
    assert said.code == 0, said.err
    calls = named(events(), "call")
    assert len(calls) == loopback.stats()["served"] == 3
    assert {call["purpose"] for call in calls} == {"generate"}
    assert {event["run"] for event in events()} == {calls[0]["run"]}
    assert [events()[0]["event"], events()[-1]["event"]] == ["run started", "run finished"]


def test_a_run_that_reached_its_cost_limit_is_logged_as_partial_and_then_as_resumed(cli, live, events):
    live(40)
    options = ("run", "task.yaml", "--model", "stub", "--max-concurrency", "1", "--log-file", "run.log")
    assert cli(*options, "--max-cost", "0.0003").code == 3
    assert events()[-1]["status"] == "partial"
    assert cli(*options).code == 0
    first, second = (event["event"] for event in events() if event["event"] in ("run started", "run resumed"))
    assert (first, second) == ("run started", "run resumed")
    assert len({event["run"] for event in events()}) == 1


def test_a_parameter_that_the_endpoint_rejects_is_logged(cli, live, loopback, events):
    live(2)
    loopback.configure(reject_parameter="temperature")
    assert cli("run", "task.yaml", "--model", "stub", "--max-concurrency", "1", "--log-file", "run.log").code == 0
    [changed] = named(events(), "request changed")
    assert changed["http"] == 400
    assert "temperature" in changed["detail"]


def test_waiting_for_a_rate_limit_is_logged(cli, live, events):
    # one call a second at first: the second of two has to wait
    live(2, rate_limit=60)
    assert cli("run", "task.yaml", "--model", "stub", "--log-file", "run.log").code == 0
    waits = named(events(), "rate limit")
    assert len(waits) == 1
    assert 0 < waits[0]["wait_s"] <= 1

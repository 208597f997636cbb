from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import json
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from assay.errors import MissingExtra, SpecError
from assay.models.client import CallError, ModelRejected
from assay.models.connect import connect
from assay.models.local import PULLABLE, _Heard, _joined, connect_local, models_folder
from assay.types import Request, Sampling

MODEL = models_folder() / PULLABLE["smollm2"].file
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "size": {"enum": ["small", "large"]}},
    "required": ["city", "size"],
    "additionalProperties": False,
}


def _asks(text, **more):
    sampling = Sampling(**more.pop("sampling", {}))
    return Request(messages=({"type": "message", "role": "user", "content": text},), sampling=sampling, **more)


@pytest.fixture(scope="module")
def runner():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def connection(runner):
    pytest.importorskip("xllamacpp")
    if not MODEL.is_file():
        pytest.skip("SmolLM2 is not here: assay pull smollm2")
    made = connect_local("local/smollm2", Path())
    yield made
    runner.run(made.close())


@pytest.fixture(scope="module")
def answer(runner, connection):
    return lambda *words, **more: runner.run(connection.client.ask(_asks(*words, **more)))


def test_it_answers_and_counts_its_tokens(answer):
    reply = answer("Why is the sky blue?", sampling={"max_tokens": 30, "temperature": 0.0})
    assert len(reply.text.split()) > 5
    assert reply.finish_reason == "length"
    assert reply.usage.completion_tokens == 30
    assert reply.usage.prompt_tokens > 5
    assert reply.latency_s > 0
    assert reply.items == ({"type": "message", "role": "assistant", "content": reply.text},)


def test_the_same_question_gets_the_same_answer_whatever_was_asked_in_between(answer):
    first = answer("Name three colors.", sampling={"max_tokens": 12})
    answer("Name three colors of the rainbow.", sampling={"max_tokens": 4})
    assert answer("Name three colors.", sampling={"max_tokens": 12}).text == first.text


def test_a_schema_is_kept_to(answer):
    reply = answer("Describe Paris as JSON with city and size.", schema=CITY, sampling={"max_tokens": 60})
    assert reply.finish_reason == "stop"
    said = json.loads(reply.text)
    assert set(said) == {"city", "size"}
    assert said["size"] in ("small", "large")


def test_a_stop_text_ends_the_reply_and_a_seed_repeats_it(answer):
    drawn = {"temperature": 1.5, "seed": 4, "max_tokens": 10}
    assert answer("Tell a story.", sampling=drawn).text == answer("Tell a story.", sampling=drawn).text
    stopped = answer("Count: 1, 2, 3.", sampling={"stop": (" ",), "max_tokens": 20})
    assert (stopped.finish_reason, " " in stopped.text.strip()) == ("stop", False)


def test_a_prompt_that_is_too_long_fails_with_the_reason(answer):
    with pytest.raises(CallError, match="exceeds the available context size") as raised:
        answer("word " * 9000)
    assert (raised.value.failure.kind, raised.value.failure.retryable) == ("http", False)


def test_a_message_that_it_cannot_read_fails_with_the_reason(runner, connection):
    with pytest.raises(CallError, match="llama.cpp refuses the request"):
        runner.run(connection.client.ask(Request(messages=({"role": "user", "content": 5},))))


@pytest.mark.parametrize("text", ["Tell me a very long story.", "word " * 4000])
def test_a_call_that_is_cancelled_makes_room_at_once(runner, connection, text):
    async def impatient():
        asking = connection.client.ask(_asks(text, sampling={"max_tokens": 6000, "temperature": 1.0}))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asking, timeout=0.5)
        started = time.monotonic()
        await connection.client.ask(_asks("hi", sampling={"max_tokens": 1}))
        return time.monotonic() - started

    assert runner.run(impatient()) < 15, "the whole story would take a minute and more"


def test_effort_is_left_out_with_a_note(answer, connection):
    answer("hi", sampling={"max_tokens": 1, "reasoning_effort": "low"})
    assert connection.notes == ("local/smollm2 does not know reasoning_effort; it was left out",)


def test_nobody_else_is_answered_on_its_port(answer, connection):
    answer("hi", sampling={"max_tokens": 1})
    address = connection.client._model.listening_address
    with pytest.raises(urllib.error.HTTPError, match="401") as raised:
        urllib.request.urlopen(address + "/v1/models", timeout=10)
    raised.value.close()


def test_its_identity_names_the_file_and_one_call_goes_at_a_time(connection):
    assert connection.identity["content"] == PULLABLE["smollm2"].sha256
    assert (connection.identity["context"], connection.identity["threads"]) == (8192, 1)
    assert (connection.limits.concurrent, connection.limits.declared) == (1, True)
    assert connection.sampling == Sampling(temperature=0.0, max_tokens=256)


def test_a_task_runs_on_it_for_nothing_and_is_remembered(project, connection):
    project.write(
        "task.yaml",
        """key: t
display_name: t
definition:
  dataset: {source: {type: inline_samples, samples: [{q: Name a color.}, {q: Name a city.}]}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.q }}"}]}
    sampling: {max_tokens: 6}
  scorers: [{type: regex, pattern: "[a-z]"}]
""",
    )
    words = ("run", "task.yaml", "--model", "local/smollm2", "--max-cost", "0", "--json")
    outcome = project.assay(*words, ASSAY_MODELS=str(models_folder()))
    assert outcome.code == 0, outcome.err
    assert outcome.json["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 1.0
    assert outcome.json["cost_usd"] == 0
    assert 0 < outcome.json["usage"]["completion_tokens"] <= 12
    assert project.assay(*words, ASSAY_MODELS=str(models_folder())).json["n_cached"] == 2


def test_a_file_that_only_looks_like_a_model_stops_the_run_with_one_message(tmp_path):
    pytest.importorskip("xllamacpp")
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + b"x" * 100)

    async def go():
        connection = connect("local/bad.gguf", root=tmp_path, environment={})
        try:
            with pytest.raises(ModelRejected, match=r"llama\.cpp cannot load .*bad\.gguf"):
                await connection.client.ask(_asks("hi"))
        finally:
            await connection.close()

    asyncio.run(go())


def test_a_model_that_was_never_asked_closes_without_being_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "1.0")
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    connection = connect_local("local/own.gguf", tmp_path)
    assert connection.identity["content"] == hashlib.sha256(b"GGUF").hexdigest()
    asyncio.run(connection.close())


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("local/smollm2", "assay pull smollm2"),
        ("local/smolm2", 'did you mean "local/smollm2"'),
        ("local/llama", "any local/PATH.gguf"),
        ("local/none.gguf", "No such file"),
        ("local/text.gguf", "is not a GGUF file"),
    ],
)
def test_what_is_not_there_is_told_before_the_run(tmp_path, monkeypatch, reference, words):
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path))
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(SpecError) as raised:
        connect_local(reference, tmp_path)
    assert words in str(raised.value)


def test_a_damaged_model_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path))
    (tmp_path / MODEL.name).write_bytes(b"GGUF")
    with pytest.raises(SpecError, match="is damaged"):
        connect_local("local/smollm2", tmp_path)


def test_without_the_extra_the_command_to_install_it_is_given(tmp_path, monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    with pytest.raises(MissingExtra, match=r"pip install 'assay\[local\]'"):
        connect_local("local/own.gguf", tmp_path)


@pytest.mark.parametrize("threads", ["0", "many", "-1", "1000"])
def test_a_wrong_number_of_threads_is_told(tmp_path, monkeypatch, threads):
    monkeypatch.setenv("ASSAY_LOCAL_THREADS", threads)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "1.0")
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    with pytest.raises(SpecError, match="ASSAY_LOCAL_THREADS"):
        connect_local("local/own.gguf", tmp_path)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"ASSAY_MODELS": "/models", "XDG_CACHE_HOME": "/cache"}, Path("/models")),
        ({"XDG_CACHE_HOME": "/cache"}, Path("/cache/assay/models")),
        ({}, Path.home() / ".cache" / "assay" / "models"),
    ],
)
def test_where_models_lie(environment, folder):
    assert models_folder(environment) == folder


def test_a_reply_is_put_together_from_its_pieces():
    deltas = [
        {"role": "assistant", "content": None},
        {"reasoning_content": "hm"},
        {"content": "a"},
        {"tool_calls": [{"index": 0, "id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]},
        {},
    ]
    call = {"id": "1", "function": {"name": "f", "arguments": '{"x": 1}'}}
    assert _joined(deltas) == {"role": "assistant", "content": "a", "reasoning_content": "hm", "tool_calls": [call]}
    assert _joined(deltas[3:4])["content"] is None
    assert _joined([{"role": "assistant", "content": None}])["content"] == ""


def test_a_reply_that_was_stopped_is_no_answer():
    import threading

    closing = threading.Event()
    heard = _Heard(closing)
    assert heard({"choices": [{"delta": {"content": "a"}, "finish_reason": None}]}) is False
    closing.set()
    assert heard({"choices": [{"delta": {"content": "b"}, "finish_reason": None}]}) is True
    with pytest.raises(CallError, match="the reply was stopped"):
        heard.reply(0.1)

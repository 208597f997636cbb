"""Models that are a function: asked like any other, run in the sandbox."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time

import pytest

from assay.errors import SpecError
from assay.models.client import CallError
from assay.models.connect import connect
from assay.sandbox.linux import unsupported

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")


@pytest.fixture
def model(tmp_path):
    """A model whose function has this body."""
    (tmp_path / ".assay").mkdir()

    def make(body: str, *, head="def run_inference(body, environment, sample=None):", allowed=True, **config):
        source = f"import asyncio, json, os, socket, time\n{head}\n"
        source += "".join(f"    {line}\n" for line in body.splitlines())
        given = {"connection_type": "custom_inference", "run_inference_snippet": source, "timeout": 2, **config}
        file = {"key": "mine", "display_name": "Mine", "secrets": {"s": "$TOKEN"}, "config": given}
        (tmp_path / "model.yaml").write_text(json.dumps(file))
        made = connect("mine", root=tmp_path, environment={"TOKEN": "sk-canary-1234"})
        if allowed:
            made.client.allow(trusted=False)
        return made

    return make


def ask(connection, *requests):
    async def all_of_them():
        try:
            asked = (connection.client.ask(request) for request in requests)
            return await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await connection.close()

    return asyncio.run(all_of_them())


LAST = "text = body['messages'][-1]['content']\n"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return text.upper()", "HI"),
        ("return {'choices': [{'message': {'role': 'assistant', 'content': 'B'}}]}", "B"),
        ("return json.dumps({'choices': [{'message': {'content': 'B'}}]})", "B"),
        ("return {'items': [{'type': 'message', 'role': 'assistant', 'content': 'C'}]}", "C"),
        ("return '{\"a\": 1}'", '{"a": 1}'),
        ("return environment['NAME'] + str(sample)", "AnnNone"),
    ],
)
def test_the_function_answers_in_any_of_its_ways(model, question, body, text):
    (reply,) = ask(model(LAST + body, environment={"NAME": "Ann"}), question("hi"))
    assert reply.text == text
    assert reply.latency_s > 0


def test_coroutines_answer_too_and_usage_is_counted(model, question):
    body = "await asyncio.sleep(0)\nusage = {'prompt_tokens': 3, 'completion_tokens': 2}\n"
    body += "return {'choices': [{'message': {'content': 'A'}}], 'usage': usage}"
    (reply,) = ask(model(body, head="async def run_inference(body, environment):"), question("hi"))
    assert (reply.text, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("A", 3, 2)


def test_what_the_file_lists_is_all_of_the_environment(model, question):
    made = model(
        "return ' '.join([environment['A'], environment['B'], str('TOKEN' in os.environ)])",
        environment={"A": "$TOKEN", "B": "<< secrets.s >>"},
    )
    assert ask(made, question("hi"))[0].text == "sk-canary-1234 sk-canary-1234 False"
    assert "canary" not in json.dumps(made.identity)


def test_functions_that_wait_are_called_at_the_same_time(model, question):
    made = model(LAST + "time.sleep(0.5)\nreturn text")
    started = time.monotonic()
    replies = ask(made, *(question(str(n)) for n in range(20)))
    assert [reply.text for reply in replies] == [str(n) for n in range(20)]
    assert time.monotonic() - started < 5


def test_errors_are_failures_of_the_call_without_secrets(model, question):
    body = LAST + "if text == 'boom': raise ValueError(environment['TOKEN'])\nreturn text"
    made = model(body, environment={"TOKEN": "$TOKEN"})
    error, reply = ask(made, question("boom"), question("fine"))
    assert isinstance(error, CallError)
    assert (error.failure.kind, error.failure.retryable) == ("code", False)
    assert error.failure.detail.startswith("ValueError: [hidden]\n")
    assert reply.text == "fine"


@pytest.mark.parametrize("how", ["time.sleep(60)", "while True: pass"])
def test_a_call_that_hangs_is_late_and_leaves_the_others_alone(model, question, how):
    made = model(LAST + f"if text == 'hang':\n    {how}\nreturn text", timeout=0.5)
    late, *others = ask(made, question("hang"), *(question(str(n)) for n in range(5)))
    assert (late.failure.kind, late.failure.retryable) == ("timeout", True)
    assert [reply.text for reply in others] == [str(n) for n in range(5)]


def test_a_crash_costs_one_call(model, question):
    made = model(LAST + "if text == 'crash': os._exit(2)\nreturn text")
    crashed, fine = ask(made, question("crash"), question("fine"))
    assert crashed.failure.detail.startswith("the code ended its process (exit code 2)")
    assert fine.text == "fine"


def test_an_error_in_the_answer_is_an_error_of_the_call(model, question):
    (error,) = ask(model("return {'error': 'no such model'}"), question("hi"))
    assert (error.failure.kind, error.failure.detail) == ("http", "no such model")


def test_the_network_can_be_reached(model, question):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            connection.sendall(b"over the wire")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        address = ("127.0.0.1", server.getsockname()[1])
        body = f"with socket.create_connection({address}) as c:\n    return c.recv(99).decode()"
        (reply,) = ask(model(body), question("hi"))
        thread.join()
    assert reply.text == "over the wire"


def test_files_cannot(model, question):
    (error,) = ask(model("return open('/etc/passwd').read()"), question("hi"))
    assert error.failure.detail.startswith("PermissionError")


def test_an_adapter_stands_on_both_sides(model, question, tmp_path):
    adapter = {
        "key": "own",
        "display_name": "Own",
        "process_input": {"source_code": '{"prompt": {{ input.messages[-1].content | tojson }}}'},
        "process_output": {
            "source_code": '{"choices": [{"message": {"role": "assistant", "content": {{ body | tojson }}}}]}'
        },
    }
    (tmp_path / "adapter.yaml").write_text(json.dumps(adapter))
    (reply,) = ask(model("return 'said: ' + body['prompt']", adapter={"key": "own"}), question("hi"))
    assert reply.text == "said: hi"


def test_without_permission_nothing_runs(model, question):
    made = model("return 'ran'", allowed=False)
    assert [code.function for code in made.codes] == ["run_inference"]
    (refused,) = ask(made, question("hi"))
    assert isinstance(refused, SpecError)
    assert "--allow-code" in str(refused)


def test_other_code_or_values_are_another_model(model):
    first, same, other_code, other_value = (
        model(body, environment=environment).identity
        for body, environment in (("return 1", {}), ("return 1", {}), ("return 2", {}), ("return 1", {"A": "b"}))
    )
    assert first == same
    assert first not in (other_code, other_value)

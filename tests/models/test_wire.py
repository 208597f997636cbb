from __future__ import annotations

import asyncio

import pytest

from assay.models.client import CallError
from assay.models.connect import connect
from assay.types import Request, Sampling

MODEL = "openai/gpt-4.1-nano"
SCHEMA = {"type": "object", "properties": {"label": {"enum": ["yes", "no"]}}, "required": ["label"]}


def asked(environment, root, requests, reference=MODEL):
    """Ask several things at once over one connection; the replies and the notes."""

    async def go():
        connection = connect(reference, root=root, environment=environment)
        try:
            replies = await asyncio.gather(*(connection.client.ask(each) for each in requests))
        finally:
            await connection.close()
        return replies, connection.notes

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("rejected", "first", "second", "formats"),
    [
        ("", '{"label":"yes"}', '{"label":"yes"}', ["json_schema", "json_schema"]),
        ("json_schema", '{"ok": true}', '{"ok": true}', ["json_schema", "json_object", "json_object"]),
        ("all", "A", "A", ["json_schema", "json_object", None, None]),
    ],
)
def test_structured_output_steps_down_once_and_is_remembered(
    loopback, environment, tmp_path, question, rejected, first, second, formats
):
    loopback.configure(reject_schema=rejected)

    async def go():
        connection = connect(MODEL, root=tmp_path, environment=environment)
        texts = [(await connection.client.ask(question(text, schema=SCHEMA))).text for text in ("a", "b")]
        await connection.close()
        return texts, connection.notes

    texts, notes = asyncio.run(go())
    assert texts == [first, second]
    sent = [request["body"].get("response_format", {}).get("type") for request in loopback.requests()]
    assert sent == formats
    assert len(notes) == len(formats) - 2
    assert all("json" in note for note in notes)


@pytest.mark.parametrize(
    ("parameter", "field"),
    [
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("max_tokens", "max_completion_tokens"),
        ("seed", "seed"),
        ("stop", "stop"),
        ("reasoning_effort", "reasoning_effort"),
    ],
)
def test_a_parameter_rejected_by_name_is_dropped_once_with_a_note(
    loopback, environment, tmp_path, question, parameter, field
):
    loopback.configure(reject_parameter=field)
    every = Sampling(temperature=0.5, top_p=0.9, max_tokens=7, seed=1, stop=("x",), reasoning_effort="low")
    replies, notes = asked(environment, tmp_path, [question(f"q{i}", sampling=every) for i in range(5)])
    assert [reply.text for reply in replies] == ["A"] * 5
    assert len(notes) == 1
    assert f"rejects {parameter}" in notes[0]
    last = loopback.requests()[-1]["body"]
    assert field not in last
    assert len(last.keys() & {"temperature", "top_p", "max_completion_tokens", "seed", "stop", "reasoning_effort"}) == 5


def test_a_limit_of_the_length_is_renamed_when_the_endpoint_says_so(loopback, environment, tmp_path, question):
    loopback.configure(reject_parameter="max_completion_tokens", error_text="Use 'max_tokens' instead.")
    replies, notes = asked(environment, tmp_path, [question("q", sampling=Sampling(max_tokens=3))])
    assert replies[0].text == "A"
    assert loopback.requests()[-1]["body"]["max_tokens"] == 3
    assert "max_tokens is sent instead of max_completion_tokens" in notes[0]


def test_a_value_out_of_range_is_an_error_and_not_dropped(loopback, environment, tmp_path, question):
    loopback.configure(reject_parameter="temperature", error_text="temperature must be between 0 and 1")
    with pytest.raises(CallError, match="between 0 and 1"):
        asked(environment, tmp_path, [question("q", sampling=Sampling(temperature=5))])
    assert loopback.stats()["served"] == 1


def test_a_bad_request_about_something_else_is_asked_once(loopback, ask):
    with pytest.raises(CallError, match="HTTP 400") as caught:
        ask(MODEL, "[[status: 400]]", sampling=Sampling(temperature=0))
    assert not caught.value.failure.retryable
    assert loopback.stats()["served"] == 1


def test_a_parameter_without_a_field_in_the_dialect_is_told_once(loopback, environment, tmp_path, question):
    requests = [question(f"q{i}", sampling=Sampling(seed=1)) for i in range(3)]
    _, notes = asked(environment, tmp_path, requests, reference="anthropic/claude-haiku-4-5")
    assert notes == ("anthropic/claude-haiku-4-5: has no parameter seed, so it is left out",)
    assert "seed" not in loopback.requests()[-1]["body"]


def test_no_secret_is_in_errors_notes_or_words_about_the_connection(loopback, environment, tmp_path, question):
    key = environment["OPENAI_API_KEY"]
    loopback.configure(error_text=f"you sent {key}", reject_parameter="temperature")
    _, notes = asked(environment, tmp_path, [question("q", sampling=Sampling(temperature=0))])
    assert key not in repr(notes)
    assert "[hidden]" in notes[0]

    async def go():
        connection = connect(MODEL, root=tmp_path, environment=environment)
        assert key not in repr(connection)
        assert key not in repr(connection.client)
        with pytest.raises(CallError) as caught:
            await connection.client.ask(question("[[status: 500]]"))
        await connection.close()
        return caught.value

    error = asyncio.run(go())
    assert "[hidden]" in error.failure.detail
    assert key not in repr(error) + repr(error.failure) + repr(error.__cause__)
    assert error.status == 500


def test_an_endless_refusal_ends(loopback, environment, tmp_path):
    loopback.configure(fail_first=100, fail_status=400, error_text="temperature top_p response_format max_tokens")
    every = Sampling(temperature=0.5, top_p=0.9, max_tokens=7)
    with pytest.raises(CallError, match="HTTP 400"):
        asked(environment, tmp_path, [Request(messages=({"role": "user", "content": "q"},), sampling=every)])
    assert loopback.stats()["served"] <= 6


def test_a_refusal_that_is_no_json_is_read_as_text(tmp_path, question):
    """A gateway before the model may answer in its own way."""
    bodies = []

    async def gateway(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        bodies.append(await reader.readexactly(size))
        good = b'{"choices": [{"message": {"content": "A"}}]}'
        bad = b"unknown field temperature"
        status, body = (b"400 Bad", bad) if b"temperature" in bodies[-1] else (b"200 OK", good)
        writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, len(body), body))
        writer.close()

    async def go():
        server = await asyncio.start_server(gateway, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        connection = connect("vllm/m", root=tmp_path, environment={"VLLM_BASE_URL": url})
        reply = await connection.client.ask(question("q", sampling=Sampling(temperature=1.0)))
        await connection.close()
        server.close()
        await server.wait_closed()
        return reply.text, connection.notes

    text, notes = asyncio.run(go())
    assert text == "A"
    assert notes == ("vllm/m: rejects temperature, so it is left out (unknown field temperature)",)


def test_calls_that_were_refused_together_bend_once(loopback, environment, tmp_path, question):
    loopback.configure(reject_parameter="top_p", latency_ms=20)
    replies, notes = asked(environment, tmp_path, [question(str(i), sampling=Sampling(top_p=0.5)) for i in range(8)])
    assert [reply.text for reply in replies] == ["A"] * 8
    assert len(notes) == 1
    assert loopback.stats()["served"] == 16

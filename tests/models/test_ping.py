from __future__ import annotations

import asyncio
import socket

import pytest

from assay.models.connect import connect
from assay.models.ping import ping


@pytest.fixture
def pinged(environment, tmp_path):
    def made(reference="openai/gpt-4.1", **changed):
        async def go():
            connection = connect(reference, root=tmp_path, environment={**environment, **changed})
            try:
                return await ping(connection)
            finally:
                await connection.close()

        return asyncio.run(go())

    return made


def test_a_model_that_answers_is_told_with_its_time(pinged, loopback):
    result = pinged()
    assert result.ok
    assert "openai/gpt-4.1: it answers in 0." in result.message
    assert result.latency_s > 0
    body = loopback.requests()[-1]["body"]
    assert body["max_completion_tokens"] <= 16


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"api_key": "another"}, ["the key is wrong", "OPENAI_API_KEY", "Incorrect API key"]),
        ({"models": "gpt-5,gpt-6"}, ['unknown model name "gpt-4.1"', "/v1/chat/completions", "does not exist"]),
        ({"fail_first": 1, "fail_status": 403}, ["may not use this model", "OPENAI_API_KEY"]),
        ({"fail_first": 1, "fail_status": 429}, ["rate limit"]),
        ({"fail_first": 1, "fail_status": 500}, ["a problem of its own"]),
        ({"fail_first": 9, "fail_status": 400}, ["does not understand"]),
    ],
)
def test_a_refusal_is_explained(pinged, loopback, settings, said):
    loopback.configure(**settings)
    result = pinged()
    assert not result.ok
    assert result.latency_s is None
    for each in said:
        assert each in result.message
    assert "sk-canary" not in result.message


def test_an_address_that_nobody_answers_is_explained(pinged):
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port = made.getsockname()[1]
    assert "Connection refused" in pinged(OPENAI_BASE_URL=f"http://127.0.0.1:{port}/v1").message
    assert "unknown host" in pinged(OPENAI_BASE_URL="http://no-such-host.invalid/v1").message


def test_a_silent_server_is_explained(pinged, loopback, model_file):
    loopback.configure(latency_ms=3000)
    result = pinged(model_file("", "timeout: 0.2"))
    assert "no answer from" in result.message
    assert "timeout" in result.message


def test_a_model_that_only_thought_is_there(pinged, loopback, tmp_path):
    def thinking(messages, **parameters):
        return {"content": None, "finish_reason": "length"}

    result = pinged(thinking)
    assert result.ok
    assert "reasoning" in result.message

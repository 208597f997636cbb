from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from assay.errors import SpecError
from assay.models.client import CallError
from assay.models.connect import connect
from assay.models.limit import NO_LIMITS
from assay.models.price import FREE, Prices
from assay.types import Request, Sampling

EVERYTHING = """\
description: All fields.
task: chat_completion
rate_limit: 60
max_concurrent_requests: 7
tokens_per_minute: 9000
secrets: {token: $MY_KEY}
sampling: {temperature: 0, stop: END, max_tokens: 5}
prices: {input_per_million: 0.1, output_per_million: 2}
timeout: {connect: 1, first_byte: 2, total: 3}
"""


@pytest.fixture
def connected(environment, tmp_path):
    return lambda file: connect(file, root=tmp_path, environment=environment)


def test_every_field_of_a_model_file_is_used(model_file, connected):
    connection = connected(model_file("api_key: << secrets.token >>\nmodel_key: m", EVERYTHING))
    limits = connection.limits
    assert (limits.concurrent, limits.declared) == (7, True)
    assert (limits.requests_per_minute, limits.tokens_per_minute) == (60, 9000)
    assert connection.sampling == Sampling(temperature=0, stop=("END",), max_tokens=5)
    assert connection.prices == Prices(input_per_million=Decimal("0.1"), output_per_million=Decimal(2))
    assert connection.key_hint == "Check the key in the environment variable MY_KEY."
    timeouts = connection.client._transport._endpoint.timeouts
    assert (timeouts.connect_s, timeouts.first_byte_s, timeouts.total_s) == (1, 2, 3)


def test_what_a_model_file_leaves_out_has_its_usual_value(model_file, connected):
    connection = connected(model_file())
    assert connection.limits == NO_LIMITS
    assert connection.sampling == Sampling()
    assert connection.prices is None
    assert connection.key_hint == 'Check "api_key" in model.yaml.'


@pytest.mark.parametrize(
    ("written", "expected"),
    [("timeout: 5", (5, 5, 5)), ("timeout: 30", (10, 30, 30)), ("timeout: {total: 60}", (10, 60, 60))],
)
def test_a_timeout_may_be_one_number(model_file, connected, written, expected):
    timeouts = connected(model_file("", written)).client._transport._endpoint.timeouts
    assert (timeouts.connect_s, timeouts.first_byte_s, timeouts.total_s) == expected


def test_secrets_reach_the_headers_and_nothing_else(model_file, ask, loopback, environment, connected):
    headers = "custom_headers: {X-Token: Key << secrets.token >>, X-Plain: a}"
    file = model_file(f"api_key: << secrets.token >>\n{headers}", "secrets: {token: $MY_KEY}")
    ask(file)
    sent = loopback.requests()[-1]["headers"]
    assert sent["authorization"] == f"Bearer {environment['MY_KEY']}"
    assert (sent["x-token"], sent["x-plain"]) == (f"Key {environment['MY_KEY']}", "a")
    connection = connected(file)
    assert environment["MY_KEY"] not in repr(connection) + repr(connection.identity)


def test_a_header_of_the_file_beats_the_usual_one(model_file, ask, loopback):
    ask(model_file("api_key: $MY_KEY\ncustom_headers: {authorization: Custom x}"))
    assert loopback.requests()[-1]["headers"]["authorization"] == "Custom x"


def test_a_secret_header_is_hidden_in_errors(model_file, ask, loopback):
    loopback.configure(error_text="you sent hush-hush and sk-canary-0123456789")
    with pytest.raises(CallError) as caught:
        ask(model_file("custom_headers: {X-Api-Key: hush-hush, X-Other: $MY_KEY}"), "[[status: 500]]")
    assert caught.value.failure.detail.endswith("you sent [hidden] and [hidden]")


def test_a_file_without_a_model_name_sends_none(model_file, ask, loopback):
    ask(model_file())
    assert "model" not in loopback.requests()[-1]["body"]


def test_a_provider_connection_is_the_providers_model_under_its_own_name(model_file, connected, ask, loopback):
    file = model_file("connection_type: provider_connection\nprovider_id: openai\nmodel_key: gpt-4.1-nano\nurl: x")
    with pytest.raises(SpecError, match='unknown field "url"'):
        connected(file)
    text = file.read_text().replace("  url: x\n", "")
    file.write_text(text)
    connection = connected(file)
    assert connection.name == "mine"
    assert connection.prices == Prices(input_per_million=Decimal("0.1"), output_per_million=Decimal("0.4"))
    assert connection.key_hint == "Check the key in the environment variable OPENAI_API_KEY."
    assert ask(file).text == "A"
    assert loopback.requests()[-1]["body"]["model"] == "gpt-4.1-nano"
    file.write_text(text.replace("openai", "opnai"))
    with pytest.raises(SpecError, match='model.yaml:6:16: .*did you mean "openai"'):
        connected(file)


def test_a_placeholder_answers_nothing_for_free(model_file, connected, tmp_path):
    (tmp_path / "p.yaml").write_text("key: p\ndisplay_name: P\nconfig: {connection_type: placeholder}\n")
    connection = connected(tmp_path / "p.yaml")
    assert asyncio.run(connection.client.ask(Request(messages=({"content": "x"},)))).text == ""
    assert connection.prices == FREE


def test_a_providers_address_in_a_file_has_the_providers_price(model_file, connected):
    url = "url: https://api.openai.com/v1/chat/completions"
    assert connected(model_file(f"{url}\nmodel_key: gpt-4.1-nano")).prices is not None
    assert connected(model_file(url)).prices is None
    assert connected(model_file("model_key: gpt-4.1-nano")).prices is None


def test_the_names_of_several_variables_are_told(model_file, connected):
    file = model_file("api_key: $MY_KEY\ncustom_headers: {X-Org: $OPENAI_API_KEY}")
    assert connected(file).key_hint == "Check the key in the environment variables MY_KEY, OPENAI_API_KEY."


def test_closing_twice_and_using_it_again_is_harmless(environment, tmp_path, question):
    async def go():
        connection = connect("openai/gpt-4.1", root=tmp_path, environment=environment)
        await connection.close()
        texts = []
        for _ in range(2):
            texts.append((await connection.client.ask(question("x"))).text)
            await connection.close()
        return texts

    assert asyncio.run(go()) == ["A", "A"]

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from assay.models.cache_key import call_key, canonical, endpoint_prefix
from assay.models.connect import connect
from assay.types import Request, Sampling

REQUEST = Request(messages=({"role": "user", "content": "hi"},), sampling=Sampling(temperature=0.5))
OTHER = {
    "messages": ({"role": "user", "content": "ho"},),
    "sampling": Sampling(temperature=0.6),
    "schema": {"type": "object"},
    "purpose": "judge",
    "repeat": 1,
    "occurrence": 1,
    "body": {"x": 1},
    "sample": {"q": 1},
}
SAMPLING = {
    "temperature": 0.7,
    "top_p": 0.7,
    "max_tokens": 7,
    "seed": 7,
    "stop": ("7",),
    "reasoning_effort": "low",
}


def key(request: Request, prefix: bytes = b"") -> bytes:
    return call_key(prefix, canonical(request))


@pytest.mark.parametrize("name", [field.name for field in fields(Request)])
def test_a_change_in_any_field_of_a_request_changes_the_key(name):
    assert key(replace(REQUEST, **{name: OTHER[name]})) != key(REQUEST)


@pytest.mark.parametrize("name", [field.name for field in fields(Sampling)])
def test_a_change_in_any_parameter_changes_the_key(name):
    changed = replace(REQUEST, sampling=replace(REQUEST.sampling, **{name: SAMPLING[name]}))
    assert key(changed) != key(REQUEST)


@pytest.mark.parametrize("message", [{"role": "system"}, {"content": "hi "}, {"name": "x"}])
def test_a_change_inside_a_message_changes_the_key(message):
    assert key(replace(REQUEST, messages=({**REQUEST.messages[0], **message},))) != key(REQUEST)


def test_the_order_of_fields_does_not_matter_the_order_of_messages_does():
    turned = ({"content": "hi", "role": "user"},)
    assert key(replace(REQUEST, messages=turned)) == key(REQUEST)
    two = ({"content": "a"}, {"content": "b"})
    assert key(replace(REQUEST, messages=two)) != key(replace(REQUEST, messages=two[::-1]))


def test_at_temperature_zero_identical_questions_share_one_answer():
    cold = replace(REQUEST, sampling=Sampling(temperature=0))
    assert key(replace(cold, occurrence=3)) == key(cold)
    assert key(replace(cold, repeat=3)) != key(cold)


def test_a_change_in_any_part_of_an_identity_changes_the_key(loopback, environment, model_file, tmp_path):
    file = model_file("api_key: $MY_KEY\nmodel_key: m\ncustom_headers: {X-Version: '1'}")
    identity = connect(file, root=tmp_path, environment=environment).identity
    assert set(identity) == {"provider", "endpoint", "model", "adapter", "headers"}
    for name in identity:
        changed = {**identity, name: "other"}
        assert key(REQUEST, endpoint_prefix(changed)) != key(REQUEST, endpoint_prefix(identity))


@pytest.mark.parametrize(
    ("config", "same"),
    [
        ("api_key: $MY_KEY\nmodel_key: m\ncustom_headers: {X-Version: '1', X-Key: $MY_KEY}", True),
        ("api_key: $OPENAI_API_KEY\nmodel_key: m\ncustom_headers: {X-Version: '1', X-Key: $OTHER}", True),
        ("api_key: $MY_KEY\nmodel_key: n\ncustom_headers: {X-Version: '1', X-Key: $MY_KEY}", False),
        ("api_key: $MY_KEY\nmodel_key: m\ncustom_headers: {X-Version: '2', X-Key: $MY_KEY}", False),
        ("api_key: $MY_KEY\nmodel_key: m\ncustom_headers: {X-Version: '1'}", False),
    ],
)
def test_what_decides_a_reply_is_in_the_identity_and_a_key_is_not(model_file, environment, tmp_path, config, same):
    environment = {**environment, "OTHER": "another-secret"}
    usual = "api_key: $MY_KEY\nmodel_key: m\ncustom_headers: {X-Version: '1', X-Key: $MY_KEY}"
    first = connect(model_file(usual), root=tmp_path, environment=environment).identity
    second = connect(model_file(config), root=tmp_path, environment=environment).identity
    assert (first == second) is same
    assert environment["MY_KEY"] not in repr(second)
    assert "another-secret" not in repr(second)


def test_an_address_from_a_variable_is_kept_by_name_and_still_tells_servers_apart(model_file, tmp_path):
    file = model_file("url: $WHERE")
    one = connect(file, root=tmp_path, environment={"WHERE": "http://one.internal/v1"}).identity
    two = connect(file, root=tmp_path, environment={"WHERE": "http://two.internal/v1"}).identity
    assert one["endpoint"].startswith("$WHERE ")
    assert "one.internal" not in one["endpoint"]
    assert one != two


FIXTURES = Path(__file__).parents[1] / "store" / "fixtures" / "0003" / "call_keys.json"
KEYS = json.loads(FIXTURES.read_text(encoding="utf-8"))


def _request(entry):
    fields = dict(entry)
    sampling = dict(fields.pop("sampling", {}))
    if sampling.get("stop") is not None:
        sampling["stop"] = tuple(sampling["stop"])
    return Request(messages=tuple(fields.pop("messages", ())), sampling=Sampling(**sampling), **fields)


@pytest.mark.parametrize("entry", KEYS["requests"], ids=range(len(KEYS["requests"])))
def test_keys_of_replies_that_were_paid_for_at_schema_0003_stay_valid(entry):
    content = canonical(_request(entry["request"]))
    assert content.hex() == entry["canonical"]
    prefixes = [bytes.fromhex(KEYS["prefixes"][place]["prefix"]) for place in (0, -1)]
    assert [call_key(prefix, content).hex() for prefix in prefixes] == entry["keys"]


def test_prefixes_of_endpoints_stay_valid():
    for entry in KEYS["prefixes"]:
        assert endpoint_prefix(entry["identity"], entry["salt"]).hex() == entry["prefix"]

from __future__ import annotations

import json

import orjson
import pytest

from assay.errors import SpecError
from assay.models.adapter import BUILT_IN, Adapter, Identity, adapter_named
from assay.models.client import CallError
from assay.models.dialect import EndpointQuirks
from assay.models.endpoint import Answer
from assay.types import Request, Sampling, Usage

PLAIN = EndpointQuirks()
USER = {"role": "user", "content": "hi"}
ADAPTER = """\
key: odd
display_name: Odd
process_input:
  language: jinja
  source_code: |
    {"model": "{{ model_info.model_key }}", "question": {{ input.messages[-1].content | tojson }},
     "messages": {{ input.messages | tojson }}, "heat": {{ kwargs.temperature | default(1) }}}
process_output:
  language: jinja
  source_code: |
    {% set body = body | fromjson %}
    {"choices": [{"message": {"role": "assistant", "content": {{ body.choices[0].message.content | tojson }} }}],
     "usage": {"num_prompt_tokens": {{ body.usage.prompt_tokens }}, "num_completion_tokens": 2}}
"""


def answer(body: bytes | str, status: int = 200) -> Answer:
    return Answer(status=status, body=body.encode() if isinstance(body, str) else body, headers={}, latency_s=0)


def reading(template: str, body: bytes | str, status: int = 200, **more):
    return Adapter("{}", template, None, **more).reply(answer(body, status))


def test_an_adapter_of_the_project_makes_the_body_and_reads_the_answer(ask, model_file, tmp_path, loopback):
    (tmp_path / "adapter.yaml").write_text(ADAPTER)
    file = model_file("adapter: {key: odd}\nmodel_key: stub")
    reply = ask(file, 'say "hi" [[reply: Paris]]', sampling=Sampling(temperature=0.5))
    assert (reply.text, reply.usage.completion_tokens) == ("Paris", 2)
    assert reply.usage.prompt_tokens > 0
    assert loopback.requests()[-1]["body"] == {
        "model": "stub",
        "question": 'say "hi" [[reply: Paris]]',
        "messages": [{"role": "user", "content": 'say "hi" [[reply: Paris]]'}],
        "heat": 0.5,
    }


def test_the_input_holds_messages_response_format_and_parameters():
    request = Request(messages=(USER,), schema={"type": "object"}, sampling=Sampling(temperature=0.5, seed=1))
    body = Adapter("{{ {'i': input, 'k': kwargs} }}", "", "m").body(
        request, EndpointQuirks(without=frozenset({"seed"}))
    )
    made = json.loads(body)
    assert made["k"] == {"temperature": 0.5}
    assert made["i"].keys() == {"messages", "temperature", "response_format"}


def test_a_generic_body_is_the_input_itself():
    assert Adapter("{{ input.x }}", "", None).body(Request(body={"x": "text"}), PLAIN) == b"text"


def test_sample_text_is_never_read_as_a_template():
    request = Request(messages=({"role": "user", "content": "{{ 7 * 7 }}"},))
    assert Adapter("{{ input.messages[0].content }}", "", None).body(request, PLAIN) == b"{{ 7 * 7 }}"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ body }}", "A"),
        ("{{ body | fromjson }}", "A"),
        ("{{ body | tojson }}", "A"),
        ('{"items": [{"type": "message", "role": "assistant", "content": "B"}]}', "B"),
        ('{"items": [{"role": "assistant", "content": [{"type": "output_text", "text": "C"}]}]}', "C"),
        ('{"items": [{"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"}]}', None),
        ('{"items": []}', None),
    ],
)
def test_an_output_is_choices_or_items(template, text):
    assert reading(template, '{"choices": [{"message": {"content": "A"}}]}').text == text


def test_usage_beside_items_is_read():
    reply = reading('{"items": [], "usage": {"num_prompt_tokens": 3, "num_completion_tokens": 4}}', "{}")
    assert reply.usage == Usage(prompt_tokens=3, completion_tokens=4)


@pytest.mark.parametrize(
    ("template", "body", "status", "kind", "retryable", "said"),
    [
        ('{"error": "out of ideas"}', "{}", 200, "http", False, "out of ideas"),
        ('{"error": "slow down"}', "{}", 429, "http", True, "HTTP 429: slow down"),
        ("{{ (body | fromjson).x }}", '{"error": "why"}', 500, "http", True, "HTTP 500: why"),
        ("{}", "plain", 502, "http", True, "HTTP 502: plain"),
        ("{{ (body | fromjson).x }}", "{}", 200, "template", False, 'no field "x"'),
        ("{{ (body | fromjson).x }}", '{"x": ', 200, "parse", True, "not valid JSON"),
        ("{{ body }}!", '{"x": 1}', 200, "template", False, "invalid JSON"),
        ("{}", "{}", 200, "parse", True, "choices"),
    ],
)
def test_an_answer_that_gives_no_reply_is_a_failure_of_the_right_kind(template, body, status, kind, retryable, said):
    with pytest.raises(CallError) as caught:
        reading(template, body, status)
    failure = caught.value.failure
    assert (failure.kind, failure.retryable) == (kind, retryable)
    assert said in failure.detail


def test_an_input_template_that_fails_is_a_failure_of_the_sample():
    with pytest.raises(CallError) as caught:
        Adapter("{{ input.nothing }}", "", None).body(Request(messages=(USER,)), PLAIN)
    assert caught.value.failure.kind == "template"


def test_a_custom_task_may_answer_with_anything():
    assert reading("{{ body }}", '{"rows": [1]}', any_answer=True).text == '{"rows":[1]}'
    assert Identity(None, any_answer=True).reply(answer('"text"')).text == "text"
    assert Identity(None, any_answer=True).reply(answer('{"choices": [{"message": {"content": "A"}}]}')).text == "A"


@pytest.mark.parametrize(
    ("body", "sent"),
    [(None, {"model": "m", "messages": []}), ({"x": 1}, {"model": "m", "x": 1}), ([1], [1]), ("t", "t")],
)
def test_identity_sends_a_body_as_it_is(body, sent):
    assert orjson.loads(Identity("m").body(Request(body=body), PLAIN)) == sent


def test_identity_tells_errors():
    with pytest.raises(CallError, match="HTTP 500: why"):
        Identity(None).reply(answer('{"error": "why"}', 500))


@pytest.mark.parametrize("key", BUILT_IN)
def test_every_adapter_that_ships_is_found_and_named(key, tmp_path):
    dialect, source = adapter_named(key, "m", tmp_path, {})
    assert source == key
    assert dialect.model == "m"
    assert b"hi" in dialect.body(Request(messages=(USER,)), PLAIN)


def test_a_changed_template_has_another_identity(tmp_path):
    (tmp_path / "a.yaml").write_text(ADAPTER)
    first = adapter_named("odd", "m", tmp_path, {})[1]
    (tmp_path / "a.yaml").write_text(ADAPTER.replace("default(1)", "default(2)"))
    assert adapter_named("odd", "m", tmp_path, {})[1] != first


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("latticeflow$openai_response", 'did you mean "latticeflow$openai_responses"'),
        ("od", 'did you mean "odd"'),
        ("half", "half.yaml:7:"),
        ("syntax", "process_input: line 1"),
    ],
)
def test_an_adapter_that_cannot_be_used_is_told_before_any_call(tmp_path, key, said):
    (tmp_path / "a.yaml").write_text(ADAPTER)
    (tmp_path / "half.yaml").write_text(ADAPTER.replace("odd", "half").replace("jinja", "python"))
    broken = ADAPTER.replace("odd", "syntax").replace("{{ model_info", "{{{{ model_info")
    (tmp_path / "syntax.yaml").write_text(broken)
    if key == "half":
        said = "half.yaml:4:"
    with pytest.raises(SpecError) as caught:
        adapter_named(key, "m", tmp_path, {})
    assert said in str(caught.value)


def test_a_wrong_adapter_key_is_told_at_its_line_of_the_model_file(model_file, ask):
    with pytest.raises(SpecError) as caught:
        ask(model_file("adapter: {key: nothing}"))
    assert "model.yaml:6:" in str(caught.value)


def test_the_messages_adapter_sends_the_key_its_own_way(ask, model_file, loopback):
    config = "adapter: {key: assay$anthropic_messages}\napi_key: $MY_KEY\nmodel_key: m"
    assert ask(model_file(config, path="messages"), "[[reply: B]]").text == "B"
    headers = loopback.requests()[-1]["headers"]
    assert headers["x-api-key"] == "sk-canary-0123456789"
    assert "authorization" not in headers

from __future__ import annotations

import pytest

from assay.errors import Place
from assay.solvers.asking import answer_in, rendered, reply_items
from assay.spec.fields import Template
from assay.types import Failure, Reply

CALL = {"type": "function_call", "name": "look", "arguments": "{}", "call_id": "1"}


@pytest.mark.parametrize("text", ["B", "", "I cannot help with that."])
def test_text_is_an_answer_whatever_it_says(text):
    assert answer_in(Reply(text=text)) == text


@pytest.mark.parametrize(
    ("reply", "kind", "detail"),
    [
        (Reply(text=None), "parse", "the reply has no content"),
        (Reply(text=None, finish_reason="length"), "parse", "the reply has no content (finish reason length)"),
        (Reply(text=None, refusal="I will not"), "refusal", "I will not"),
        (Reply(text="Sure", refusal="stopped by a content filter"), "refusal", "stopped by a content filter"),
    ],
)
def test_a_refusal_or_null_content_is_a_failure(reply, kind, detail):
    assert answer_in(reply) == Failure(stage="solve", kind=kind, detail=detail)


def test_a_reply_that_only_calls_functions_is_an_empty_answer():
    assert answer_in(Reply(text=None, items=(CALL,))) == ""


def test_a_reply_joins_the_conversation_with_all_its_fields():
    item = {"type": "message", "role": "assistant", "content": "B", "reasoning_content": "hm"}
    assert reply_items(Reply(text="B", items=(item,))) == (item,)
    assert reply_items(Reply(text="B")) == ({"type": "message", "role": "assistant", "content": "B"},)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("{{ sample.quest }}", "missing_field", 'did you mean "question"?'),
        ("{{ 1 / 0 }}", "template", "division by zero"),
        ("{{ turn }}", "template", "'turn' is undefined"),
    ],
)
def test_a_template_without_a_result_says_where_and_why(text, kind, words):
    failure = rendered(Template(text, Place("task.yaml", 3)), {"sample": {"question": "?"}})
    assert isinstance(failure, Failure)
    assert (failure.stage, failure.kind) == ("solve", kind)
    assert words in failure.detail
    assert failure.detail.startswith("task.yaml:3: ")

"""What is fuzzed: readers of text that strangers write, and what each of them promises."""

from __future__ import annotations

import math
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from assay.errors import SpecError
from assay.judging.answers import AnyLabel, Labels, Range
from assay.judging.json_extraction import Unreadable
from assay.judging.parse import Answers, read_reply
from assay.models.anthropic import Anthropic
from assay.models.chat import Chat
from assay.models.client import CallError
from assay.models.dialect import Dialect
from assay.models.responses import Responses
from assay.models.transport import Answer
from assay.models.wire import read_answer
from assay.spec.load import document_of
from assay.spec.source import Source
from assay.store.calls import call_row
from assay.types import PaidCall, Request, Sampling

_EMPTY = Path(tempfile.mkdtemp(prefix="assay-fuzz-"))
_REQUEST = Request(messages=({"type": "message", "role": "user", "content": "?"},), sampling=Sampling(max_tokens=9))
_DIALECTS: tuple[Dialect, ...] = (Chat("m"), Anthropic("m"), Responses("m"))
_ANSWERS: tuple[Answers[object], ...] = (Labels(["MET", "UNMET", "CANNOT_ASSESS"]), AnyLabel(), Range(0, 10))
_DATABASE = sqlite3.connect(":memory:")


def yaml(data: bytes) -> None:
    """A file is read, or its problems are named."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    try:
        document_of(Source(Path("fuzzed.yaml"), "fuzzed.yaml", text), _EMPTY, strict=False, environment={})
    except SpecError:
        return


def reply(data: bytes) -> None:
    """An answer becomes a reply that can be stored, or a failure of its sample."""
    if not data:
        return
    dialect = _DIALECTS[data[0] % len(_DIALECTS)]
    answer = Answer(status=200, body=data[1:], headers={}, latency_s=0.1)
    try:
        read = read_answer(dialect, answer, _REQUEST)
    except CallError:
        return
    assert 0 <= read.usage.prompt_tokens < 2**53
    assert 0 <= read.usage.completion_tokens < 2**53
    call = PaidCall(key=b"k", model="m", purpose="answer", request=b"{}", reply=read, cost_usd=None)
    _DATABASE.execute(f"SELECT {', '.join('?' * 11)}", call_row(1, call, "now")).fetchone()


def judge(data: bytes) -> None:
    """A judge's reply says one of the answers, or is unreadable; a number is never out of range."""
    if not data:
        return
    try:
        text = data[1:].decode("utf-8")
    except UnicodeDecodeError:
        return
    answers = _ANSWERS[data[0] % len(_ANSWERS)]
    try:
        reading = read_reply(text, "verdict", answers)
    except Unreadable:
        return
    if isinstance(answers, Labels):
        assert reading.value in answers.labels
    if isinstance(answers, Range):
        assert isinstance(reading.value, float | int)
        assert math.isfinite(reading.value)
        assert 0 <= reading.value <= 10


TARGETS: Mapping[str, Callable[[bytes], None]] = {"yaml": yaml, "reply": reply, "judge": judge}
SEEDS: Mapping[str, tuple[bytes, ...]] = {
    "yaml": (
        b"key: a\ndefinition:\n  dataset: {source: {type: local, file_path: x.jsonl}}\n  scorers: [&a {type: b}, *a]\n",
        b"a: &x {b: 1}\nc: {<<: *x, d: [1, 2.5, ~, yes, 12:30, 2020-01-01]}\ne: |\n  text $HOME\n",
        b'{"$ref": "other.yaml#/a", "k": "<< config.x >>", "s": "{{ sample.q }}"}',
    ),
    "reply": (
        b'\x00{"choices":[{"message":{"role":"assistant","content":"A"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}',
        b'\x00{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}',
        b'\x01{"content":[{"type":"text","text":"A"},{"type":"tool_use","id":"1","name":"f","input":{}}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}',
        b'\x02{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}],"status":"completed","usage":{"input_tokens":3,"output_tokens":1}}',
    ),
    "judge": (
        b'\x00{"explanation": "fine", "verdict": "MET"}',
        b"\x00```json\n{'verdict': 'unmet', 'reasoning': 'no'}\n```",
        b"\x02<think>hm</think> verdict: 8/10",
        b'\x01{"verdict": ["a"], "confidence": 0.5}',
    ),
}

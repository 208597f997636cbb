"""What the loopback server says: JSON that fits a schema, and the envelopes of three wire dialects."""

from __future__ import annotations

import zlib

import orjson


def mix(*parts):
    """A cheap 32-bit hash that is the same in every process."""
    x = 0
    for part in parts:
        x = zlib.crc32(part.to_bytes(8, "little", signed=True) if isinstance(part, int) else part, x)
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return x ^ (x >> 16)


def filled(schema, root, pick=None, depth=0):
    """A value that fits the schema; pick(n) in [0, n) chooses among enums, integers and booleans, None the first."""
    if not isinstance(schema, dict) or depth > 24:
        return "ok"
    if "$ref" in schema:
        return filled(_referenced(schema["$ref"], root), root, pick, depth + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        values = schema["enum"]
        return values[pick(len(values)) if pick else 0]
    for name in ("anyOf", "oneOf"):
        if schema.get(name):
            options = [each for each in schema[name] if each.get("type") != "null"] or schema[name]
            return filled(options[0], root, pick, depth + 1)
    return _of_type(schema, root, pick, depth)


def _referenced(reference, root):
    node = root
    for part in reference.lstrip("#/").split("/"):
        node = node.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, dict) else {}
    return node


def _of_type(schema, root, pick, depth):
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if kind == "object" or (kind is None and "properties" in schema):
        properties = schema.get("properties", {})
        wanted = schema.get("required", list(properties))
        return {name: filled(properties.get(name, {}), root, pick, depth + 1) for name in wanted}
    if kind == "array" or (kind is None and "items" in schema):
        n = min(max(int(schema.get("minItems", 1)), 0), int(schema.get("maxItems", 1_000)))
        return [filled(schema.get("items", {}), root, pick, depth + 1) for _ in range(n)]
    if kind in ("integer", "number"):
        low = int(schema.get("minimum", 0))
        high = int(schema.get("maximum", low + 10))
        return low + pick(high - low + 1) if pick else low
    if kind == "boolean":
        return bool(pick(2)) if pick else True
    if kind == "null":
        return None
    return "ok".ljust(int(schema.get("minLength", 0)), "k")


class Said:
    """What goes into an envelope."""

    __slots__ = ("content", "finish", "logprobs", "prompt_tokens", "reasoning", "refusal", "tool")

    def __init__(self, content, prompt_tokens):
        self.content = content
        self.prompt_tokens = prompt_tokens
        self.finish = "stop"
        self.refusal = self.reasoning = self.tool = self.logprobs = None


_HEAD = (
    b'{"id":"chatcmpl-loopback","object":"chat.completion","created":1700000000,"model":"loopback","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":'
)


def chat(said):
    """A chat completion; the plain case is put together from bytes because benchmarks wait for it."""
    tokens = max(1, len(said.content or "") // 4)
    usage = b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}' % (
        said.prompt_tokens,
        tokens,
        said.prompt_tokens + tokens,
    )
    if said.refusal is said.reasoning is said.tool is said.logprobs is None:
        return b'%s%s},"logprobs":null,"finish_reason":"%s"}],%s' % (
            _HEAD,
            orjson.dumps(said.content),
            said.finish.encode(),
            usage,
        )
    message = {"role": "assistant", "content": said.content, "refusal": said.refusal}
    if said.reasoning:
        message["reasoning_content"] = said.reasoning
    if said.tool:
        function = {"name": said.tool, "arguments": said.content}
        message |= {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    choice = {"index": 0, "message": message, "finish_reason": said.finish, "logprobs": said.logprobs}
    return b'{"id":"chatcmpl-loopback","object":"chat.completion","choices":[%s],%s' % (orjson.dumps(choice), usage)


def messages(said):
    """An answer of the messages dialect."""
    content = [] if said.content is None else [{"type": "text", "text": said.content}]
    if said.reasoning:
        content.insert(0, {"type": "thinking", "thinking": said.reasoning, "signature": "sig"})
    if said.tool:
        content = [{"type": "tool_use", "id": "call_1", "name": said.tool, "input": orjson.loads(said.content)}]
    stops = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}
    return orjson.dumps(
        {
            "id": "msg_loopback",
            "type": "message",
            "role": "assistant",
            "content": content,
            "stop_reason": "refusal" if said.refusal else stops[said.finish],
            "usage": {"input_tokens": said.prompt_tokens, "output_tokens": max(1, len(said.content or "") // 4)},
        }
    )


def responses(said):
    """An answer of the responses dialect."""
    parts = [] if said.content is None else [{"type": "output_text", "text": said.content, "annotations": []}]
    if said.refusal:
        parts = [{"type": "refusal", "refusal": said.refusal}]
    output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts}]
    if said.reasoning:
        output.insert(
            0, {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": said.reasoning}]}
        )
    if said.tool:
        output = [{"type": "function_call", "name": said.tool, "arguments": said.content, "call_id": "call_1"}]
    why = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(said.finish)
    tokens = max(1, len(said.content or "") // 4)
    return orjson.dumps(
        {
            "id": "resp_loopback",
            "object": "response",
            "status": "incomplete" if why else "completed",
            "incomplete_details": {"reason": why} if why else None,
            "output": output,
            "usage": {"input_tokens": said.prompt_tokens, "output_tokens": tokens},
        }
    )

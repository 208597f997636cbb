"""A model server on this machine: fast, and as unreliable as it is told to be.

    python tests/loopback/server.py --port 0 --latency-ms 50      prints its address, then serves

POST /v1/chat/completions, /v1/messages, /v1/responses answer (any prefix works). GET /stats counts, POST /reset
forgets, POST /config with a JSON object changes settings, GET /requests gives the requests that were kept.

Every setting below is also an option (`--fail-429 0.1`). Shares are decided by hash: same seed, same faults.
A prompt decides its own reply with a marker: [[reply: B]] [[status: 500]] [[null]] [[refusal]] [[filter]] [[length]]
[[hang]] [[cut]] [[malformed]] [[tool: name]].
"""

from __future__ import annotations

import argparse
import asyncio
import re
import resource
import signal
import sys
import time
from collections import Counter, deque
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parent))
import answers

SETTINGS = {
    "latency_ms": 0.0,
    "jitter_ms": 0.0,
    "body": "auto",  # auto: JSON where a schema asks for it, else text; mcq: one of `answers` by hash of the request
    "text": "A",
    "answers": "A,B,C,D",
    "json_fallback": '{"ok": true}',
    "vary": False,  # fill schemas by hash of the request instead of with the first choice
    "seed": 0,
    "fault_key": "order",  # order: by arrival, exact shares; body: by request and attempt, whatever the concurrency
    "fail_429": 0.0,
    "fail_500": 0.0,
    "fail_malformed": 0.0,
    "fail_badcontent": 0.0,
    "fail_hang": 0.0,
    "fail_disconnect": 0.0,
    "fail_first": 0,  # the first so many requests are answered with `fail_status`
    "fail_status": 500,
    "retry_after": 1.0,
    "retry_after_share": 1.0,  # of the 429s, how many say Retry-After
    "hang_s": 3600.0,
    "max_inflight": 0,
    "rpm": 0,
    "api_key": "",
    "models": "",
    "reject_parameter": "",
    "reject_schema": "",  # json_schema: only that; all: json_object too
    "error_text": "",  # put into every error, as a provider that quotes the request does
    "markers": True,  # whether prompts may choose their replies
    "reasoning": "",
    "logprobs": False,
    "track_bodies": False,
    "keep_requests": 0,
}
FAULTS = ("429", "500", "malformed", "badcontent", "hang", "disconnect")
REASONS = {200: b"OK", 400: b"Bad Request", 401: b"Unauthorized", 404: b"Not Found", 429: b"Too Many Requests"}
MARKER = re.compile(rb"\[\[([a-z]+)(?:: ?((?:(?!\]\]).)*))?\]\]")
ROUTES = ((b"/chat/completions", answers.chat), (b"/messages", answers.messages), (b"/responses", answers.responses))


class State:
    """Settings and counters of the server."""

    def __init__(self, settings):
        self.settings = settings
        self.open_connections = self.in_flight = 0
        self.filled = {}
        self.apply()
        self.reset()

    def apply(self):
        """Make settings ready for the quick path."""
        s = self.settings
        self.latency_s, self.jitter_s = s["latency_ms"] / 1000, s["jitter_ms"] / 1000
        self.choices = [each for each in s["answers"].split(",") if each]
        self.models = set(filter(None, s["models"].split(",")))
        edges, total = [], 0.0
        for fault in FAULTS:
            total += s["fail_" + fault]
            edges.append((int(total * 2**32), fault))
        self.edges = edges if total else None
        self.guarded = bool(self.models or s["api_key"] or s["reject_parameter"] or s["reject_schema"])
        self.special = bool(s["fail_first"] or s["max_inflight"] or s["rpm"] or total)

    def reset(self):
        self.served = self.ok = self.arrived = self.connections = 0
        self.peak_connections, self.peak_inflight = self.open_connections, self.in_flight
        self.first_s = self.last_s = 0.0
        self.by_status, self.faults = Counter(), Counter()
        self.attempts, self.bodies = Counter(), Counter()
        self.recent, self.refused = deque(), 0
        self.kept = deque(maxlen=self.settings["keep_requests"] or 1)
        self.cpu_before_s = _cpu_s()

    def stats(self):
        window = max(self.last_s - self.first_s, 0.0)
        return {
            "arrived": self.arrived,
            "served": self.served,
            "ok": self.ok,
            "by_status": {str(status): n for status, n in self.by_status.items()},
            "faults": dict(self.faults),
            "inflight": self.in_flight,
            "peak_inflight": self.peak_inflight,
            "connections": self.connections,
            "open_connections": self.open_connections,
            "peak_connections": self.peak_connections,
            "window_s": window,
            "rps_window": self.served / window if window else 0.0,
            "cpu_s": _cpu_s() - self.cpu_before_s,
            "unique_bodies": len(self.bodies),
            "max_repeats": max(self.bodies.values(), default=0),
            "settings": self.settings,
        }


def _cpu_s():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def http(status, body, extra=b""):
    reason = REASONS.get(status, b"Error")
    head = b"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
    return head % (status, reason, len(body), extra) + body


class Connection(asyncio.Protocol):
    """One connection; requests with Content-Length only, one write an answer, no task a request."""

    def __init__(self, state, loop):
        self.state, self.loop = state, loop
        self.buffer = b""
        self.pending = 0

    def connection_made(self, transport):
        self.transport = transport
        state = self.state
        state.connections += 1
        state.open_connections += 1
        state.peak_connections = max(state.peak_connections, state.open_connections)

    def connection_lost(self, exc):
        self.state.open_connections -= 1
        self.state.in_flight -= self.pending
        self.pending = 0
        self.transport = None

    def data_received(self, data):
        self.buffer = self.buffer + data if self.buffer else data
        while self.transport is not None:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.buffer[:end]
            lower = head.lower()
            at = lower.find(b"content-length:")
            size = int(lower[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + size:
                return
            body = self.buffer[end + 4 : end + 4 + size]
            self.buffer = self.buffer[end + 4 + size :]
            self.route(head, body)

    def route(self, head, body):
        method, url, _ = head.split(b"\r\n", 1)[0].split(b" ")
        path = url.split(b"?", 1)[0]
        if method == b"POST":
            for ending, envelope in ROUTES:
                if path.endswith(ending):
                    self.ask(head, body, envelope)
                    return
        self.transport.write(self.control(path, body))

    def control(self, path, body):
        state = self.state
        if path == b"/stats":
            return http(200, orjson.dumps(state.stats()))
        if path == b"/requests":
            return http(200, orjson.dumps(list(state.kept) if state.settings["keep_requests"] else []))
        if path == b"/reset":
            state.reset()
            return http(200, b"{}")
        if path == b"/config":
            changes = orjson.loads(body or b"{}")
            unknown = changes.keys() - SETTINGS.keys()
            if unknown:
                return http(400, orjson.dumps({"error": f"unknown settings: {', '.join(sorted(unknown))}"}))
            state.settings.update(changes)
            state.apply()
            return http(200, orjson.dumps(state.settings))
        return http(404, b'{"error":{"message":"there is nothing at this address"}}')

    def ask(self, head, body, envelope):
        state = self.state
        settings = state.settings
        if not state.first_s:
            state.first_s = time.time()
        number = state.arrived
        state.arrived += 1
        state.in_flight += 1
        self.pending += 1
        if state.in_flight > state.peak_inflight:
            state.peak_inflight = state.in_flight
        if settings["track_bodies"]:
            state.bodies[hash(body)] += 1
        if settings["keep_requests"]:
            state.kept.append(_kept(head, body))
        if state.guarded:
            refused = self.refusal(head, body)
            if refused is not None:
                self.error(*refused)
                return
        fault = self.fault(body, number) if state.special else None
        marks = {}
        if b"[[" in body and settings["markers"]:
            marks = {mark[1].decode(): _text(mark[2]) for mark in MARKER.finditer(body)}
            fault = next((each for each in ("hang", "malformed") if each in marks), fault)
            fault = "disconnect" if "cut" in marks else marks.get("status", fault)
        self.answer(body, number, envelope, fault, marks)

    def answer(self, body, number, envelope, fault, marks):
        state = self.state
        if fault == "hang":
            self.loop.call_later(state.settings["hang_s"], self.drop)
            return
        if fault is not None and fault.isdigit():
            self.error(int(fault), "this fault was asked for")
            return
        said = self.said(body, fault, marks)
        if isinstance(said, str):
            self.error(400, said)
            return
        content = envelope(said)
        if fault == "malformed":
            content = content[: len(content) // 2]
        out = http(200, content)
        if fault == "disconnect":
            out = out[: len(out) // 2]
        delay_s = state.latency_s
        if state.jitter_s:
            delay_s += state.jitter_s * answers.mix(state.settings["seed"], body, number) / 2**32
        self.later(delay_s, 200, out, cut=fault == "disconnect")

    def refusal(self, head, body):
        """Why a request is turned away before it is answered: key, model name, or a field."""
        settings = self.state.settings
        if settings["api_key"]:
            given = re.search(rb"\r\n(?:authorization: bearer|x-api-key:|api-key:) *([^\r]*)", head, re.IGNORECASE)
            if given is None or given[1].decode() != settings["api_key"]:
                return 401, "Incorrect API key provided"
        try:
            request = orjson.loads(body)
        except orjson.JSONDecodeError:
            return 400, "the body is not valid JSON"
        if self.state.models and request.get("model") not in self.state.models:
            return 404, f"The model `{request.get('model')}` does not exist"
        if settings["reject_parameter"] in request:
            return 400, f"Unsupported parameter: '{settings['reject_parameter']}' is not supported with this model."
        kind = _format(request).get("type")
        if kind == "json_schema" and settings["reject_schema"]:
            return 400, "This response_format type is unavailable now: json_schema"
        if kind == "json_object" and settings["reject_schema"] == "all":
            return 400, "response_format is not supported"
        return None

    def fault(self, body, number):
        state, settings = self.state, self.state.settings
        if number < settings["fail_first"]:
            return str(settings["fail_status"])
        if settings["max_inflight"] and state.in_flight > settings["max_inflight"]:
            return "429"
        if settings["rpm"] and self.too_fast(settings["rpm"]):
            return "429"
        if state.edges is None:
            return None
        drawn = answers.mix(settings["seed"], number)
        if settings["fault_key"] == "body":
            drawn = answers.mix(settings["seed"], body, state.attempts[body])
            state.attempts[body] += 1
        fault = next((name for edge, name in state.edges if drawn < edge), None)
        if fault is not None:
            state.faults[fault] += 1
        return fault

    def too_fast(self, rpm):
        now, recent = time.monotonic(), self.state.recent
        while recent and recent[0] < now - 60:
            recent.popleft()
        if len(recent) >= rpm:
            return True
        recent.append(now)
        return False

    def said(self, body, fault, marks):
        """What the model says to a request; text instead of that is why it is a bad request."""
        settings = self.state.settings
        said = answers.Said(settings["text"], len(body) // 4)
        if settings["reasoning"]:
            said.reasoning = settings["reasoning"]
        if settings["logprobs"]:
            said.logprobs = {"content": [{"token": "A", "logprob": -0.5}]}
        if fault == "badcontent":
            said.content = "I am sorry, I cannot {answer"
        elif marks:
            _mark(said, marks)
        elif settings["body"] == "mcq":
            said.content = self.state.choices[answers.mix(settings["seed"], body) % len(self.state.choices)]
        elif b"_format" in body or b'"format"' in body or b'"stream"' in body:
            try:
                request = orjson.loads(body)
            except orjson.JSONDecodeError:
                return "the body is not valid JSON"
            if request.get("stream"):
                return "this server does not stream"
            wanted = _format(request)
            if wanted.get("type") == "json_schema":
                said.content = self.fitting(wanted.get("schema", {}), body)
            elif wanted.get("type") == "json_object":
                said.content = settings["json_fallback"]
        return said

    def fitting(self, schema, body):
        settings = self.state.settings
        if settings["vary"]:
            drawn = iter(range(1_000_000))
            pick = lambda n: answers.mix(settings["seed"], body, next(drawn)) % n  # noqa: E731
            return orjson.dumps(answers.filled(schema, schema, pick)).decode()
        key = orjson.dumps(schema)
        if key not in self.state.filled:
            self.state.filled[key] = orjson.dumps(answers.filled(schema, schema)).decode()
        return self.state.filled[key]

    def error(self, status, why):
        state, settings = self.state, self.state.settings
        message = f"{why} {settings['error_text']}".strip()
        extra = b""
        if status == 429:
            state.refused += 1
            if answers.mix(settings["seed"], state.refused) < settings["retry_after_share"] * 2**32:
                extra = b"Retry-After: %g\r\n" % settings["retry_after"]
        body = orjson.dumps({"error": {"message": message, "type": "error", "code": None, "param": None}})
        self.later(state.latency_s, status, http(status, body, extra))

    def later(self, delay_s, status, out, cut=False):
        if delay_s > 0:
            self.loop.call_later(delay_s, self.send, status, out, cut)
        else:
            self.send(status, out, cut)

    def send(self, status, out, cut):
        if self.transport is None:
            return
        state = self.state
        state.in_flight -= 1
        self.pending -= 1
        state.served += 1
        state.ok += status == 200
        state.by_status[status] += 1
        state.last_s = time.time()
        self.transport.write(out)
        if cut:
            self.transport.close()

    def drop(self):
        if self.transport is not None:
            self.transport.close()


def _kept(head, body):
    lines = [line.split(b":", 1) for line in head.split(b"\r\n")[1:]]
    headers = {name.decode().lower(): value.decode().strip() for name, value in lines}
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        content = body.decode(errors="replace")
    return {"path": head.split(b" ")[1].decode(), "headers": headers, "body": content}


def _format(request):
    """The format that a request asks for, whichever dialect it is in, with its schema."""
    chat = request.get("response_format") or {}
    if "json_schema" in chat:
        return {"type": chat["type"], "schema": chat["json_schema"].get("schema", {})}
    text, output = request.get("text") or {}, request.get("output_config") or {}
    return chat or text.get("format") or output.get("format") or {}


def _text(raw):
    return None if raw is None else orjson.loads(b'"%s"' % raw)


def _mark(said, marks):
    said.content = marks.get("reply", said.content)
    if "null" in marks:
        said.content = None
    if "refusal" in marks:
        said.content, said.refusal = None, "I cannot help with that."
    if "filter" in marks:
        said.content, said.finish = None, "content_filter"
    if "length" in marks:
        said.finish = "length"
    if "tool" in marks:
        said.tool, said.content, said.finish = marks["tool"], '{"x": 1}', "tool_calls"


async def serve(settings, host, port):
    loop = asyncio.get_running_loop()
    state = State(settings)
    server = await loop.create_server(lambda: Connection(state, loop), host, port, backlog=4096)
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    print(f"http://{host}:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await stop.wait()
    server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8199)
    for name, default in SETTINGS.items():
        option = "--" + name.replace("_", "-")
        if isinstance(default, bool):
            parser.add_argument(option, action=argparse.BooleanOptionalAction, default=default)
        else:
            parser.add_argument(option, type=type(default), default=default)
    settings = vars(parser.parse_args())
    host, port = settings.pop("host"), settings.pop("port")
    try:
        import uvloop as loops
    except ImportError:
        loops = asyncio
    loops.run(serve(settings, host, port))


if __name__ == "__main__":
    main()

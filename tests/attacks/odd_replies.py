"""Replies that no sane endpoint sends. Each is the raw answer to one request; to add one, add a line."""

from __future__ import annotations

import gzip
import json
import zlib

GOOD = {"choices": [{"message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}]}
USAGE = {"prompt_tokens": 10, "completion_tokens": 1}


def http(body, status="200 OK", headers=()):
    """An answer with a length and a type."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Content-Type: application/json", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def chunked(content, *, end=True, size=7):
    """The same in chunks; without the last one if it is to break off."""
    parts = [content[start : start + size] for start in range(0, len(content), size)]
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + (b"0\r\n\r\n" if end else b"")
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body


def nested(depth, inner="x"):
    """Lists in lists."""
    return json.loads("[" * depth + json.dumps(inner) + "]" * depth)


def message(**fields):
    return http({**GOOD, "choices": [{"message": {"role": "assistant", "content": "A", **fields}}], "usage": USAGE})


def choice(**fields):
    return http({**GOOD, "choices": [{**GOOD["choices"][0], **fields}], "usage": USAGE})


def usage(value):
    return http({**GOOD, "usage": value})


PLAIN = json.dumps({**GOOD, "usage": USAGE}).encode()
ODD_VALUES = {
    "null": None,
    "true": True,
    "a number": 7,
    "a negative number": -1,
    "a fraction": 0.5,
    "text": "odd",
    "empty text": "",
    "a list": ["odd"],
    "an empty list": [],
    "a list of numbers": [1, 2],
    "an object": {"odd": 1},
    "an empty object": {},
    "deep": nested(300),
    "a long number": 2**64,
    "a very long text": "x" * 300_000,
}

ODD = {
    **{f"content is {name}": message(content=value) for name, value in ODD_VALUES.items()},
    **{f"refusal is {name}": message(refusal=value) for name, value in ODD_VALUES.items()},
    **{f"tool calls are {name}": message(tool_calls=value) for name, value in ODD_VALUES.items()},
    **{f"a tool call is {name}": message(tool_calls=[value]) for name, value in ODD_VALUES.items()},
    **{f"a function is {name}": message(tool_calls=[{"function": value}]) for name, value in ODD_VALUES.items()},
    **{f"reasoning is {name}": message(reasoning_content=value) for name, value in ODD_VALUES.items()},
    **{f"finish reason is {name}": choice(finish_reason=value) for name, value in ODD_VALUES.items()},
    **{f"logprobs are {name}": choice(logprobs=value) for name, value in ODD_VALUES.items()},
    **{f"usage is {name}": usage(value) for name, value in ODD_VALUES.items()},
    **{f"prompt tokens are {name}": usage({**USAGE, "prompt_tokens": value}) for name, value in ODD_VALUES.items()},
    **{f"the message is {name}": choice(message=value) for name, value in ODD_VALUES.items()},
    **{f"the choices are {name}": http({"choices": value}) for name, value in ODD_VALUES.items()},
    **{f"the document is {name}": http(value) for name, value in ODD_VALUES.items()},
    **{f"an error is {name}": http({"error": value}, "400 Bad Request") for name, value in ODD_VALUES.items()},
    "infinite usage": http(b'{"choices": [{"message": {"content": "A"}}], "usage": {"prompt_tokens": 1e400}}'),
    "NaN": http(b'{"choices": [{"message": {"content": NaN}}]}'),
    "a NUL in the text": message(content="A\x00B"),
    "half a surrogate": http(PLAIN.replace(b'"A"', b'"\\ud800"')),
    "no UTF-8": http(PLAIN.replace(b'"A"', b'"\xff\xfe"')),
    "UTF-16": http(PLAIN.decode().encode("utf-16")),
    "a byte order mark": http(b"\xef\xbb\xbf" + PLAIN),
    "two documents": http(PLAIN + PLAIN),
    "a cut document": http(PLAIN[:-9]),
    "an empty body": http(b""),
    "HTML": http(b"<html><body>Bad gateway</body></html>", "502 Bad Gateway"),
    "HTML with 200": http(b"<html>Welcome</html>"),
    "nested 5,000 deep": http(b"[" * 5_000 + b"]" * 5_000),
    "chunks": chunked(PLAIN),
    "chunks of one byte": chunked(PLAIN, size=1),
    "chunks that break off": chunked(PLAIN, end=False),
    "a wrong chunk size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    "a length that is too long": b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + PLAIN,
    "a length that is too short": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + PLAIN,
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + PLAIN,
    "no length": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + PLAIN,
    "HTTP 1.0": b"HTTP/1.0 200 OK\r\n\r\n" + PLAIN,
    "HTTP 0.9": PLAIN,
    "HTTP 9.9": b"HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "no status": b"HTTP/1.1\r\n\r\n" + PLAIN,
    "the status 99": http(PLAIN, "99 Low"),
    "the status 999": http(PLAIN, "999 High"),
    "the status 204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "a redirect": http(b"", "307 Temporary Redirect", ["Location: http://127.0.0.1:1/elsewhere"]),
    "a redirect to a file": http(b"", "302 Found", ["Location: file:///etc/passwd"]),
    "a redirect to nowhere": http(b"", "301 Moved Permanently"),
    "gzip": http(gzip.compress(PLAIN), headers=["Content-Encoding: gzip"]),
    "deflate": http(zlib.compress(PLAIN), headers=["Content-Encoding: deflate"]),
    "gzip that is none": http(PLAIN, headers=["Content-Encoding: gzip"]),
    "gzip that breaks off": http(gzip.compress(PLAIN)[:-12], headers=["Content-Encoding: gzip"]),
    "an unknown packing": http(PLAIN, headers=["Content-Encoding: br"]),
    "two packings": http(gzip.compress(PLAIN), headers=["Content-Encoding: gzip, gzip"]),
    "a header without end": b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 100_000,
    "a header with a line feed": http(PLAIN, headers=["X-Odd: a\nb: c"]),
    "a thousand headers": http(PLAIN, headers=[f"X-{i}: {i}" for i in range(1_000)]),
    "a cookie": http(PLAIN, headers=["Set-Cookie: a=b"]),
    "retry after a year": http({}, "503 Busy", ["Retry-After: 0"]),
    "nothing at all": b"",
    "noise": bytes(range(256)) * 4,
}

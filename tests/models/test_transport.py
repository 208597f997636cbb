from __future__ import annotations

import asyncio
import socket
import ssl

import pytest

from assay.models.client import CallError
from assay.models.endpoint import Endpoint, Timeouts, retry_after
from assay.models.transport import Transport, environment_proxy

CHAT = "/chat/completions"


def post(endpoint: Endpoint, body: bytes = b'{"messages": []}', times: int = 1):
    async def go():
        transport = Transport(endpoint)
        try:
            return [await transport.post(body) for _ in range(times)][-1]
        finally:
            await transport.close()

    return asyncio.run(go())


def failure(endpoint: Endpoint, body: bytes = b'{"messages": []}'):
    with pytest.raises(CallError) as caught:
        post(endpoint, body)
    return caught.value.failure


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def test_an_answer_has_status_body_headers_and_time(loopback):
    answer = post(Endpoint(url=loopback.url + CHAT))
    assert answer.status == 200
    assert b"choices" in answer.body
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.latency_s > 0


def test_connections_are_kept_open_between_calls(loopback):
    post(Endpoint(url=loopback.url + CHAT), times=20)
    stats = loopback.stats()
    assert (stats["served"], stats["connections"]) == (20, 2)  # one of them asks for the statistics


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [(b'"[[cut]]"', "connection", "broke"), (b'"[[hang]]"', "timeout", "no answer from")],
)
def test_a_cut_connection_and_a_silent_server_may_be_tried_again(loopback, body, kind, said):
    timeouts = Timeouts(connect_s=5, first_byte_s=0.2, total_s=5)
    found = failure(Endpoint(url=loopback.url + CHAT, timeouts=timeouts), body)
    assert (found.kind, found.retryable) == (kind, True)
    assert said in found.detail


def test_the_whole_answer_has_a_time_limit_too(loopback):
    loopback.configure(latency_ms=2000)
    found = failure(Endpoint(url=loopback.url + CHAT, timeouts=Timeouts(total_s=0.2)))
    assert found.kind == "timeout"
    assert "after 0." in found.detail


def test_a_connection_has_a_time_limit(monkeypatch):
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        with socket.socket() as first, socket.socket() as second:
            for each in (first, second):
                each.setblocking(False)
                each.connect_ex(address)
            url = f"http://127.0.0.1:{address[1]}/"
            found = failure(Endpoint(url=url, timeouts=Timeouts(connect_s=0.2, total_s=3)))
    assert found.kind == "timeout"
    assert "no connection from" in found.detail


@pytest.mark.parametrize(
    ("url", "retryable", "said"),
    [
        ("http://127.0.0.1:{port}/v1", True, "Connection refused"),
        ("http://no-such-host.invalid/v1", True, "unknown host no-such-host.invalid"),
        ("http:///v1", False, "not a valid address"),
        ("http://[half", False, "not a valid address"),
        ("http://host:port/", False, "not a valid address"),
    ],
)
def test_what_stands_in_the_way_is_said_in_words(url, retryable, said):
    found = failure(Endpoint(url=url.format(port=free_port())))
    assert (found.kind, found.retryable) == ("connection", retryable)
    assert said in found.detail


def test_no_secret_of_the_address_is_told():
    found = failure(Endpoint(url=f"http://me:pass-word@127.0.0.1:{free_port()}/v1?api_key=abcdef&v=1"))
    assert "pass-word" not in found.detail
    assert "abcdef" not in found.detail
    assert "v=1" in found.detail


def test_headers_are_not_in_the_words_about_an_endpoint():
    assert "sk-123" not in repr(Endpoint(url="http://x", headers={"Authorization": "Bearer sk-123"}))


def test_a_proxy_of_the_environment_is_used(loopback, monkeypatch):
    monkeypatch.setenv("http_proxy", loopback.root)
    assert post(Endpoint(url="http://model.invalid/v1/chat/completions")).status == 200
    assert loopback.requests()[-1]["path"] == "http://model.invalid/v1/chat/completions"


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({}, "https://a.b/c", None),
        ({"https_proxy": "http://p:1"}, "https://a.b/c", "http://p:1"),
        ({"https_proxy": "p:1"}, "https://a.b/c", "http://p:1"),
        ({"https_proxy": "http://p:1"}, "http://a.b/c", None),
        ({"all_proxy": "http://p:1"}, "http://a.b/c", "http://p:1"),
        ({"https_proxy": "http://p:1", "no_proxy": "a.b"}, "https://a.b/c", None),
    ],
)
def test_the_environment_says_which_proxy(monkeypatch, environment, url, proxy):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert environment_proxy(url) == proxy


@pytest.mark.parametrize(
    ("headers", "now", "seconds"),
    [
        ({}, 0.0, None),
        ({"Retry-After": "3"}, 0.0, 3.0),
        ({"retry-after": "1.5"}, 0.0, 1.5),
        ({"Retry-After": "-3"}, 0.0, 0.0),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.0, 0.25),
        ({"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, 10.0, 50.0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, 100.0, 0.0),
        ({"Retry-After": "soon"}, 0.0, None),
        ({"retry-after-ms": "soon"}, 0.0, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read_in_every_form(headers, now, seconds):
    assert retry_after(headers, now=now) == seconds


async def _answer_once(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    await writer.drain()
    writer.close()


def over_tls(certificate, client: ssl.SSLContext | None):
    async def go():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
        server = await asyncio.start_server(_answer_once, "127.0.0.1", 0, ssl=context)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        transport = Transport(Endpoint(url=url, tls=client, timeouts=Timeouts(total_s=5)))
        try:
            return await transport.post(b"{}")
        finally:
            await transport.close()
            server.close()
            await server.wait_closed()

    return asyncio.run(go())


def test_a_certificate_is_checked_against_the_bundle(certificate):
    trusting = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    assert over_tls(certificate, trusting).status == 200


def test_a_certificate_nobody_trusts_is_told_and_not_tried_again(certificate):
    with pytest.raises(CallError, match="certificate of https://127.0.0.1:.* is not trusted") as caught:
        over_tls(certificate, None)
    assert not caught.value.failure.retryable


def test_plain_http_behind_an_https_address_is_told():
    async def plain(reader, writer):
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def go():
        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        transport = Transport(Endpoint(url=url, timeouts=Timeouts(total_s=5)))
        try:
            with pytest.raises(CallError, match="no TLS connection") as caught:
                await transport.post(b"{}")
        finally:
            await transport.close()
            server.close()
            await server.wait_closed()
        return caught.value.failure

    assert not asyncio.run(go()).retryable


def test_a_redirect_is_told_instead_of_followed(loopback):
    from assay.models.endpoint import Answer, status_error

    answer = Answer(status=301, body=b"", headers={"Location": "https://new/v1?key=abc"}, latency_s=0)
    error = status_error(answer, "")
    assert error.failure.detail == "HTTP 301: the address has moved to https://new/v1?key=[hidden]"
    assert not error.failure.retryable

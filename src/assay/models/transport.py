"""HTTP to models; the only file that uses the HTTP library."""

from __future__ import annotations

import asyncio
import os
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.hdrs import CONTENT_ENCODING, CONTENT_LENGTH
from yarl import URL

from assay.models.client import CallError
from assay.models.deadlines import Deadlines
from assay.models.endpoint import Answer, Endpoint
from assay.models.redact import public_url
from assay.types import Failure

UNPACKED_AT_ONCE = 1 << 20


class Transport:
    """The connections to one endpoint, kept open between calls; created and closed on the event loop.

    How many are open at once is the business of the limits around it.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._public_url = public_url(endpoint.url)
        self._session: aiohttp.ClientSession | None = None
        self._url: URL | None = None
        self._proxy: str | None = None
        self._deadlines = Deadlines(endpoint.timeouts.first_byte_s, endpoint.timeouts.total_s)

    def _open(self) -> aiohttp.ClientSession:
        timeouts = self._endpoint.timeouts
        try:
            self._url = URL(self._endpoint.url)
        except ValueError:
            raise _lasting(f'"{self._public_url}" is not a valid address') from None
        # looked up once: the library's own way reads the environment and ~/.netrc at every call
        self._proxy = environment_proxy(self._endpoint.url)
        return aiohttp.ClientSession(
            # no limit here: a second queue below the limiter would hide calls that it counts as in flight
            connector=aiohttp.TCPConnector(limit=0, ssl=self._endpoint.tls or True, ttl_dns_cache=300),
            headers={
                "Content-Type": "application/json",
                "User-Agent": "assay",
                "Accept-Encoding": "gzip, deflate",
                **self._endpoint.headers,
            },
            # unpacked here, within a limit of size
            auto_decompress=False,
            # no cookies: a reply must not depend on the calls before it
            cookie_jar=aiohttp.DummyCookieJar(),
            # no total here: it would be a timer per call, which `Deadlines` spares
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=timeouts.connect_s),
        )

    async def post(self, body: bytes) -> Answer:
        """Post a body and read the whole answer; raise CallError if there is none."""
        session = self._session
        if session is None:
            session = self._session = self._open()
        assert self._url is not None
        deadlines = self._deadlines
        started = time.monotonic()
        ticket = deadlines.begin(started)
        try:
            # a redirect is an error: following it could hand the key to another host
            async with session.post(self._url, data=body, proxy=self._proxy, allow_redirects=False) as response:
                ticket.has_first_byte = True
                headers = response.headers
                length = headers.get(CONTENT_LENGTH, "")
                # nearly every answer is short and plain, and needs no more than this
                if CONTENT_ENCODING not in headers and length.isdecimal() and int(length) <= self._endpoint.most_bytes:
                    content = await response.read()
                else:
                    content = await self._body(response)
        except asyncio.CancelledError as error:
            if deadlines.expired(ticket):
                raise self._too_late(None, time.monotonic() - started) from error
            raise
        except TimeoutError as error:
            raise self._too_late(error, time.monotonic() - started) from error
        except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError) as error:
            raise self._unreachable(error) from error
        finally:
            deadlines.end(ticket)
        return Answer(status=response.status, body=content, headers=headers, latency_s=time.monotonic() - started)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        """The whole body, unpacked; a CallError once it is larger than the endpoint may send."""
        most = self._endpoint.most_bytes
        encoding = response.headers.get(CONTENT_ENCODING, "identity").strip().lower()
        if encoding == "identity" and response.content_length is not None and response.content_length <= most:
            return await response.read()
        unpack = _unpacker(encoding)
        parts: list[bytes] = []
        size = 0
        try:
            async for part in response.content.iter_any():
                for piece in unpack(part):
                    parts.append(piece)
                    size += len(piece)
                    if size > most:
                        limit = f"{most >> 20} MB (`max_reply_mb` of its model file)"
                        raise _unusable(f"the answer of {self._public_url} is larger than {limit}")
        except zlib.error as error:
            raise _unusable(f"the answer of {self._public_url} cannot be unpacked: {error}") from error
        finally:
            if size > most:
                # the rest of the body must not be read to the end to use the connection again
                response.close()
        return b"".join(parts)

    def _too_late(self, error: TimeoutError | None, waited_s: float) -> CallError:
        missing = "connection" if isinstance(error, aiohttp.ConnectionTimeoutError) else "answer"
        return _passing("timeout", f"no {missing} from {self._public_url} after {waited_s:.1f} s")

    def _unreachable(self, error: Exception) -> CallError:
        """Describe a connection failure in words."""
        if isinstance(error, aiohttp.InvalidURL):
            return _lasting(f'"{self._public_url}" is not a valid address')
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            return _passing("connection", f"unknown host {error.host} (for {self._public_url})")
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return _lasting(
                f"the TLS certificate of {self._public_url} is not trusted: {_cause(error.certificate_error)}"
            )
        if isinstance(error, aiohttp.ClientSSLError):
            return _lasting(f"no TLS connection to {self._public_url}: {_cause(error)}")
        if isinstance(error, aiohttp.ClientConnectorError):
            reason = error.strerror if error.os_error.errno is None else os.strerror(error.os_error.errno)
            return _passing("connection", f"no connection to {self._public_url}: {reason}")
        return _passing("connection", f"the connection to {self._public_url} broke: {_cause(error)}")

    async def close(self) -> None:
        self._deadlines.close()
        if self._session is not None:
            await self._session.close()
            self._session = None


def environment_proxy(url: str) -> str | None:
    """The proxy that the environment wants for an address (HTTPS_PROXY, NO_PROXY, ...), if any."""
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _unpacker(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """Return the decompressor of a body, which works in small pieces whatever the body contains."""
    if encoding == "identity":
        return lambda part: iter((part,))
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise _unusable(f'the reply is compressed as "{encoding[:40]}", which was not requested')
    # 32 takes the header of gzip or of zlib, whichever is there
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def unpack(part: bytes) -> Iterator[bytes]:
        while part:
            yield unpacking.decompress(part, UNPACKED_AT_ONCE)
            part = unpacking.unconsumed_tail

    return unpack


def _unusable(detail: str) -> CallError:
    return CallError(Failure(stage="solve", kind="parse", detail=detail))


def _passing(kind: Literal["timeout", "connection"], detail: str) -> CallError:
    return CallError(Failure(stage="solve", kind=kind, detail=detail, retryable=True))


def _lasting(detail: str) -> CallError:
    return CallError(Failure(stage="solve", kind="connection", detail=detail))


def _cause(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text.splitlines()[0][:300]

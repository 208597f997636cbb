"""HTTP to models: the only file that knows the HTTP library."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from assay.model.client import CallError
from assay.types import Failure

RETRYABLE_STATUS = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long to wait for a connection, for the next bytes, and for the whole answer."""

    connect_s: float = 10.0
    first_byte_s: float = 120.0
    total_s: float = 600.0


USUAL_TIMEOUTS = Timeouts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back over the wire."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    latency_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where to post: an address, its headers (with secrets), and how patient to be."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeouts: Timeouts = USUAL_TIMEOUTS
    tls: ssl.SSLContext | None = None


class Transport:
    """Connections to one endpoint, kept open between calls; made in and closed with the event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._session: aiohttp.ClientSession | None = None
        self._url = endpoint.url
        self._proxy = _proxy_for(endpoint.url)

    def _open(self) -> aiohttp.ClientSession:
        timeouts = self._endpoint.timeouts
        # how many calls may be in flight is limit.py's business
        connector = aiohttp.TCPConnector(limit=0, ssl=self._endpoint.tls or True, ttl_dns_cache=300)
        return aiohttp.ClientSession(
            connector=connector,
            headers={"Content-Type": "application/json", **self._endpoint.headers},
            timeout=aiohttp.ClientTimeout(
                total=timeouts.total_s, sock_connect=timeouts.connect_s, sock_read=timeouts.first_byte_s
            ),
        )

    async def post(self, body: bytes) -> Answer:
        """Post a body and read the whole answer; raises CallError when there is none."""
        if self._session is None:
            self._session = self._open()
        started = time.monotonic()
        try:
            async with self._session.post(self._url, data=body, proxy=self._proxy) as response:
                content = await response.read()
                return Answer(
                    status=response.status,
                    body=content,
                    headers=response.headers,
                    latency_s=time.monotonic() - started,
                )
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            waited = time.monotonic() - started
            raise _failed("timeout", f"no answer after {waited:.0f} s from {self._endpoint.url}") from error
        except aiohttp.InvalidURL as error:
            raise CallError(
                Failure(stage="solve", kind="connection", detail=f'"{self._endpoint.url}" is not a valid address')
            ) from error
        except (aiohttp.ClientError, ConnectionError, OSError, asyncio.IncompleteReadError) as error:
            raise _failed("connection", f"{self._endpoint.url}: {_cause(error)}") from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def _proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address; looked up once, aiohttp would do it for every call."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def _failed(kind: str, detail: str) -> CallError:
    return CallError(
        Failure(stage="solve", kind="timeout" if kind == "timeout" else "connection", detail=detail, retryable=True)
    )


def _cause(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text.splitlines()[0][:300]


def status_error(answer: Answer, message: str) -> CallError:
    """The error for an answer whose status is not 2xx."""
    retryable = answer.status in RETRYABLE_STATUS or answer.status >= 500
    detail = f"HTTP {answer.status}" + (f": {message[:500]}" if message else "")
    return CallError(
        Failure(stage="solve", kind="http", detail=detail, retryable=retryable),
        status=answer.status,
        retry_after_s=retry_after(answer.headers, now=time.time()),
    )


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """The wait that the server asks for: seconds, milliseconds, or a date.

    >>> retry_after({"Retry-After": "3"}, now=0.0)
    3.0
    """
    lowered = {name.lower(): value for name, value in headers.items() if name.lower().startswith("retry-after")}
    try:
        if "retry-after-ms" in lowered:
            return max(0.0, float(lowered["retry-after-ms"]) / 1000)
        given = lowered.get("retry-after")
        if given is None:
            return None
        try:
            return max(0.0, float(given))
        except ValueError:
            return max(0.0, parsedate_to_datetime(given).timestamp() - now)
    except (ValueError, TypeError):
        return None

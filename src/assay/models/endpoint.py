"""The address of a model with its headers and timeouts, and its answer as bytes.

Nothing here knows the HTTP library, so that recorded answers are scored without loading it.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from assay.errors import SpecError
from assay.models.client import CallError
from assay.models.redact import public_url
from assay.text import clean
from assay.types import Failure

MOST_BYTES = 64 << 20
"""The size limit of a decompressed answer: a thousand times what models write."""
RETRYABLE_STATUS = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """The timeouts for the connection, the first byte, and the whole answer."""

    connect_s: float = 10.0
    first_byte_s: float = 120.0
    total_s: float = 600.0


USUAL_TIMEOUTS = Timeouts()


# not frozen: one per model call
@dataclass(slots=True, kw_only=True)
class Answer:
    """An answer as received."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    latency_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The target of requests: a URL, its headers (with secrets), and its timeouts."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeouts: Timeouts = USUAL_TIMEOUTS
    tls: ssl.SSLContext | None = None
    most_bytes: int = MOST_BYTES

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            # the value may be a key: it is never shown
            if any(ord(character) < 32 or ord(character) == 127 for character in name + value.replace("\t", " ")):
                raise SpecError(
                    f'the header "{clean(name)}" holds a line break or another control character; '
                    "check the key or the variable that it comes from"
                )
        if "@" in self.url.partition("://")[2].partition("/")[0] and any(
            name.lower() == "authorization" for name in self.headers
        ):
            raise SpecError(
                f"{public_url(self.url)} has a user name in its address, and a key or header sets Authorization too; "
                "keep one of them"
            )


def status_error(answer: Answer, message: str) -> CallError:
    """The error for an answer whose status is not 2xx."""
    retryable = answer.status in RETRYABLE_STATUS or answer.status >= 500
    if 300 <= answer.status < 400:
        message = f"the address has moved to {public_url(answer.headers.get('Location', '?'))}"
    detail = f"HTTP {answer.status}" + (f": {message}" if message else "")
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
        wait = lowered.get("retry-after")
        if wait is None:
            return None
        try:
            return max(0.0, float(wait))
        except ValueError:
            return max(0.0, parsedate_to_datetime(wait).timestamp() - now)
    except (ValueError, TypeError):
        return None

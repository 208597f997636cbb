"""Redact secrets from all texts of providers and libraries before they are shown or stored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from assay.models.client import CallError

HIDDEN = "[hidden]"
_SHORTEST = 4
_MOST_SHOWN = 600
"""Shorter values are words rather than secrets: hiding them would garble the message."""
_SECRET_NAME = re.compile(r"key|token|secret|sig|auth|pass|credential|cookie|code", re.IGNORECASE)


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret hidden, also where it was escaped for an address.

    >>> redact("bad key sk-12345", ["sk-12345"])
    'bad key [hidden]'
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            for form in (secret, quote(secret, safe="")):
                text = text.replace(form, HIDDEN)
    return text


def redacted(error: CallError, secrets: Iterable[str]) -> CallError:
    """The error without secrets in its words, cut after that: half a secret is not recognised."""
    detail = redact(error.failure.detail, secrets)
    if len(detail) > _MOST_SHOWN:
        detail = f"{detail[:_MOST_SHOWN]}..."
    if detail == error.failure.detail:
        return error
    failure = replace(error.failure, detail=detail)
    return CallError(failure, status=error.status, retry_after_s=error.retry_after_s)


def names_a_secret(name: str) -> bool:
    """Return whether the name of a header or query parameter suggests a secret."""
    return _SECRET_NAME.search(name) is not None


def public_url(url: str) -> str:
    """An address without user, password and secret query values: what may be shown and stored.

    >>> public_url("https://me:pw@host/v1?key=abc&version=2")
    'https://host/v1?key=[hidden]&version=2'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("?")[0].rpartition("@")[2]
    query = [(n, HIDDEN if names_a_secret(n) else v) for n, v in parse_qsl(parts.query, keep_blank_values=True)]
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, urlencode(query, safe="[]"), ""))


def url_secrets(url: str) -> list[str]:
    """Return the secrets inside a URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    values = [value for name, value in parse_qsl(parts.query) if names_a_secret(name)]
    return [*values, *filter(None, (parts.password,))]

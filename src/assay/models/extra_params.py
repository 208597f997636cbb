"""A program's additions to every call of a model: headers, and body fields unknown to the dialect."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from assay.models.dialect import Dialect, EndpointQuirks
from assay.models.endpoint import Answer
from assay.models.redact import names_a_secret
from assay.types import Reply, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """Headers and body fields that override those of the endpoint and the dialect."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> dict[str, Any]:
        """Return their part of a call's key: digests, and only the names of headers with secrets.

        >>> Extras(headers={"x-api-key": "sk-1"}).identity
        {'headers': {'x-api-key': ''}}
        """
        parts: dict[str, Any] = {}
        if self.headers:
            parts["headers"] = {
                name: "" if names_a_secret(name) else _digest(value.encode())
                for name, value in sorted(self.headers.items())
            }
        if self.params:
            parts["params"] = _digest(orjson.dumps(self.params, option=orjson.OPT_SORT_KEYS))
        return parts

    def over(self, defaults: Mapping[str, str]) -> dict[str, str]:
        """Return the usual headers with these overriding those of the same name, ignoring case."""
        overridden = {name.lower() for name in self.headers}
        return {**{name: value for name, value in defaults.items() if name.lower() not in overridden}, **self.headers}

    def spoken(self, dialect: Dialect) -> Dialect:
        """The dialect with the extra fields in every body."""
        return _Extended(dialect, self.params) if self.params else dialect


NO_EXTRAS = Extras()


class _Extended:
    """A dialect whose bodies have some more fields."""

    def __init__(self, dialect: Dialect, params: Mapping[str, Any]) -> None:
        self._dialect = dialect
        self._params = params

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        return orjson.dumps({**orjson.loads(self._dialect.body(request, manner)), **self._params})

    def reply(self, answer: Answer) -> Reply:
        return self._dialect.reply(answer)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]

"""The sandbox in which templates run: columns before methods, nothing changed, nothing huge."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sized
from functools import cache, lru_cache
from typing import Any

from jinja2.exceptions import SecurityError, TemplateRuntimeError, UndefinedError
from jinja2.runtime import StrictUndefined, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from assay.templates.messages import MOST_TEXT, missing_text
from assay.templates.variables import SampleRow

_MOST_BITS = 1_000_000
_PADDING = frozenset({"ljust", "rjust", "center", "zfill", "expandtabs"})


def to_json(value: Any, indent: int | None = None) -> str:
    """Plain JSON: nothing escaped for HTML, other alphabets kept."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def json_escape(value: Any) -> str:
    """Text as it stands between the quotes of a JSON string."""
    return json.dumps(str(value), ensure_ascii=False)[1:-1]


def merge(first: Mapping[Any, Any], *others: Mapping[Any, Any]) -> dict[Any, Any]:
    """A new mapping; what comes later wins."""
    merged = dict(first)
    for other in others:
        merged.update(other)
    return merged


def zipped(first: Any, *others: Any) -> list[tuple[Any, ...]]:
    """Lists side by side, as long as the shortest."""
    return list(zip(first, *others, strict=False))


def regex_replace(value: Any, pattern: str, replacement: str = "", ignorecase: bool = False, count: int = 0) -> str:
    """Every match replaced (`\\1` is a group), in time linear in the text."""
    return str(_pattern(pattern, ignorecase).sub(replacement, str(value), count))


@lru_cache(maxsize=256)
def _pattern(pattern: str, ignorecase: bool) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignorecase
    return re2.compile(pattern, options)


def _bounded(operator: str, left: Any, right: Any) -> bool:
    """Whether `*` or `**` gives something of a reasonable size."""
    if operator == "**":
        ints = isinstance(left, int) and isinstance(right, int)
        return not ints or right < 0 or left.bit_length() * right <= _MOST_BITS
    for many, times in ((left, right), (right, left)):
        if isinstance(many, Sized) and isinstance(times, int):
            return len(many) * times <= MOST_TEXT
    return True


def _bounded_width(*arguments: Any) -> None:
    if any(isinstance(width, int) and width > MOST_TEXT for width in arguments):
        raise ValueError(f"a width of more than {MOST_TEXT:,}")


def _padding(original: Callable[..., str]) -> Callable[..., str]:
    """A filter that pads, within reason."""

    def padded(value: Any, *arguments: Any, **named: Any) -> str:
        _bounded_width(*arguments, *named.values())
        return original(value, *arguments, **named)

    return padded


def _printable(value: Any) -> Any:
    """A function is never what a template meant to print."""
    if callable(value) and not isinstance(value, Undefined):
        raise TemplateRuntimeError(f"{getattr(value, '__name__', 'this')} is a function: call it with ()")
    return value


class MissingFieldError(UndefinedError):
    """A column or key is not there, told apart from other undefined names."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Keys of mappings come before their methods; sizes are bounded."""

    intercepted_binops = frozenset({"*", "**"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        if not isinstance(obj, Mapping):
            return super().getattr(obj, attribute)
        try:
            return obj[attribute]
        except KeyError:
            found = super().getattr(obj, attribute)
            return self._absent(obj, attribute) if self._is_plain_undefined(found) else found

    def getitem(self, obj: Any, argument: Any) -> Any:
        found = super().getitem(obj, argument)
        if isinstance(obj, Mapping) and self._is_plain_undefined(found):
            return self._absent(obj, argument)
        return found

    def _is_plain_undefined(self, found: Any) -> bool:
        return isinstance(found, self.undefined) and found._undefined_hint is None

    def _absent(self, obj: Mapping[Any, Any], name: Any) -> Any:
        what = "the sample" if isinstance(obj, SampleRow) else "the mapping"
        hint = missing_text(what, str(name), tuple(str(key) for key in obj))
        return self.undefined(hint=hint, obj=obj, name=str(name), exc=MissingFieldError)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if not _bounded(operator, left, right):
            raise SecurityError(f"{operator} would give more than {MOST_TEXT:,} characters or digits")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        if getattr(obj, "__name__", "") in _PADDING and isinstance(getattr(obj, "__self__", None), str):
            _bounded_width(*args, *kwargs.values())
        return super().call(context, obj, *args, **kwargs)


@cache
def environment() -> Sandbox:
    """The one environment of all templates."""
    made = Sandbox(
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=False,
        finalize=_printable,
    )
    made.filters |= {
        "fromjson": json.loads,
        "tojson": to_json,
        "json_escape": json_escape,
        "zip": zipped,
        "merge": merge,
        "regex_replace": regex_replace,
    }
    made.filters |= {name: _padding(made.filters[name]) for name in ("center", "indent")}
    # The same file and seed must give the same bytes: nothing in a template draws at random.
    del made.filters["random"]
    del made.globals["lipsum"]
    return made

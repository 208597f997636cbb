"""The sandbox in which templates run: columns before methods, nothing changed, nothing huge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from jinja2.exceptions import SecurityError, TemplateRuntimeError, UndefinedError
from jinja2.runtime import StrictUndefined, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from assay.templates.budget import LOCAL, MOST_TOTAL, budget, printable_size
from assay.templates.codegen import Generator
from assay.templates.limits import check_method, check_operator, limited, refuse
from assay.templates.messages import MOST_TEXT, missing_text
from assay.templates.variables import SampleRow

_MOST_INDENT = 16
_OWNERS = (str, bytes, int)
_PLAIN = frozenset({int, float, bool, type(None)})
_MOST_PATTERN = 10_000


def to_json(value: Any, indent: int | None = None) -> str:
    """Encode plain JSON: nothing escaped for HTML, non-ASCII characters kept."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    if indent > _MOST_INDENT:
        raise SecurityError(f"tojson indents by at most {_MOST_INDENT}")
    # deep values indent far more than they hold: the text is counted as it grows
    pieces, size = [], 0
    for piece in json.JSONEncoder(ensure_ascii=False, indent=indent).iterencode(value):
        size += len(piece)
        if size > MOST_TEXT:
            raise refuse("tojson")
        pieces.append(piece)
    return "".join(pieces)


def json_escape(value: Any) -> str:
    """Escape text for use between the quotes of a JSON string."""
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
    printable_size(value)
    if len(pattern) > _MOST_PATTERN:
        raise SecurityError(f"a pattern has at most {_MOST_PATTERN:,} characters")
    text, matcher = str(value), _pattern(pattern, ignorecase)
    groups = replacement.count("\\")
    if (len(text) + 1) * (len(replacement) + groups) > MOST_TEXT:
        matches = sum(1 for _ in matcher.finditer(text))
        if len(text) * (1 + groups) + matches * len(replacement) > MOST_TEXT:
            raise refuse("regex_replace")
    return str(matcher.sub(replacement, text, count))


@lru_cache(maxsize=256)
def _pattern(pattern: str, ignorecase: bool) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignorecase
    return re2.compile(pattern, options)


def _printable(value: Any) -> Any:
    """A function is never what a template meant to print."""
    kind = type(value)
    if kind is str:
        # counted here and not by `charge`: every value that a template prints comes this way
        limits = LOCAL.budget
        limits.text += len(value)
        if limits.text > MOST_TOTAL:
            limits.charge(0)
        return value
    if kind in _PLAIN:
        return value
    if callable(value) and not isinstance(value, Undefined):
        raise TemplateRuntimeError(f"{getattr(value, '__name__', 'this')} is a function: call it with ()")
    budget().charge(printable_size(value))
    return value


class MissingFieldError(UndefinedError):
    """A column or key does not exist, as distinct from other undefined names."""


class TemplateEnvironment(ImmutableSandboxedEnvironment):
    """Keys of mappings come before their methods; sizes are bounded."""

    code_generator_class = Generator
    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        if not isinstance(obj, Mapping):
            return super().getattr(obj, attribute)
        try:
            return obj[attribute]
        except KeyError:
            value = super().getattr(obj, attribute)
            return self._absent(obj, attribute) if self._is_plain_undefined(value) else value

    def getitem(self, obj: Any, argument: Any) -> Any:
        value = super().getitem(obj, argument)
        if isinstance(obj, Mapping) and self._is_plain_undefined(value):
            return self._absent(obj, argument)
        return value

    def _is_plain_undefined(self, value: Any) -> bool:
        return isinstance(value, self.undefined) and value._undefined_hint is None

    def _absent(self, obj: Mapping[Any, Any], name: Any) -> Any:
        owner = "the sample" if isinstance(obj, SampleRow) else "the mapping"
        hint = missing_text(owner, str(name), tuple(str(key) for key in obj))
        return self.undefined(hint=hint, obj=obj, name=str(name), exc=MissingFieldError)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        check_operator(operator, left, right)
        return self.binop_table[operator](left, right)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        limits = budget()
        limits.step()
        # the sandbox wraps the method `format`; the text is that of the method inside
        method = getattr(obj, "__wrapped__", obj)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, _OWNERS):
            args = check_method(getattr(method, "__name__", ""), owner, args, kwargs)
        return limits.charge_result(super().call(context, obj, *args, **kwargs))

    def joined(self, parts: tuple[Any, ...]) -> str:
        """The text of `a ~ b ~ c`."""
        texts = [part if type(part) is str else _bounded_text(part) for part in parts]
        size = sum(map(len, texts))
        if size > MOST_TEXT:
            raise refuse("~")
        LOCAL.budget.charge(size)
        return "".join(texts)

    def sliced(self, value: Any, part: slice) -> Any:
        """The value of `a[b:c]`."""
        return budget().charge_result(value[part])

    def looped(self, values: Any) -> Any:
        """Return the iterable of a loop, counted in advance if its length is known."""
        if hasattr(values, "__len__"):
            budget().step(len(values))
            return values
        return _ticking(values)


def _bounded_text(value: Any) -> str:
    """The text of a value that is not text; what is too long is refused before it is written."""
    printable_size(value)
    return str(value)


def _ticking(values: Any) -> Iterator[Any]:
    for value in values:
        budget().step()
        yield value


@cache
def environment() -> TemplateEnvironment:
    """Return the single environment of all templates."""
    sandbox = TemplateEnvironment(
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=False,
        finalize=_printable,
        optimized=False,
    )
    sandbox.filters |= {
        "fromjson": json.loads,
        "tojson": to_json,
        "json_escape": json_escape,
        "zip": zipped,
        "merge": merge,
        "regex_replace": regex_replace,
    }
    # The same file and seed must give the same bytes: nothing in a template draws at random.
    del sandbox.filters["random"]
    del sandbox.globals["lipsum"]
    sandbox.filters |= {name: limited(name, original) for name, original in sandbox.filters.items()}
    return sandbox

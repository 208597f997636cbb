"""Limits on operators, methods and filters of templates: what would grow too large is refused before it is computed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from string import Formatter
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.filters import make_attrgetter

from assay.templates.budget import LOCAL, MOST_STEPS, MOST_TOTAL, budget, measured, printable_size
from assay.templates.messages import MOST_TEXT

MOST_BITS = 1_000_000
_MOST_WIDTH = 100_000
_SHORT = 10_000
_MOST_PRECISION = 1_000
_MOST_SLOW = 100_000
"""Characters that filters may read whose time is not linear in the text."""
_PERCENT = re.compile(r"%(?:\([^)]*\))?[-#0 +]*(\*|\d+)?(?:\.(\*|\d+))?")
_UNTOUCHED = frozenset(
    {"abs", "attr", "count", "d", "default", "first", "float", "int", "items", "last", "length", "map", "max", "min"}
    | {"reject", "rejectattr", "select", "selectattr", "filesizeformat", "safe"}
)
"""Filters that create nothing large: they return a part of their value, a number or a lazy sequence."""


def refuse(operation: str) -> SecurityError:
    """The error for a result that would be too large."""
    return SecurityError(f"{operation} would give more than {MOST_TEXT:,} characters")


def check_operator(operator: str, left: Any, right: Any) -> None:
    """Refuse an operation whose result would be too large, and count what it creates."""
    if isinstance(left, int) and isinstance(right, int):
        bits = 0
        if operator == "**":
            bits = left.bit_length() * right
        elif operator == "*":
            bits = left.bit_length() + right.bit_length()
        if bits > MOST_BITS:
            raise SecurityError(f"{operator} would give a number of more than {MOST_BITS:,} bits")
    elif operator == "*":
        for many, times in ((left, right), (right, left)):
            if hasattr(many, "__len__") and isinstance(times, int):
                _charge_sequence("*", many, len(many) * max(times, 0))
    elif operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
        _charge_sequence("+", left, len(left) + len(right))
    elif operator == "%" and isinstance(left, str | bytes):
        check_percent(left, right)


def _charge_sequence(operator: str, value: Any, size: int) -> None:
    if size > MOST_TEXT:
        raise refuse(operator)
    budget().charge(size if isinstance(value, str | bytes) else 8 * size)


def check_percent(form: str | bytes, values: Any) -> None:
    """Refuse `form % values` when widths or values are too large."""
    text = form if isinstance(form, str) else form.decode("latin-1")
    parts = _PERCENT.findall(text)
    widths = [int(number) for part in parts for number in part if number.isdigit() and len(number) < 9]
    if any(number.isdigit() and len(number) >= 9 for part in parts for number in part):
        raise refuse("a width")
    arguments = (
        list(values.values()) if isinstance(values, Mapping) else values if isinstance(values, tuple) else [values]
    )
    if any("*" in part for part in parts):
        widths += [abs(value) for value in arguments if isinstance(value, int)]
    _check_fields(len(text), widths, len(parts), arguments)


def check_format(form: str, values: Iterable[Any]) -> None:
    """Refuse `form.format(values)` when widths or values are too large."""
    arguments = list(values)
    widths: list[int] = []
    fields = 0
    try:
        for _, name, spec, _ in Formatter().parse(form):
            fields += name is not None
            numbers = re.findall(r"\d+", spec or "")
            if any(len(number) >= 9 for number in numbers):
                raise refuse("a width")
            widths += [int(number) for number in numbers]
            if "{" in (spec or ""):
                widths += [abs(value) for value in arguments if isinstance(value, int)]
                widths += [int(value[:9]) for value in arguments if isinstance(value, str) and value[:9].isdigit()]
    except ValueError:
        return  # not a format: formatting says why
    _check_fields(len(form), widths, fields, arguments)


def _check_fields(length: int, widths: list[int], fields: int, values: Iterable[Any]) -> None:
    if any(width > _MOST_WIDTH for width in widths):
        raise SecurityError(f"a width of more than {_MOST_WIDTH:,}")
    largest = max((measured(value) for value in values), default=0)
    if length + sum(widths) + fields * largest > MOST_TEXT:
        raise refuse("the format")


def check_method(name: str, owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Reject a method call whose result would be too large; return the arguments, with iterators as lists."""
    if isinstance(owner, int):
        check_width(*(args if name == "to_bytes" else ()), *kwargs.values())
        return args
    # methods read their text: a million searches through a long text are no small thing
    budget().charge(len(owner) // 16)
    check = _METHODS.get(name)
    if check is not None:
        check(owner, args, kwargs)
    if name == "join" and args:
        parts = args[0] if hasattr(args[0], "__len__") else list(args[0])
        if printable_size(parts) + len(owner) * len(parts) > MOST_TEXT:
            raise refuse("join")
        return (parts, *args[1:])
    return args


def _check_format_method(owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    values = [part for value in args for part in (value.values() if isinstance(value, Mapping) else [value])]
    check_format(str(owner), [*args, *values, *kwargs.values()])


def _check_tabs(owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    width = args[0] if args else kwargs.get("tabsize", 8)
    tab: Any = "\t" if isinstance(owner, str) else b"\t"
    if isinstance(width, int) and owner.count(tab) * width > MOST_TEXT:
        raise refuse("expandtabs")


def _check_replacing(owner: Any, args: tuple[Any, ...], _: Mapping[str, Any]) -> None:
    if len(args) >= 2:
        check_replace(owner, args[0], args[1])


def _check_translation(owner: Any, args: tuple[Any, ...], _: Mapping[str, Any]) -> None:
    table = args[0] if args and isinstance(args[0], Mapping) else {}
    longest = max((len(part) for part in table.values() if isinstance(part, str)), default=1)
    if len(owner) * longest > MOST_TEXT:
        raise refuse("translate")


_METHODS: dict[str, Callable[[Any, tuple[Any, ...], Mapping[str, Any]], None]] = {
    "format": _check_format_method,
    "format_map": _check_format_method,
    **dict.fromkeys(
        ("ljust", "rjust", "center", "zfill"), lambda _, args, kwargs: check_width(*args, *kwargs.values())
    ),
    "expandtabs": _check_tabs,
    "replace": _check_replacing,
    "translate": _check_translation,
}


def check_width(*arguments: Any) -> None:
    """Refuse a width that no text needs."""
    if any(isinstance(width, int) and width > MOST_TEXT for width in arguments):
        raise ValueError(f"a width of more than {MOST_TEXT:,}")


def check_replace(text: Any, old: Any, new: Any) -> None:
    """Refuse a replacement whose result would be too large."""
    try:
        growth = len(new) - len(old)
    except TypeError:
        return  # replacing says what is wrong
    if growth > 0 and (len(text) + 1) * growth > MOST_TEXT and text.count(old) * growth + len(text) > MOST_TEXT:
        raise refuse("replace")


def limited(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that refuses what would be too large, and counts what it creates."""
    if name in _UNTOUCHED:
        return original
    # jinja hands the context or the environment to some filters before the value
    at = 0 if getattr(original, "jinja_pass_arg", None) is None else 1
    check = _CHECKS.get(name)
    others_matter = check not in (None, _printed)

    @wraps(original)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        # counted here and not by `step` and `charge`: short filters take little more than two calls do
        limits = LOCAL.budget
        limits.steps += 1
        if limits.steps > MOST_STEPS:
            limits.step(0)
        if check is not None:
            value = args[at]
            # a short text needs no look at all: no filter makes much of it, unless its arguments are large
            if others_matter or type(value) is not str or len(value) > _SHORT:
                others = args[at + 1 :]
                args = (*args[:at], check(value, others, kwargs), *others)
        result = original(*args, **kwargs)
        if type(result) is str:
            limits.text += len(result)
            if limits.text > MOST_TOTAL:
                limits.charge(0)
            return result
        return limits.charge_result(result)

    return bounded


Check = Callable[[Any, tuple[Any, ...], Mapping[str, Any]], Any]


def _argument(place: int, name: str, otherwise: Any) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Any]:
    return lambda others, named: others[place] if len(others) > place else named.get(name, otherwise)


def _at_most(most: int, operation: str) -> Check:
    def check(value: Any, _: tuple[Any, ...], __: Mapping[str, Any]) -> Any:
        if printable_size(value) > most:
            raise SecurityError(f"{operation} takes at most {most:,} characters")
        return value

    return check


def _printed(value: Any, _: tuple[Any, ...], __: Mapping[str, Any]) -> Any:
    printable_size(value)
    return value


def _widths(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    printable_size(value)
    check_width(*others, *named.values())
    return value


def _indented(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    width = _argument(0, "width", 4)(others, named)
    check_width(width)
    size = len(width) if isinstance(width, str) else width if isinstance(width, int) else 0
    if isinstance(value, str) and len(value) + (value.count("\n") + 1) * size > MOST_TEXT:
        raise refuse("indent")
    return value


def _wrapped(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    between = _argument(2, "wrapstring", None)(others, named)
    if len(str(value)) > MOST_TEXT // 10:
        raise SecurityError(f"wordwrap takes at most {MOST_TEXT // 10:,} characters")
    if isinstance(between, str) and (len(str(value)) + 1) * len(between) > MOST_TEXT:
        raise refuse("wordwrap")
    return value


def _counted(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    if any(isinstance(n, int) and n > _MOST_WIDTH for n in (*others, *named.values())):
        raise SecurityError(f"slice and batch take numbers up to {_MOST_WIDTH:,}")
    return value


def _joined(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    parts = value if hasattr(value, "__len__") else list(value)
    between = others[0] if others else named.get("d", "")
    if printable_size(parts) + len(parts) * measured(between) > MOST_TEXT:
        raise refuse("join")
    return parts


def _replaced(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    printable_size(value)
    old, new = _argument(0, "old", "")(others, named), _argument(1, "new", "")(others, named)
    check_replace(str(value), old, new)
    return value


def _formatted(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    check_percent(str(value), named or others)
    return value


def _rounded(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    precision = _argument(0, "precision", 0)(others, named)
    if isinstance(precision, int) and abs(precision) > _MOST_PRECISION:
        raise SecurityError(f"round takes a precision up to {_MOST_PRECISION:,}")
    return value


def _summed(value: Any, others: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    start = _argument(1, "start", 0)(others, named)
    if not isinstance(start, list | tuple):
        return value
    parts = list(value)
    attribute = _argument(0, "attribute", None)(others, named)
    if attribute is not None:
        from assay.templates.environment import environment

        sizes = [len(part) for part in map(make_attrgetter(environment(), attribute), parts)]
    else:
        sizes = [len(part) for part in parts if hasattr(part, "__len__")]
    # every addition copies what was added before
    if (sum(sizes) + len(start)) * len(parts) > MOST_TEXT:
        raise refuse("sum")
    return parts


def _parsed(value: Any, _: tuple[Any, ...], __: Mapping[str, Any]) -> Any:
    # JSON of few characters can stand for values of many bytes
    if isinstance(value, str | bytes):
        budget().charge(2 * len(value))
    return value


_CHECKS: dict[str, Check] = {
    "batch": _counted,
    "capitalize": _printed,
    "center": _widths,
    "e": _at_most(MOST_TEXT // 6, "escape"),
    "escape": _at_most(MOST_TEXT // 6, "escape"),
    "forceescape": _at_most(MOST_TEXT // 6, "escape"),
    "format": _formatted,
    "fromjson": _parsed,
    "indent": _indented,
    "join": _joined,
    "json_escape": _at_most(MOST_TEXT // 6, "json_escape"),
    "lower": _printed,
    "pprint": _at_most(_MOST_SLOW, "pprint"),
    "replace": _replaced,
    "round": _rounded,
    "slice": _counted,
    "string": _printed,
    "striptags": _at_most(_MOST_SLOW, "striptags"),
    "sum": _summed,
    "title": _printed,
    "tojson": _printed,
    "trim": _printed,
    "truncate": _widths,
    "upper": _printed,
    "urlencode": _at_most(MOST_TEXT // 12, "urlencode"),
    "urlize": _at_most(_MOST_SLOW, "urlize"),
    "wordcount": _at_most(MOST_TEXT // 2, "wordcount"),
    "wordwrap": _wrapped,
    "xmlattr": _at_most(MOST_TEXT // 6, "xmlattr"),
}

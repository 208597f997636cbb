"""Arguments of public functions, checked before anything is read or paid."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from assay.errors import ArgumentError
from assay.spec.nearest import refuse_unknown_keywords

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Checked = TypeVar("Checked")
Expectation = tuple[str, Callable[[Any], bool]]
"""An expectation of a value: its description, and its check."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(text, str) for text in value)


def one_of(names: Collection[str]) -> Expectation:
    """One of several words."""
    return f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names


TEXT: Expectation = ("text", lambda value: isinstance(value, str))
TEXTS: Expectation = ("a list of texts", _are_texts)
TEXT_OR_TEXTS: Expectation = ("text or a list of texts", lambda value: isinstance(value, str) or _are_texts(value))
PATH: Expectation = ("a path", lambda value: isinstance(value, str | Path))
FLAG: Expectation = ("True or False", lambda value: isinstance(value, bool))
WHOLE: Expectation = ("a whole number", _is_whole)
COUNT: Expectation = ("a whole number of at least 1", lambda value: _is_whole(value) and value >= 1)
SHARE: Expectation = ("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1)
LEVEL: Expectation = ("a number between 0 and 1", lambda value: _is_number(value) and 0 < value < 1)
NOT_NEGATIVE: Expectation = ("a number of at least 0", lambda value: _is_number(value) and value >= 0)
POSITIVE: Expectation = ("a number above 0", lambda value: _is_number(value) and value > 0)
MAPPING: Expectation = ("a mapping", lambda value: isinstance(value, Mapping))
MODEL: Expectation = (
    "the name of a model, a path or a function",
    lambda value: isinstance(value, str | Path) or callable(value),
)
FUNCTION: Expectation = ("a function", callable)
BOUNDS: Expectation = (
    "two numbers, the least and the greatest",
    lambda value: isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_number, value)),
)


def arguments_checked(
    expected: Mapping[str, Expectation], *, options: Collection[str] = ()
) -> Callable[[Callable[Parameters, Returned]], Callable[Parameters, Returned]]:
    """Check the arguments of a function by name; None means the default wherever that is None.

    `options` are the keywords that a function takes beside those of its signature. A wrong name or value is an
    ArgumentError that names the parameter, what was expected and the nearest name.

    >>> @arguments_checked({"limit": COUNT})
    ... def first(*, limit: int | None = None) -> int | None:
    ...     return limit
    >>> first(limit=0)
    Traceback (most recent call last):
    assay.errors.ArgumentError: first(limit=...): expected a whole number of at least 1, got 0
    """

    def decorate(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
        signature = inspect.signature(function)

        def check(*args: Any, **kwargs: Any) -> None:
            keywords = {
                name for name, parameter in signature.parameters.items() if parameter.kind is not parameter.VAR_KEYWORD
            }
            refuse_unknown_keywords(function.__name__, kwargs, keywords.union(options))
            try:
                bound = signature.bind(*args, **kwargs).arguments
            except TypeError as error:
                raise ArgumentError(f"{function.__name__}: {error}") from None
            _check_values(function.__name__, signature, expected, {**bound, **kwargs})

        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def checked_coroutine(*args: Any, **kwargs: Any) -> Any:
                check(*args, **kwargs)
                return await function(*args, **kwargs)

            return checked_coroutine  # type: ignore[return-value]  # a coroutine function, as the one it wraps

        @wraps(function)
        def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
            check(*args, **kwargs)
            return function(*args, **kwargs)

        return checked

    return decorate


def keywords_named(cls: type[Checked]) -> type[Checked]:
    """Let a class name the nearest keyword for a misspelled one, instead of Python's bare TypeError."""
    init = cls.__init__
    keywords = [name for name in inspect.signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        refuse_unknown_keywords(cls.__name__, kwargs, keywords)
        init(self, *args, **kwargs)

    cls.__init__ = checked  # type: ignore[method-assign]
    return cls


def _check_values(
    callee: str, signature: inspect.Signature, expected: Mapping[str, Expectation], values: Mapping[str, Any]
) -> None:
    for name, value in values.items():
        parameter = signature.parameters.get(name)
        if name not in expected or (value is None and (parameter is None or parameter.default is None)):
            continue
        words, fits = expected[name]
        repeated = parameter is not None and parameter.kind is parameter.VAR_POSITIONAL
        wrong = [argument for argument in (value if repeated else (value,)) if not fits(argument)]
        if wrong:
            raise ArgumentError(f"{callee}({name}=...): expected {words}, got {_shortened(wrong[0])}")


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."

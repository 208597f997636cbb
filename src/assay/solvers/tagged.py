"""Settings of several kinds, distinguished by `type`, with errors that point at that field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

Text = TypeVar("Text", bound=str)


def type_among(*names: str) -> BeforeValidator:
    """Stands before a union with the discriminator `type`: a missing or unknown one is an error of that field."""
    expected = ", ".join(f"'{name}'" for name in names)

    def check(value: Any) -> Any:
        if isinstance(value, BaseModel) or (isinstance(value, Mapping) and value.get("type") in names):
            return value
        if not isinstance(value, Mapping):
            wrong = InitErrorDetails(type="dict_type", loc=(), input=value)
        elif "type" not in value:
            wrong = InitErrorDetails(type="missing", loc=("type",), input=value)
        else:
            tag = value["type"]
            wrong = InitErrorDetails(type="literal_error", loc=("type",), input=tag, ctx={"expected": expected})
        raise ValidationError.from_exception_data("type", [wrong])

    return BeforeValidator(check)


def not_empty(text: Text) -> Text:
    """Text of at least one character."""
    if not text:
        raise PydanticCustomError("empty_text", "expected some text")
    return text


def misplaced(loc: tuple[int | str, ...], message: str) -> ValidationError:
    """Build the error for a value that is valid but not allowed here; `loc` is its path from the field."""
    wrong = InitErrorDetails(type=PydanticCustomError("misplaced", "{words}", {"words": message}), loc=loc, input=None)
    return ValidationError.from_exception_data("place", [wrong])

"""Going through nested values, string by string."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel

from assay.spec.document import Steps
from assay.spec.located import Located

Wanted = TypeVar("Wanted")


def strings(data: Any, steps: Steps = ()) -> Iterator[tuple[Steps, str]]:
    """Yield every text in the data with its path."""
    if isinstance(data, str):
        yield steps, data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from strings(value, (*steps, name))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from strings(value, (*steps, i))


def instances(value: Any, kinds: type[Wanted] | tuple[type[Wanted], ...]) -> Iterator[Wanted]:
    """Every value of some type in settings, however deep."""
    if isinstance(value, kinds):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from instances(getattr(value, name), kinds)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from instances(entry, kinds)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from instances(entry, kinds)


def changed(data: Any, change: Callable[[Steps, str], Any], steps: Steps = ()) -> Any:
    """A copy of the data with every text replaced; samples written into a file are data and stay as they are."""
    if isinstance(data, str):
        return change(steps, data)
    if isinstance(data, list):
        return [changed(value, change, (*steps, i)) for i, value in enumerate(data)]
    if isinstance(data, dict):
        inline = data.get("type") == "inline_samples"
        return {
            name: value if inline and name == "samples" else changed(value, change, (*steps, name))
            for name, value in data.items()
        }
    return data


def relocated(value: str, original: str) -> str:
    """Return the new text with the location of the old one."""
    if not isinstance(original, Located):
        return value
    return Located(str(value), original.place, literal=original.literal)

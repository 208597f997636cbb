"""The link from result values to their renderer, so that they can display themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

Format = Literal["html", "json", "text"]
Renderer = Callable[[object, Format], Any]

_renderers: list[Renderer] = []


def register(renderer: Renderer) -> None:
    """Let this function draw results; the package does so once, at import."""
    _renderers[:] = [renderer]


def render(result: object, format: Format) -> Any:  # noqa: A002 - the word users know
    """Draw a result: a JSON-ready object for `json`, the terminal's table at 80 columns for `text`, a
    fragment without styles or scripts for `html`."""
    if not _renderers:
        raise RuntimeError("no renderer is registered: import assay before drawing results")
    return _renderers[0](result, format)

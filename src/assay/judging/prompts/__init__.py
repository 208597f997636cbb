"""The prompt texts for judges, each in its own file."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from string import Template


def wording(name: str, **fields: str) -> str:
    """The text `prompts/NAME.md` with its `$fields` filled in; what is filled in is never read as a text with fields.

    >>> wording("again", problem="the reply is empty").splitlines()[0]
    'Your reply could not be used: the reply is empty.'
    """
    return _template(name).substitute(fields)


@lru_cache
def _template(name: str) -> Template:
    text = files("assay.judging").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    return Template(text.strip())

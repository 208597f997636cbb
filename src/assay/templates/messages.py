"""The messages about templates that failed."""

from __future__ import annotations

from functools import lru_cache

from assay.errors import TemplateFailure
from assay.spec.nearest import listing, nearest

MOST_TEXT = 10_000_000


@lru_cache(maxsize=1024)
def missing_text(owner: str, name: str, names: tuple[str, ...]) -> str:
    """The sentence for a name that a mapping does not have."""
    suggestion = nearest(name, names)
    hint = f'; did you mean "{suggestion}"?' if suggestion else f"; known: {listing(names)}"
    return f'{owner} has no {"column" if owner == "the sample" else "field"} "{name}"{hint}'


def failure_at(template: str, line: int, cause: str, *, missing: bool) -> TemplateFailure:
    """A failure that names the template's file and line when they are known."""
    at = getattr(template, "at", None)
    place = at(line) if at is not None else None
    where = f"{place.file}:{place.line}: " if place is not None else ""
    text = "".join(template.split("\n")[line - 1 : line]).strip()
    quoted = text if len(text) <= 80 else text[:77] + "..."
    return TemplateFailure(f"{where}{cause} (in {quoted})", missing=missing)


def too_long() -> TemplateFailure:
    """Describe a text that exceeds the limit."""
    return TemplateFailure(f"the text has more than {MOST_TEXT:,} characters")

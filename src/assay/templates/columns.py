"""Static analysis of a template: its syntax, and the columns it reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from assay.spec.placeholder import has_placeholder
from assay.templates.shape import ColumnLookup, shape


@dataclass(frozen=True, slots=True, order=True)
class ColumnUse:
    """A column that a template reads, and on which of the template's lines (from 1)."""

    name: str
    line: int


def check_syntax(template: str) -> str | None:
    """Return the syntax error of a template with its line; None without one.

    >>> check_syntax("{{ sample.x")
    "line 1: unexpected end of template, expected 'end of print statement'."
    """
    source = str(template)
    if shape(source) is not None or has_placeholder(source):
        return None
    from assay.templates.compiled import cause, compiled

    try:
        compiled(source)
    except Exception as error:
        line = getattr(error, "lineno", None) or 1
        return f"line {line}: {cause(error, {})}"
    return None


def columns_read(template: str) -> tuple[ColumnUse, ...]:
    """The columns that every sample must have; those under `is defined`, `default` or `.get` need not be.

    >>> columns_read("{{ sample.question }} {{ sample.hint | default('') }}")
    (ColumnUse(name='question', line=1),)
    """
    return _columns_read(str(template))


def names_read(template: str) -> frozenset[str]:
    """Return the variables that a template needs: `sample`, and others that its context offers.

    >>> sorted(names_read("{{ sample.x }} {{ topic }}"))
    ['sample', 'topic']
    """
    source = str(template)
    if isinstance(shape(source), ColumnLookup):
        return frozenset({"sample"})
    if shape(source) is not None or has_placeholder(source) or check_syntax(source) is not None:
        return frozenset()
    from assay.templates.column_use import names_used

    return frozenset(names_used(source))


@lru_cache(maxsize=4096)
def _columns_read(source: str) -> tuple[ColumnUse, ...]:
    simple = shape(source)
    if isinstance(simple, ColumnLookup):
        uses = [ColumnUse(simple.name, simple.line)]
    elif simple is not None or check_syntax(source) is not None:
        uses = []
    elif has_placeholder(source):
        return ()
    else:
        from assay.templates.column_use import surely_read

        uses = [ColumnUse(name, line) for name, line in surely_read(source)]
    named = {"sample_id"}
    distinct: list[ColumnUse] = []
    for use in uses:
        if use.name not in named and not has_placeholder(use.name):
            named.add(use.name)
            distinct.append(use)
    return tuple(distinct)

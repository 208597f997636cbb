"""Addresses of pages: all state of a page is in its URL, in one order, without empty parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import quote, urlencode

from assay.analysis.sample_filter import SHOWS, SampleFilter, Show
from assay.analysis.sample_query import parse_condition
from assay.errors import SpecError

Pairs = tuple[tuple[str, str], ...]
FACET = "in:"
"""Begins the name of a parameter that chooses one value of a field: `in:sample/topic=returns`."""
FILTERS = ("q", "show", "kind", "where", "sort")
LONGEST = 2_000
"""Characters of one parameter; a search has no more."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for: the parts of its path and its parameters."""

    parts: Mapping[str, str]
    pairs: Pairs = ()

    def text(self, name: str) -> str:
        """The first value of a parameter, empty where there is none."""
        return next((value for key, value in self.pairs if key == name), "")[:LONGEST]

    def texts(self, name: str) -> list[str]:
        """All values of a parameter that are not empty."""
        return [value[:LONGEST] for key, value in self.pairs if key == name and value]

    def number(self, name: str) -> int | None:
        """A parameter that is a whole number; None for anything else."""
        text = self.text(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None

    def filter_pairs(self) -> Pairs:
        """The parameters that make up a filter, in one order."""
        pairs = [(name, value) for name in FILTERS for value in self.texts(name)]
        facets = sorted((name, value) for name, value in self.pairs if name.startswith(FACET) and value)
        return (*pairs, *facets)

    def sample_filter(self) -> tuple[SampleFilter, str]:
        """The filter that the parameters describe, and what is wrong with them."""
        problem = ""
        conditions = []
        for text in self.texts("where"):
            try:
                conditions.append(parse_condition(text))
            except SpecError as error:
                problem = str(error)
        show: Any = self.text("show")
        if show and show not in SHOWS:
            problem, show = f'"{show}" is nothing that can be shown: use {", ".join(get_args(Show))}', ""
        facets = tuple((name.removeprefix(FACET), value) for name, value in self.filter_pairs() if name[:3] == FACET)
        which = SampleFilter(
            show=show or None,
            kind=self.text("kind") or None,
            text=self.text("q"),
            where=tuple(conditions),
            facets=facets,
            sort=self.text("sort") or None,
        )
        return which, problem


def query_string(pairs: Sequence[tuple[str, object]]) -> str:
    """The part of a URL behind its path; empty values are left out."""
    kept = [(name, str(value)) for name, value in pairs if value not in (None, "")]
    # halves of characters cannot be encoded; nobody can ask for them either
    return "?" + urlencode(kept, errors="replace", quote_via=quote) if kept else ""


def path_of(base: str, *parts: object) -> str:
    """A path below the viewer's base path, its parts quoted."""
    return base + "/" + "/".join(quote(str(part), safe="", errors="replace") for part in parts)


def terminal_words(*words: str) -> str:
    """A command as one types it: words that a shell would split or change are quoted."""
    import shlex

    return " ".join(shlex.quote(word) for word in words)


def samples_command(run: str, which: SampleFilter) -> tuple[str, bool]:
    """The command that lists the same samples, and whether the terminal has all of the filters."""
    words = ["assay", "samples", run]
    exact = not which.text.strip() and not which.kind and which.show in (None, "wrong", "failed", "invalid")
    if which.show == "invalid":
        words += ["--where", "completion_validity = INVALID"]
    if which.show in ("wrong", "failed"):
        words.append(f"--{which.show}")
    for condition in which.where:
        words += ["--where", f"{condition.field} {condition.operator} {condition.value}"]
    for address, value in which.facets:
        words += ["--where", f"{address} = {value}"]
    if which.sort:
        words += ["--sort", which.sort]
    return terminal_words(*words), exact

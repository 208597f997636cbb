"""What assay knows by name: a Kind binds the settings of a thing to the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from assay.errors import SpecError

if TYPE_CHECKING:
    from pydantic import BaseModel

Names = tuple[str, ...]
Said = tuple[str, Mapping[str, Any] | None, str | None]
"""A sample's id with the metadata of its score, or with the detail of its failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One scorer, metric, solver or dataset source: its settings class and its function.

    `outputs` names the fields that a scorer gives (values first, then metadata), so that a misspelt
    metric field is found before a run; None when they are only known afterwards. `live` kinds ask a model: their
    function is a coroutine that takes one row and a way to ask. `detail` adds to the report of a scorer what only
    all of its samples together show. `ranges` holds the least
    and the greatest value that a field can take, where there is one.
    """

    settings: type[BaseModel]
    function: Callable[..., Any]
    values: Names | None = None
    metadata: Names = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    live: bool = False
    detail: Callable[[Any, Iterable[Said]], Mapping[str, Any] | None] | None = None

    @property
    def name(self) -> str:
        """The `type` by which files name it: the settings' Literal."""
        return str(get_args(self.settings.model_fields["type"].annotation)[0])

    @property
    def summary(self) -> str:
        """The first sentence of the settings' docstring."""
        return (self.settings.__doc__ or "").strip().split("\n")[0]


class Shelf(Mapping[str, Kind]):
    """The kinds of one sort, by name."""

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self._kinds: dict[str, Kind] = {}

    def add(self, kind: Kind) -> None:
        if kind.name in self._kinds:
            raise SpecError(f'there is already a {self.sort} named "{kind.name}"')
        self._kinds[kind.name] = kind

    def __getitem__(self, name: str) -> Kind:
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


@dataclass(frozen=True, slots=True)
class Registry:
    """All that a file may name. Nothing is global: `builtin.registry()` makes one."""

    scorers: Shelf = field(default_factory=lambda: Shelf("scorer"))
    metrics: Shelf = field(default_factory=lambda: Shelf("metric"))
    solvers: Shelf = field(default_factory=lambda: Shelf("solver"))
    sources: Shelf = field(default_factory=lambda: Shelf("dataset source"))

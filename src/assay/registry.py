"""What assay knows by name: a Kind binds the settings of a thing to the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args, overload

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
    function is a coroutine that takes one row and a way to ask. `code` kinds run the user's code: their function takes
    the sandbox by name. `whole` scorers see all samples of a run at once, at its end. `detail` adds to the report of
    a scorer what only all of its samples together show. `ranges` holds the least
    and the greatest value that a field can take, where there is one.
    """

    settings: type[BaseModel]
    function: Callable[..., Any]
    values: Names | None = None
    metadata: Names = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    live: bool = False
    code: bool = False
    whole: bool = False
    detail: Callable[[Any, Iterable[Said]], Mapping[str, Any] | None] | None = None

    @property
    def name(self) -> str:
        """The `type` by which files name it: the settings' Literal."""
        return str(get_args(self.settings.model_fields["type"].annotation)[0])

    @property
    def summary(self) -> str:
        """The first sentence of the settings' docstring."""
        return (self.settings.__doc__ or "").strip().split("\n")[0]


class LazyKinds(Sequence[Kind]):
    """LazyKinds by name and module, each loaded when it is first wanted: a run pays only for what its task names."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = dict(modules)

    def load(self, name: str) -> Kind:
        """The kind of that name: its module's KIND."""
        kind: Kind = import_module(self.modules[name]).KIND
        return kind

    @overload
    def __getitem__(self, place: int) -> Kind: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Kind]: ...

    def __getitem__(self, place: int | slice) -> Kind | Sequence[Kind]:
        names = list(self.modules)[place]
        return self.load(names) if isinstance(names, str) else [self.load(name) for name in names]

    def __len__(self) -> int:
        return len(self.modules)


class KindTable(Mapping[str, Kind]):
    """The kinds of one sort, by name."""

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self._kinds: dict[str, Kind | LazyKinds] = {}

    def add(self, kind: Kind) -> None:
        """Take one more kind."""
        self._put(kind.name, kind)

    def add_all(self, kinds: Iterable[Kind]) -> None:
        """Take several; those that are loaded by name stay unloaded until they are wanted."""
        if isinstance(kinds, LazyKinds):
            for name in kinds.modules:
                self._put(name, kinds)
        else:
            for kind in kinds:
                self.add(kind)

    def _put(self, name: str, kind: Kind | LazyKinds) -> None:
        if name in self._kinds:
            raise SpecError(f'there is already a {self.sort} named "{name}"')
        self._kinds[name] = kind

    def __getitem__(self, name: str) -> Kind:
        found = self._kinds[name]
        return found.load(name) if isinstance(found, LazyKinds) else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


@dataclass(frozen=True, slots=True)
class Registry:
    """All that a file may name. Nothing is global: `builtin.registry()` makes one."""

    scorers: KindTable = field(default_factory=lambda: KindTable("scorer"))
    metrics: KindTable = field(default_factory=lambda: KindTable("metric"))
    solvers: KindTable = field(default_factory=lambda: KindTable("solver"))
    sources: KindTable = field(default_factory=lambda: KindTable("dataset source"))
    synthesizers: KindTable = field(default_factory=lambda: KindTable("synthesizer"))

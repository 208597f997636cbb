"""The kinds that files can name: each binds the settings of a scorer, metric, solver or source to its typed functions.

How a kind works is its type, never a flag: a `JudgeScorerKind` asks a model, a `WholeRunScorerKind` sees all samples at
once, and a function that runs the user's code is wrapped in `InSandbox`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, get_args, overload

from assay.errors import SpecError
from assay.types import Ask, Failure, MetricResult, Outcome, Rows, ScoreColumns, Solution

if TYPE_CHECKING:
    from pydantic import BaseModel

Names = tuple[str, ...]
Bounds = tuple[float, float]
Said = tuple[str, Mapping[str, Any] | None, str | None]
"""A sample's id with the metadata of its score, or with the detail of its failure."""


# `settings` is Any in all of these: each function takes the settings class that stands beside it in its kind


class BatchScorer(Protocol):
    """Scores rows by columns; of a `WholeRunScorerKind` the rows are all samples of a run."""

    def __call__(self, settings: Any, rows: Rows, /) -> ScoreColumns: ...


class JudgeScorer(Protocol):
    """Scores one row by calling a model."""

    async def __call__(self, settings: Any, rows: Rows, ask: Ask, /) -> Outcome: ...


class BatchSolver(Protocol):
    """Answers rows without a model; rows without an answer are named by their positions in the batch."""

    def __call__(self, settings: Any, rows: Rows, /) -> tuple[Rows, dict[int, Failure]]: ...


class AskingSolver(Protocol):
    """Answers one row by calling a model."""

    async def __call__(self, settings: Any, rows: Rows, ask: Ask, /) -> Solution | Failure: ...


class SourceReader(Protocol):
    """Reads the samples of a dataset in batches; paths start at `folder` and may not leave `root`."""

    def __call__(self, settings: Any, folder: Path, root: Path | None = None, /) -> Iterator[Any]: ...


class BatchSynthesizer(Protocol):
    """Makes rows out of rows: for every row a list of them, or a Failure."""

    def __call__(self, settings: Any, rows: Any, /) -> Sequence[list[dict[str, Any]] | Failure]: ...


class AskingSynthesizer(Protocol):
    """Makes rows out of one row by asking a model."""

    async def __call__(self, settings: Any, row: dict[str, Any], ask: Ask, /) -> list[dict[str, Any]] | Failure: ...


class MetricFunction(Protocol):
    """Computes the values of a metric from a `metrics.table.Table` and a `metrics.context.Context`."""

    def __call__(self, settings: Any, table: Any, context: Any, /) -> MetricResult: ...


@dataclass(frozen=True, slots=True)
class InSandbox:
    """A function that runs the user's code and receives the sandbox as a keyword; `bind` supplies it."""

    function: Callable[..., Any]
    sandbox: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the function with its sandbox."""
        assert self.sandbox is not None, "user code is bound to a sandbox before it runs"
        return self.function(*arguments, sandbox=self.sandbox)

    def bind(self, sandbox: Any) -> InSandbox:
        """The function, bound to a sandbox."""
        return replace(self, sandbox=sandbox)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseKind:
    """The common part of all kinds: a settings class whose `type` is the name used in files.

    `version` rises when a kind gives other results for the same settings, so that stored ones are not reused. `code` is
    the digest of the plug-in that a kind comes from, None for what ships.
    """

    settings: type[BaseModel]
    version: int = 1
    code: str | None = None
    sort: ClassVar[str]
    asks_model: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The `type` by which files name it: the settings' Literal."""
        return str(get_args(self.settings.model_fields["type"].annotation)[0])

    @property
    def summary(self) -> str:
        """The first sentence of the settings' docstring."""
        return (self.settings.__doc__ or "").strip().split("\n")[0]

    @property
    def runs_code(self) -> bool:
        """Return whether a function of the kind runs user code and needs a sandbox."""
        return any(isinstance(getattr(self, part.name), InSandbox) for part in fields(self))

    def with_sandbox(self, sandbox: Any) -> Self:
        """This kind with its functions that run the user's code bound to a sandbox; itself where it has none."""
        functions = {part.name: getattr(self, part.name) for part in fields(self)}
        bound: dict[str, Any] = {name: f.bind(sandbox) for name, f in functions.items() if isinstance(f, InSandbox)}
        return replace(self, **bound) if bound else self


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMetadata:
    """The metadata of a scorer's scores over a whole run, as far as it can be read without holding all of it.

    `distinct` gives each distinct metadata with the number of scores that have it: for scorers whose metadata repeats.
    `with_field` gives the metadata of the scores that have a field: for fields that few scores have.
    """

    distinct: Callable[[], Iterable[tuple[Mapping[str, Any], int]]]
    with_field: Callable[[str], Iterable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerKind(BaseKind):
    """A scorer and its fields: those of its values, then those of its metadata.

    `values` is None when the fields are known only after scoring; otherwise a misspelt field of a metric is found
    before the run. `ranges` holds the least and the greatest value of a field. `detail` adds to the report what only
    all samples together show; `count` does so from the metadata alone, and so in time for a run of millions.
    """

    sort: ClassVar[str] = "scorer"
    score: Callable[..., Any]
    values: Names | None = None
    metadata: Names = ()
    ranges: Mapping[str, Bounds] = field(default_factory=dict)
    detail: Callable[[Any, Iterable[Said]], Mapping[str, Any] | None] | None = None
    count: Callable[[Any, StoredMetadata], Mapping[str, Any] | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchScorerKind(ScorerKind):
    """A scorer that works on columns of rows."""

    score: BatchScorer


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScorerKind(ScorerKind):
    """A scorer that asks a model about each row."""

    asks_model: ClassVar[bool] = True
    score: JudgeScorer


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRunScorerKind(ScorerKind):
    """A scorer that sees all samples of a run at once, when every one of them has its answer."""

    score: BatchScorer


@dataclass(frozen=True, slots=True, kw_only=True)
class PerSample:
    """The contribution of one sample to a metric that is a mean over samples.

    `read` takes the values and the metadata of a score and gives the sample's number, or None when the sample is
    excluded; `fields` are those that it reads. `value` names the value of the metric that is this mean; None is the
    first one. `bounds` are the least and the greatest number, and `labels` the number of each label, where declared.

    `is_field` says that the number is that of the first field as it is. Then the range that the scorer declares for
    the field bounds the mean and what it would be had no sample failed, and the trials of a run give its noise floor.

    With `macro_by`, a template, the metric is the mean of the means of the samples for which it gives the same text.
    """

    fields: Names
    read: Callable[[Mapping[str, Any]], float | None]
    value: str | None = None
    bounds: Bounds | None = None
    labels: Mapping[str, float] = field(default_factory=dict)
    is_field: bool = False
    macro_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PerSampleSums:
    """The contribution of one sample to a metric that is a function of sums over samples, such as F1 or kappa.

    `read` takes the values and the metadata of a score and gives what the sample adds, or None when the sample is
    excluded; `fields` are those that it reads. `compare` takes the name of a value and what the same samples add in two
    runs, and gives a `stats.paired_sums.SumPair`; with counts, a pair stands for so many alike. `shown` gives the
    number to show for one sample, if it has one.
    """

    fields: Names
    read: Callable[[Mapping[str, Any]], Any | None]
    compare: Callable[..., Any]
    shown: Callable[[Any], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """The data that a metric may read to compute its baselines, such as chance.

    `metadata_fields` are those that the scorer declares; `distinct_metadata` reads the metadata of the scores, each
    distinct one with the number of samples that have it. Where an aggregator made several trials one value,
    `score_field` is the score it read, and `chance_over_trials` what the chance of success of one trial becomes.
    """

    result: MetricResult
    metadata_fields: Names
    distinct_metadata: Callable[[], Iterable[tuple[Mapping[str, Any], int]]]
    score_field: str | None = None
    chance_over_trials: Callable[[float], float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricKind(BaseKind):
    """A metric; one with `per_sample` can be compared, gated, calibrated and planned sample by sample.

    `sums` lets two runs be compared on values that are no means over samples.
    `baseline` gives what the metric must beat to be worth anything, such as the accuracy of guessing.
    """

    sort: ClassVar[str] = "metric"
    compute: MetricFunction
    per_sample: Callable[[Any], PerSample] | None = None
    sums: Callable[[Any], PerSampleSums] | None = None
    baseline: Callable[[Any, ScoredRun], Mapping[str, Any] | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverKind(BaseKind):
    """A solver: where the answers come from."""

    sort: ClassVar[str] = "solver"
    solve: Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSolverKind(SolverKind):
    """A solver that needs no model, such as one of recorded answers."""

    solve: BatchSolver


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingSolverKind(SolverKind):
    """A solver that asks a model about each row."""

    asks_model: ClassVar[bool] = True
    solve: AskingSolver


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKind(BaseKind):
    """A dataset source."""

    sort: ClassVar[str] = "dataset source"
    read: SourceReader


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesizerKind(BaseKind):
    """A synthesizer: makes rows out of a row."""

    sort: ClassVar[str] = "synthesizer"
    synthesize: Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSynthesizerKind(SynthesizerKind):
    """A synthesizer that works on a list of rows."""

    synthesize: BatchSynthesizer


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingSynthesizerKind(SynthesizerKind):
    """A synthesizer that asks a model about each row."""

    asks_model: ClassVar[bool] = True
    synthesize: AskingSynthesizer


def Kind(  # noqa: N802 - plug-ins written for 0.1 call it as a class, with these parameters
    *,
    settings: type[BaseModel],
    function: Callable[..., Any],
    values: Names | None = None,
    metadata: Names = (),
    ranges: Mapping[str, Bounds] | None = None,
    live: bool = False,
    code: bool = False,
    whole: bool = False,
    detail: Callable[[Any, Iterable[Said]], Mapping[str, Any] | None] | None = None,
) -> Any:
    """The typed kind of a plug-in written for assay 0.1, chosen by the base class of its settings.

    New plug-ins name the typed kind itself: `BatchScorerKind(settings=..., score=...)`.
    """
    wrapped: Any = InSandbox(function) if code else function
    sort = getattr(settings, "kind_sort", SourceKind.sort)
    if sort == ScorerKind.sort:
        scorer_kind = WholeRunScorerKind if whole else JudgeScorerKind if live else BatchScorerKind
        return scorer_kind(
            settings=settings, score=wrapped, values=values, metadata=metadata, ranges=ranges or {}, detail=detail
        )
    if sort == MetricKind.sort:
        return MetricKind(settings=settings, compute=wrapped)
    if sort == SolverKind.sort:
        return (AskingSolverKind if live else BatchSolverKind)(settings=settings, solve=wrapped)
    if sort == SynthesizerKind.sort:
        return (AskingSynthesizerKind if live else BatchSynthesizerKind)(settings=settings, synthesize=wrapped)
    return SourceKind(settings=settings, read=wrapped)


K = TypeVar("K", bound=BaseKind)


class LazyKinds(Sequence[K]):
    """Kinds by name and module, each loaded when it is first needed: a run pays only for what its task names."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = dict(modules)

    def load(self, name: str) -> K:
        """The kind of that name: its module's KIND, or what its module calls it after a colon."""
        module, _, attribute = self.modules[name].partition(":")
        kind: K = getattr(import_module(module), attribute or "KIND")
        return kind

    @overload
    def __getitem__(self, place: int) -> K: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[K]: ...

    def __getitem__(self, place: int | slice) -> K | Sequence[K]:
        names = list(self.modules)[place]
        return self.load(names) if isinstance(names, str) else [self.load(name) for name in names]

    def __len__(self) -> int:
        return len(self.modules)


class KindTable(Mapping[str, K], Generic[K]):
    """The kinds of one sort, by name."""

    def __init__(self, base: type[K]) -> None:
        self.sort = base.sort
        self._base = base
        self._kinds: dict[str, K | LazyKinds[K]] = {}

    def add(self, kind: K) -> None:
        """Add one kind; raise a SpecError if it is of the wrong sort or its name is taken."""
        if not isinstance(kind, self._base):
            raise SpecError(f"expected a {self.sort} ({self._base.__name__}), got {_described(kind)}")
        self._put(kind.name, kind)

    def add_all(self, kinds: Iterable[K]) -> None:
        """Add several; those that are loaded by name stay unloaded until they are needed."""
        if isinstance(kinds, LazyKinds):
            for name in kinds.modules:
                self._put(name, kinds)
        else:
            for kind in kinds:
                self.add(kind)

    def mark(self, names: Iterable[str], code: str) -> None:
        """Note the digest of the code that these kinds come from."""
        for name in names:
            self._kinds[name] = replace(self[name], code=code)

    def _put(self, name: str, kind: K | LazyKinds[K]) -> None:
        if name in self._kinds:
            raise SpecError(f'there is already a {self.sort} named "{name}"')
        self._kinds[name] = kind

    def __getitem__(self, name: str) -> K:
        entry = self._kinds[name]
        return entry.load(name) if isinstance(entry, LazyKinds) else entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


def _described(thing: object) -> str:
    return f'the {thing.sort} "{thing.name}"' if isinstance(thing, BaseKind) else f"a {type(thing).__name__}"


@dataclass(frozen=True, slots=True)
class Registry:
    """All kinds that a file can name. Nothing is global: `builtin.registry()` creates one."""

    scorers: KindTable[ScorerKind] = field(default_factory=lambda: KindTable(ScorerKind))
    metrics: KindTable[MetricKind] = field(default_factory=lambda: KindTable(MetricKind))
    solvers: KindTable[SolverKind] = field(default_factory=lambda: KindTable(SolverKind))
    sources: KindTable[SourceKind] = field(default_factory=lambda: KindTable(SourceKind))
    synthesizers: KindTable[SynthesizerKind] = field(default_factory=lambda: KindTable(SynthesizerKind))

    @property
    def tables(self) -> tuple[KindTable[Any], ...]:
        """Every table, one per sort of kind."""
        return (self.scorers, self.metrics, self.solvers, self.sources, self.synthesizers)

    def add(self, kind: BaseKind) -> None:
        """Add a kind to the table of its sort."""
        next(table for table in self.tables if table.sort == kind.sort).add(kind)

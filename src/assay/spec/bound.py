"""The result of loading: every part validated and bound to its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import Place, Problem
from assay.registry import MetricKind, PerSample, ScorerKind, SolverKind, SourceKind
from assay.spec.code import EvidenceCode
from assay.spec.document import Document
from assay.spec.fields import MetricSpec, ScorerSpec, SolverSpec, SourceSpec
from assay.spec.generator import GeneratedDataset
from assay.spec.task import Task
from assay.types import MAX_FANOUT, Failure, Fanned, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedMetric:
    """A metric of a scorer."""

    key: str
    kind: MetricKind
    settings: MetricSpec

    @property
    def per_sample(self) -> PerSample | None:
        """Return how one sample enters the metric; None if the metric is not a mean over samples."""
        return None if self.kind.per_sample is None else self.kind.per_sample(self.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedScorer:
    """A scorer of a task with its metrics."""

    key: str
    kind: ScorerKind
    settings: ScorerSpec
    metrics: tuple[LoadedMetric, ...]
    place: Place | None

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The least and the greatest value of every field that has them."""
        return {**self.kind.ranges, **self.settings.score_ranges()}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSolver:
    """The solver of a task; `fan_out` makes the rows that are scored of its answers, where they are others."""

    kind: SolverKind
    settings: SolverSpec
    place: Place | None
    fan_out: Callable[[Rows], Sequence[Sequence[Fanned] | Failure]] | None = None

    @property
    def needs_model(self) -> bool:
        """Return whether the evaluated model is called at all."""
        return self.kind.asks_model and self.settings.asks_evaluated_model


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDataset:
    """A dataset; paths in its settings start at `folder`.

    `written` is its source as the file has it, `$VAR` by name: what may be stored. Rows that come in `families` have
    the column `source_id`: those with the same one are made of the same row.
    """

    key: str
    kind: SourceKind
    settings: SourceSpec
    folder: Path
    place: Place | None
    written: Mapping[str, Any]
    notes: tuple[Problem, ...] = ()
    families: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTask:
    """A task file, all that could be validated, and all that was wrong.

    `datasets` holds several datasets by the names that samples have them under; `result_of` is the specification
    whose result is the dataset. `resolved` is the definition with its parameters filled in and `$VAR` by name: what
    may be stored.
    """

    task: Task
    document: Document
    dataset: LoadedDataset | GeneratedDataset | None
    solver: LoadedSolver | None
    scorers: tuple[LoadedScorer, ...]
    config: Mapping[str, Any]
    resolved: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()
    datasets: tuple[tuple[str, LoadedDataset | GeneratedDataset], ...] = ()
    result_of: str | None = None
    evidence: EvidenceCode | None = None
    unresolved: frozenset[str] = field(default_factory=frozenset)

    @property
    def fan_out(self) -> int:
        """Return the maximum number of rows per sample: 1 without a postprocessor."""
        return 1 if self.solver is None or self.solver.settings.postprocessor is None else MAX_FANOUT

"""Dataset generators: rows from a source, changed by synthesizers one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.errors import Place, Problem
from assay.registry import SynthesizerKind
from assay.spec.document import Document
from assay.spec.fields import Key, Settings
from assay.spec.read_options import Reading
from assay.spec.task import GenerationDebug

Seed = int | None


class EmptyRows(Settings):
    """Rows without columns (one by default), for synthesizers that need no input."""

    type: Literal["empty"]
    num_samples: int = Field(default=1, ge=1)


class DatasetSamples(Settings):
    """The rows of a dataset; with a seed in an order drawn at random."""

    type: Literal["dataset_samples"]
    key: str
    random_seed: Seed = None


class DatasetSampleCombinations(Settings):
    """Every combination of a row of each dataset, columns side by side; with a seed in an order drawn at random."""

    type: Literal["dataset_sample_combinations"]
    keys: list[str] = Field(min_length=1)
    random_seed: Seed = None


class InlineRows(Settings):
    """Rows in the file itself."""

    type: Literal["inline_samples"]
    samples: list[dict[str, Any]] = Field(min_length=1)


class ResultRows(Settings):
    """The result of another specification of the same run."""

    type: Literal["task_result"]
    key: str


RowSource = Annotated[
    EmptyRows | DatasetSamples | DatasetSampleCombinations | InlineRows | ResultRows, Field(discriminator="type")
]


class GeneratorDefinition(Settings):
    """The definition of a generator; its synthesizers are checked one by one elsewhere."""

    type: str | None = None
    dataset: RowSource
    synthesizers: list[Any]


class GeneratorFile(Settings):
    """A generator file."""

    key: Key
    display_name: str
    description: str | None = None
    long_description: str | None = None
    config_spec: list[Any] = Field(default_factory=list)
    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    env: list[str] = Field(default_factory=list)
    definition: GeneratorDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSynthesizer:
    """A synthesizer of a generator."""

    kind: SynthesizerKind
    settings: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedGenerator:
    """A generator with its parameters filled in; `written` is what may be stored of it, secrets by name."""

    key: str
    source: RowSource
    synthesizers: tuple[LoadedSynthesizer, ...]
    written: Mapping[str, Any]
    document: Document
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedDataset:
    """A dataset that a generator makes, once and whenever what decides it changes."""

    key: str
    generator: LoadedGenerator
    num_samples: int
    reading: Reading
    debug: GenerationDebug | None = None
    place: Place | None
    notes: tuple[Problem, ...] = ()

    @property
    def root(self) -> Path:
        """The project folder."""
        return self.generator.document.root

    @property
    def result_of(self) -> str | None:
        """The specification whose result the rows come from, if they do."""
        source = self.generator.source
        return str(source.key) if isinstance(source, ResultRows) else None

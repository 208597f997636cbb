from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field, field_validator, model_validator

from assay.errors import Problem, SpecError
from assay.registry import Kind, Registry
from assay.spec import LoadedTask, load_task
from assay.spec.fields import Located, MetricSpec, ScorerSpec, Settings, SolverSpec, SourceSpec, Template


class Equals(ScorerSpec):
    """Is the text the same?"""

    type: Literal["equals"]
    ground_truth: Template
    value: Template | None = None
    normalize: list[Literal["strip", "lower"]] = Field(default_factory=list)
    tolerance: float = Field(default=0, ge=0)
    choices: Template | list[Template] | None = None
    exact: bool = True

    def default_metrics(self) -> list[dict[str, Any]]:
        return [{"type": "mean", "field": "is_correct"}]


class Pattern(ScorerSpec):
    """Does the pattern match?"""

    type: Literal["pattern"]
    pattern: str

    @model_validator(mode="after")
    def _closed(self) -> Pattern:
        if self.pattern.count("(") != self.pattern.count(")"):
            raise ValueError("the pattern has an open parenthesis")
        return self


class Free(ScorerSpec):
    """Gives values that are only known afterwards."""

    type: Literal["free"]


class Strict(ScorerSpec):
    """Refuses what it is given in its own words."""

    type: Literal["strict"]
    at: Located

    @field_validator("at")
    @classmethod
    def _refuse(cls, at: Located) -> Located:
        raise SpecError(Problem(message="not this", place=at.place if at == "here" else None))


class Mean(MetricSpec):
    """The mean of a field."""

    type: Literal["mean"]
    field: str
    name: str | None = None


class Binary(MetricSpec):
    """Counts of two fields."""

    type: Literal["binary"]
    field_gt: str
    num_true_field: str | None = None
    weights: dict[str, float] | None = None


class Message(Settings):
    """A message."""

    role: Literal["user", "system"]
    content: Template


class PassThrough(SolverSpec):
    """The answers are in the data."""

    type: Literal["pass_through_solver"]
    trace_column: str
    extra: list[Message] = Field(default_factory=list)


class Local(SourceSpec):
    """A file."""

    type: Literal["local"]
    file_path: Located


class Inline(SourceSpec):
    """Samples in the file."""

    type: Literal["inline_samples"]
    samples: list[dict[str, Any]]


def nothing(*_: Any) -> None:
    """The tests of spec/ never run what they load."""


@pytest.fixture(scope="session")
def registry() -> Registry:
    made = Registry()
    made.scorers.add(
        Kind(settings=Equals, function=nothing, values=("is_correct",), metadata=("answer_gt", "answer_pred"))
    )
    made.scorers.add(Kind(settings=Pattern, function=nothing, values=("is_correct",)))
    made.scorers.add(Kind(settings=Free, function=nothing))
    made.scorers.add(Kind(settings=Strict, function=nothing))
    made.metrics.add(Kind(settings=Mean, function=nothing))
    made.metrics.add(Kind(settings=Binary, function=nothing))
    made.solvers.add(Kind(settings=PassThrough, function=nothing))
    made.sources.add(Kind(settings=Local, function=nothing))
    made.sources.add(Kind(settings=Inline, function=nothing))
    return made


TOP = "key: qa\ndisplay_name: QA\ndescription: Questions\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder that is also the current folder, so that errors name short paths."""
    (tmp_path / ".assay").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


Load = Callable[..., LoadedTask]


@pytest.fixture
def load(project: Path, registry: Registry) -> Load:
    """Write the definition of a task (or, with `whole`, all of it) and load it."""

    def loaded(text: str, *, whole: bool = False, top: str = "", strict: bool = True, **more: Any) -> LoadedTask:
        indented = "".join(f"  {line}\n" if line else "\n" for line in text.splitlines())
        content = text if whole else f"{TOP}{top}definition:\n{indented}"
        (project / "task.yaml").write_text(content, encoding="utf-8")
        return load_task(Path("task.yaml"), registry, strict=strict, **more)

    return loaded

"""Sources that files may name and assay does not read: each answers with one clear sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, model_validator

from assay.datasets.batch import Batch
from assay.errors import SpecError
from assay.registry import SourceKind
from assay.spec.fields import SourceSpec


class AbsentSource(SourceSpec):
    """A source that is not supported; loading it explains the alternative."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)
    instead: ClassVar[str] = ""
    is_offered = False

    @model_validator(mode="before")
    @classmethod
    def _refuse(cls, value: Any) -> Any:
        raise ValueError(cls.instead)


def _platform(name: str) -> str:
    return f"datasets are not fetched from {name}: export it to a JSONL file and use `type: local`"


class LangSmithSource(AbsentSource):
    """LangSmith: export to JSONL instead."""

    type: Literal["langsmith"]
    instead = _platform("LangSmith")


class PhoenixSource(AbsentSource):
    """Phoenix: export to JSONL instead."""

    type: Literal["phoenix"]
    instead = _platform("Phoenix")


class ClaudeCodeSource(AbsentSource):
    """Claude Code sessions: export to JSONL instead."""

    type: Literal["claude_code"]
    instead = _platform("Claude Code")


def read_absent(settings: AbsentSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    """Never reached through a file: the settings refuse to load."""
    raise SpecError(settings.instead)


KINDS = tuple(
    SourceKind(settings=settings, read=read_absent)
    for settings in (
        LangSmithSource,
        PhoenixSource,
        ClaudeCodeSource,
    )
)

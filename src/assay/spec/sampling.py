"""The sampling settings in files, shared by solvers, judges and models."""

from __future__ import annotations

from functools import cached_property

from pydantic import Field

from assay.spec.fields import Settings
from assay.types import Sampling


class SamplingSpec(Settings):
    """The sampling settings of a model; unset ones are left to the model."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    stop: str | list[str] | None = None
    reasoning_effort: str | None = None

    @cached_property
    def value(self) -> Sampling:
        """The sampling parameters as the frozen value that travels with requests."""
        stop = [self.stop] if isinstance(self.stop, str) else self.stop
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            stop=None if stop is None else tuple(str(text) for text in stop),
            reasoning_effort=self.reasoning_effort,
        )

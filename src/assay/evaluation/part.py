"""A part of an evaluation: some of its specifications, so that several processes share the work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.errors import Problem, SpecError
from assay.evaluation.specifications import SpecificationStep
from assay.spec.nearest import listing, nearest


@dataclass(frozen=True, slots=True)
class Part:
    """Which specifications are run: those named in `only`, or shard `shard` of `shards`, counted from 1."""

    only: tuple[str, ...] = ()
    shard: int = 1
    shards: int = 1

    @property
    def is_whole(self) -> bool:
        return not self.only and self.shards == 1


WHOLE = Part()


def steps_of(part: Part, steps: Sequence[SpecificationStep]) -> list[SpecificationStep]:
    """The steps of a part, in their order; one that reads or repeats another's result goes with that one.

    Shards count the specifications as the file lists them, modulo the number of shards.
    """
    by_key = {step.key: step for step in steps}
    if part.only:
        unknown = [key for key in part.only if key not in by_key]
        if unknown:
            closest = nearest(unknown[0], by_key)
            message = f"--only {unknown[0]}: there is no such specification; known: {listing(by_key)}"
            raise SpecError(Problem(message=message, suggestion=closest))
        wanted = set(part.only)
        for key in part.only:
            wanted |= set(_sources(key, by_key))
        return [step for step in steps if step.key in wanted]
    number = {step.key: place for place, step in enumerate(steps)}
    return [
        step for step in steps if number[[step.key, *_sources(step.key, by_key)][-1]] % part.shards == part.shard - 1
    ]


def _sources(key: str, by_key: dict[str, SpecificationStep]) -> list[str]:
    """The specifications whose results one needs, directly or through another, the first of the chain last."""
    sources: list[str] = []
    step = by_key[key]
    while (source := step.after or step.repeats_of) is not None and source in by_key:
        sources.append(source)
        step = by_key[source]
    return sources

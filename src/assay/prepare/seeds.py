"""Seeds that a file leaves open: drawn once a store, so that a later run asks the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.spec import LoadedScorer
from assay.store.settings import shuffle_seed
from assay.store.store import Store


def seeded(scorers: Sequence[LoadedScorer], store: Store) -> tuple[LoadedScorer, ...]:
    """The scorers, those that draw something and name no seed with that of the store."""
    if not any(scorer.settings.wants_seed() for scorer in scorers):
        return tuple(scorers)
    seed = shuffle_seed(store)
    return tuple(
        replace(scorer, settings=scorer.settings.with_seed(seed)) if scorer.settings.wants_seed() else scorer
        for scorer in scorers
    )

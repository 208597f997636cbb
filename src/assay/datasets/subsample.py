"""Fewer samples: the first n, or n drawn by a seed, in the order of the source."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from assay.datasets.batch import Batch


def head(batches: Iterable[Batch], n: int) -> Iterator[Batch]:
    """The first n samples; nothing is read beyond them."""
    left = n
    if left <= 0:
        return
    for batch in batches:
        if len(batch) >= left:
            yield batch if len(batch) == left else batch.part(range(left), batch.start)
            return
        yield batch
        left -= len(batch)


def random_subset(read: Callable[[], Iterable[Batch]], n: int, seed: int) -> Iterator[Batch]:
    """n samples, each set of n as likely as any other, always the same for a seed.

    The dataset is read twice, first to count it: only the n places are held in memory.
    """
    total = sum(len(batch) for batch in read())
    if n >= total:
        yield from read()
        return
    drawn = sorted(random.Random(seed).sample(range(total), n))  # noqa: S311 - a draw, not a secret
    seen = start = 0
    for batch in read():
        low, high = bisect_left(drawn, seen), bisect_left(drawn, seen + len(batch))
        if high > low:
            # `start` counts what was drawn: positions in a run follow each other without gaps
            yield batch.part([place - seen for place in drawn[low:high]], start)
        seen, start = seen + len(batch), high

"""Sample ids are unique: checked in eight bytes a row, so that memory hardly grows with the dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from assay.datasets.batch import Batch
from assay.errors import Problem, SpecError
from assay.spec.fields import Located

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SeenHashes:
    """The 64-bit hashes of the ids so far, in sorted runs whose lengths at least double."""

    def __init__(self) -> None:
        self._runs: list[NDArray[np.int64]] = []

    def add_all(self, ids: list[str]) -> bool:
        """Add the ids; return True if one of their hashes was present already, or appears twice among them."""
        import numpy as np

        new = np.sort(np.fromiter(map(hash, ids), dtype=np.int64, count=len(ids)))
        repeated = bool((new[1:] == new[:-1]).any())
        for run in self._runs:
            # a hash beyond the last one of the run is held against the last one, which it cannot equal
            places = np.minimum(np.searchsorted(run, new), len(run) - 1)
            repeated = repeated or bool((run[places] == new).any())
        self._runs.append(new)
        # runs stay few, and an id takes part in about log(n) merges only
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            last = self._runs.pop()
            self._runs[-1] = np.sort(np.concatenate([self._runs[-1], last]), kind="stable")
        return repeated


def with_unique_ids(
    read: Callable[[], Iterable[Batch]], named: Located | None = None, *, has_ids: bool = False
) -> Iterator[Batch]:
    """Yield the batches unchanged; an id that appears twice is an error that names both rows.

    Ids are checked where the rows have the column `sample_id`, or `has_ids` says that they come from another column.
    Equal hashes are only a suspicion: the dataset is then read again, and the ids themselves compared.
    """
    seen = SeenHashes()
    for batch in read():
        if (has_ids or "sample_id" in batch.samples[0]) and seen.add_all(batch.ids):
            _compare_ids(read, batch.start + len(batch), named)
        yield batch


def _compare_ids(read: Callable[[], Iterable[Batch]], until: int, named: Located | None) -> None:
    first: dict[str, int] = {}
    for batch in read():
        for row, sample_id in enumerate(batch.ids, start=batch.start + 1):
            if first.setdefault(sample_id, row) != row:
                where = "" if named is None else f"{named}: "
                message = (
                    f'{where}the sample_id "{sample_id}" appears twice: in row {first[sample_id]} and in row {row}'
                )
                raise SpecError(Problem(message=message, place=None if named is None else named.place))
        if len(first) >= until:
            return

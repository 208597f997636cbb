"""Sample ids are unique: checked by their hashes, in memory that does not grow with the dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from assay.datasets.batch import Batch
from assay.errors import Problem, SpecError
from assay.spec.fields import Located

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


WINDOW = 2**18
"""So many hashes are held in memory; they take two megabytes."""
CHUNK = 2**16


class SeenHashes:
    """The 64-bit hashes of the ids so far: the latest in memory, earlier ones in a temporary file, each part sorted.

    A hash is looked up among those in memory at once, and in the file when memory is full or `repeats_earlier` is
    called: an id that comes twice is noticed within `WINDOW` rows, and memory does not grow with the dataset.
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.int64]] = []
        self._stored: list[int] = []
        self._file: IO[bytes] | None = None

    def add_all(self, ids: list[str]) -> bool:
        """Add the ids; return True if one of their hashes appears twice, as far as is known by now."""
        import numpy as np

        new = np.sort(np.fromiter(map(hash, ids), dtype=np.int64, count=len(ids)))
        repeated = bool((new[1:] == new[:-1]).any()) or any(_meet(run, new) for run in self._runs)
        self._runs.append(new)
        # runs stay few, and an id takes part in about log(n) merges only
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            last = self._runs.pop()
            self._runs[-1] = np.sort(np.concatenate([self._runs[-1], last]), kind="stable")
        if sum(map(len, self._runs)) >= WINDOW:
            repeated = self.repeats_earlier() or repeated
            self._store()
        return repeated

    def repeats_earlier(self) -> bool:
        """Whether a hash in memory is one of those in the file."""
        import numpy as np

        if self._file is None or not self._runs:
            return False
        held = np.sort(np.concatenate(self._runs))
        self._file.seek(0)
        for size in self._stored:
            for start in range(0, size, CHUNK):
                chunk = np.fromfile(self._file, dtype=np.int64, count=min(CHUNK, size - start))
                low, high = np.searchsorted(held, chunk[0]), np.searchsorted(held, chunk[-1], "right")
                if _meet(chunk, held[low:high]):
                    return True
        return False

    def close(self) -> None:
        """Remove the temporary file."""
        if self._file is not None:
            self._file.close()

    def _store(self) -> None:
        """Move what is in memory to the file, as one more sorted part."""
        import numpy as np

        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - it lives as long as this object
        self._file.seek(0, 2)
        held = np.sort(np.concatenate(self._runs))
        held.tofile(self._file)
        self._file.flush()
        self._stored.append(len(held))
        self._runs = []


def _meet(run: NDArray[np.int64], new: NDArray[np.int64]) -> bool:
    """Whether two sorted runs share a hash."""
    import numpy as np

    # a hash beyond the last one of the run is held against the last one, which it cannot equal
    places = np.minimum(np.searchsorted(run, new), len(run) - 1)
    return bool((run[places] == new).any())


def with_unique_ids(
    read: Callable[[], Iterable[Batch]], named: Located | None = None, *, has_ids: bool = False
) -> Iterator[Batch]:
    """Yield the batches unchanged; an id that appears twice is an error that names both rows.

    Ids are checked where the rows have the column `sample_id`, or `has_ids` says that they come from another column.
    Equal hashes are only a suspicion: the dataset is then read again, and the ids themselves compared.
    """
    last = 0
    with closing(SeenHashes()) as seen:
        for batch in read():
            if (has_ids or "sample_id" in batch.samples[0]) and seen.add_all(batch.ids):
                _compare_ids(read, batch.start + len(batch), named)
            last = batch.start + len(batch)
            yield batch
        if seen.repeats_earlier():
            _compare_ids(read, last, named)


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

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from assay.types import Rows, Trace

MakeRows = Callable[..., Rows]


@pytest.fixture
def make_rows() -> MakeRows:
    """Rows from their replies and columns; `replies=None` is a task without a solver."""

    def make(
        replies: Sequence[str] | None, columns: Mapping[str, Sequence[Any]] | None = None, traces: Any = None
    ) -> Rows:
        columns = columns or {}
        n = len(replies) if replies is not None else len(next(iter(columns.values())))
        samples = [{name: values[i] for name, values in columns.items()} for i in range(n)]
        return Rows(
            positions=range(n),
            ids=[str(i) for i in range(n)],
            samples=samples,
            answers=None if replies is None else list(replies),
            traces=None if traces is None else [Trace(tuple(items)) for items in traces],
        )

    return make

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.types import Rows, Trace


@pytest.fixture
def batch() -> Callable[..., Rows]:
    """A batch made of samples, with replies and conversations when they are given."""

    def make(*samples: dict[str, Any], answers: list[str] | None = None, traces: list[Trace] | None = None) -> Rows:
        ids = [f"s{i}" for i in range(len(samples))]
        return Rows(positions=range(len(samples)), ids=ids, samples=samples, answers=answers, traces=traces)

    return make

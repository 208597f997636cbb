"""`empty`: rows pass as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from assay.datasets.synthesizers.common import Row, SynthesizedRows, SynthesizerSpec
from assay.registry import BatchSynthesizerKind


class EmptySynthesizer(SynthesizerSpec):
    """Every row as it is."""

    type: Literal["empty"]


def pass_on(settings: EmptySynthesizer, rows: Sequence[Row]) -> list[SynthesizedRows]:
    """Each row alone.

    >>> pass_on(EmptySynthesizer(type="empty"), [{"a": 1}])
    [[{'a': 1}]]
    """
    return [[row] for row in rows]


KIND = BatchSynthesizerKind(settings=EmptySynthesizer, synthesize=pass_on)

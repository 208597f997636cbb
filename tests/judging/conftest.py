from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.judging.criteria import Criterion, CriterionOption


@pytest.fixture
def scale():
    """A criterion from the values of its options; None is an NA option."""

    def make(values, *, weight=10.0, scale_type="ordinal", labels=None, aggregation=None):
        options = [
            CriterionOption(label="NA", na=True, value=0.0)
            if value is None
            else CriterionOption(label=labels[place] if labels else str(place + 1), value=value)
            for place, value in enumerate(values)
        ]
        return Criterion(
            requirement="How good is it?",
            weight=weight,
            options=options,
            scale_type=scale_type,
            aggregation=aggregation,
        )

    return make


@pytest.fixture(scope="session")
def oracle_cases():
    """The worked cases that come with the project's contract; skipped where they are not at hand."""
    folder = os.environ.get("ASSAY_ORACLES")
    if folder is None and os.environ.get("ASSAY_REAL_DATA"):
        folder = str(Path(os.environ["ASSAY_REAL_DATA"]) / ".." / "oracles")
    path = Path(folder or "") / "aggregation_cases.json"
    if folder is None or not path.is_file():
        pytest.skip("set ASSAY_ORACLES to the folder of aggregation_cases.json")
    return json.loads(path.read_text())["cases"]

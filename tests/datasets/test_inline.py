from __future__ import annotations

import datetime

import pytest
from pydantic import ValidationError

from assay.datasets.inline import KIND, InlineSource


def test_samples_in_the_file_are_read_with_dates_as_text(tmp_path):
    settings = InlineSource(type="inline_samples", samples=[{"q": "x", "day": datetime.date(2024, 1, 2)}])
    (batch,) = KIND.read(settings, tmp_path)
    assert batch.samples == [{"q": "x", "day": "2024-01-02"}]
    assert batch.ids == ["0"]


def test_no_samples_is_an_empty_dataset(tmp_path):
    assert list(KIND.read(InlineSource(type="inline_samples", samples=[]), tmp_path)) == []


@pytest.mark.parametrize("samples", [["x"], {"q": 1}, [{1: "x"}]])
def test_samples_that_are_no_mappings_of_columns_are_refused(samples):
    with pytest.raises(ValidationError):
        InlineSource(type="inline_samples", samples=samples)

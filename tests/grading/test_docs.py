"""The rubrics that the documentation shows load as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.rubric import Criterion, Rubric

PAGE = Path(__file__).parents[2] / "docs" / "rubrics.md"
RUBRICS = re.findall(r"^```yml\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("text", RUBRICS)
def test_every_rubric_in_the_docs_loads(text):
    assert len(Rubric.from_yaml(text)) >= 3


def test_the_page_lists_every_field_of_a_criterion():
    text = PAGE.read_text()
    assert len(RUBRICS) == 2
    assert all(f"| `{name}` |" in text for name in Criterion.model_fields)

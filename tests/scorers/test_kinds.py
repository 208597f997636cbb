from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from assay.registry import KindTable, ScorerKind
from assay.scorers.kinds import KINDS


def test_every_scorer_has_its_own_name():
    shelf = KindTable(ScorerKind)
    for kind in KINDS:
        shelf.add(kind)
    assert set(shelf) == {
        "string_equals",
        "string_equals_mcqa",
        "contains",
        "regex",
        "numeric_equals",
        "json_schema",
        "bleu",
        "column",
        "function_call_coverage",
        "disallowed_function_calls",
        "function_call_output_contains",
        "function_call_output_not_contains",
        "embedding_similarity",
        "rag_checker",
        "model_as_a_judge_classifier",
        "model_as_a_judge_scorer",
        "labeler_via_model",
        "rubric",
        "python",
        "python_all_samples",
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_ranges_and_outputs_fit_together(kind):
    if kind.name != "rubric" and not kind.runs_code:  # criteria and code name their values themselves
        assert kind.values
        assert set(kind.ranges) <= set(kind.values)
        assert not set(kind.values) & set(kind.metadata)
    assert kind.summary


DOCS = Path(__file__).parents[2] / "docs"


def _examples(page):
    """The mappings in a page's fenced blocks."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    return [yaml.safe_load(block) for block in blocks]


def test_the_page_shows_every_scorer_and_every_field_and_its_examples_load():
    text = (DOCS / "scorers.md").read_text()
    examples = _examples("scorers.md")
    kinds = {kind.name: kind for kind in KINDS}
    assert {example["type"] for example in examples} == set(kinds)
    for example in examples:
        kinds[example["type"]].settings.model_validate(example)
    for kind in kinds.values():
        for name, field in kind.settings.model_fields.items():
            assert f"`{field.alias or name}`" in text or name == "type", (kind.name, name)

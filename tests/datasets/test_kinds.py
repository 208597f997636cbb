from __future__ import annotations

import re
from pathlib import Path

import yaml

from assay.datasets.absent import AbsentSource
from assay.datasets.kinds import KINDS
from assay.registry import KindTable, SourceKind


def test_every_source_has_its_own_name_and_a_summary():
    shelf = KindTable(SourceKind)
    for kind in KINDS:
        shelf.add(kind)
        assert kind.summary.endswith((".", "one."))
    assert set(shelf) == {
        "local",
        "folder",
        "inline_samples",
        "langsmith",
        "phoenix",
        "claude_code",
        "url",
        "huggingface",
        "inspect_ai",
    }


DOCS = Path(__file__).parents[2] / "docs"


def _examples(page):
    """The mappings in a page's fenced blocks."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    return [yaml.safe_load(block) for block in blocks]


def test_the_page_shows_every_source_and_every_field_and_its_examples_load():
    text = (DOCS / "datasets.md").read_text()
    examples = _examples("datasets.md")
    kinds = {kind.name: kind for kind in KINDS if not issubclass(kind.settings, AbsentSource)}
    assert {example["type"] for example in examples} == set(kinds)
    for example in examples:
        kinds[example["type"]].settings.model_validate(example)
    for kind in kinds.values():
        for name, field in kind.settings.model_fields.items():
            assert f"`{field.alias or name}`" in text or name == "type", (kind.name, name)

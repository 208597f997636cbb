from __future__ import annotations

import re
from pathlib import Path

import yaml

from assay.solvers.kinds import KINDS

DOCS = Path(__file__).parents[2] / "docs"


def _examples(page):
    """The mappings in a page's fenced blocks."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    return [yaml.safe_load(block) for block in blocks]


def test_the_examples_of_the_page_load_and_their_fields_are_all_explained():
    text = (DOCS / "solvers.md").read_text()
    examples = _examples("solvers.md")
    kinds = {kind.name: kind for kind in KINDS}
    assert "pass_through_solver" in {example["type"] for example in examples}
    for example in examples:
        kinds[example["type"]].settings.model_validate(example)
    for kind in [kinds[example["type"]] for example in examples]:
        for name, field in kind.settings.model_fields.items():
            assert f"`{field.alias or name}`" in text or name == "type", (kind.name, name)

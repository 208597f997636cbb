from __future__ import annotations

from assay.dataset.kinds import KINDS
from assay.registry import Shelf


def test_every_source_has_its_own_name_and_a_summary():
    shelf = Shelf("dataset source")
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

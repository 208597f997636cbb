from __future__ import annotations

import re
from pathlib import Path

import assay.metrics
from assay.metrics.kinds import KINDS


def test_every_kind_in_a_file_is_listed_once() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(assay.metrics.__file__).parent.glob("*.py")]
    defined = sum(len(re.findall(r"^[A-Z0-9_]+ = MetricKind\(", text, re.MULTILINE)) for text in texts)
    assert len({kind.name for kind in KINDS}) == len(KINDS) == defined


def test_every_metric_says_in_one_sentence_what_it_is() -> None:
    assert all(kind.summary.endswith(".") for kind in KINDS)

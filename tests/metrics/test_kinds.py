from __future__ import annotations

from pathlib import Path

import assay.metrics
from assay.metrics.kinds import KINDS


def test_every_file_that_exports_a_kind_is_listed_once() -> None:
    folder = Path(assay.metrics.__file__).parent
    files = [path.stem for path in folder.glob("*.py") if "\nKIND = " in path.read_text(encoding="utf-8")]
    assert len({kind.name for kind in KINDS}) == len(KINDS) == len(files)


def test_every_metric_says_in_one_sentence_what_it_is() -> None:
    assert all(kind.summary.endswith(".") for kind in KINDS)

from __future__ import annotations

from assay.errors import Place
from assay.sandbox.program import Program
from assay.spec.code import ScoreCode


def test_a_block_keeps_the_lines_of_its_file():
    code = ScoreCode("def compute_scores(s): ...", Place("task.yaml", 12, 1), literal=True)
    made = Program.of(code, "sample")
    assert (made.file, made.line, made.function) == ("task.yaml", 12, "compute_scores")


def test_text_on_one_line_is_named_by_its_place():
    made = Program.of(ScoreCode("x", Place("task.yaml", 12, 5)), "sample")
    assert (made.file, made.line) == ("task.yaml:12:5 (the snippet there)", 1)


def test_text_from_nowhere_is_a_snippet():
    assert Program.of(ScoreCode("x"), "sample", network=True).document() == {
        "source": "x",
        "function": "compute_scores",
        "shape": "sample",
        "file": "<snippet>",
        "line": 1,
        "network": True,
        "isolation": "batch",
    }

"""Problems as JSON."""

from assay.errors import Place, Problem
from assay.report.problems import problem_documents


def test_a_problem_with_and_without_a_place():
    here = Problem(message="bad", place=Place("t.yaml", 3, 7), suggestion="good")
    assert problem_documents([here, Problem(message="no file")]) == [
        {"file": "t.yaml", "line": 3, "column": 7, "message": "bad", "suggestion": "good"},
        {"file": None, "line": None, "column": None, "message": "no file", "suggestion": None},
    ]

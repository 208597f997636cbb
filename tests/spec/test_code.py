from __future__ import annotations

import pytest

from assay.errors import Place
from assay.spec.code import AllScoresCode, MetricCode, ScoreCode, codes_in
from assay.spec.fields import Settings

GOOD = [
    "def compute_scores(sample): return {}",
    "def compute_scores(sample, solver_output): return {}",
    "async def compute_scores(sample, solver_output=None, extra=1): return {}",
    "def compute_scores(*everything): return {}",
    "def compute_scores(sample, /, *, strict=False): return {}",
    "compute_scores = lambda sample: {}",
    "from json import loads as compute_scores",
    "if True:\n    def compute_scores(sample): return {}",
    "<< config.code >>",
]


@pytest.mark.parametrize("text", GOOD)
def test_a_snippet_with_its_function_is_fine(text):
    assert list(ScoreCode(text).problems()) == []


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("def compute_scores(sample:\n    return", (12, 19), "not Python: '(' was never closed"),
        ("x = 1\n\ny = = 2", (14, 5), "not Python: invalid syntax"),
        ("x = '\0'", (12, 1), "not Python: source code string cannot contain null bytes"),
        ("def other(sample): ...", (12, 1), "solver_output); it has other"),
        ("", (12, 1), "the snippet has no function"),
        ("x = 1\ndef compute_scores(): ...", (13, 1), "expected compute_scores(sample, solver_output)"),
        ("def compute_scores(a, b, c): ...", (12, 1), "expected compute_scores(sample, solver_output)"),
        ("def compute_scores(a, *, strict): ...", (12, 1), "expected compute_scores(sample, solver_output)"),
    ],
)
def test_what_is_wrong_is_said_at_its_line(text, place, message):
    (problem,) = ScoreCode(text, Place("task.yaml", 12, 1), literal=True).problems()
    assert (problem.place.line, problem.place.column) == place
    assert message in problem.message


def test_a_misspelt_name_is_guessed_where_it_stands():
    code = ScoreCode("import re\n\ndef compute_score(sample): ...", Place("task.yaml", 12, 1), literal=True)
    (problem,) = code.problems()
    assert (problem.place.line, problem.suggestion) == (14, "compute_scores")


def test_in_text_on_one_line_the_line_of_the_snippet_is_named():
    (problem,) = MetricCode("x = 1\nx = = 2", Place("task.yaml", 3, 9)).problems()
    assert (problem.place, problem.message) == (
        Place("task.yaml", 3, 9),
        "not Python: invalid syntax (line 2 of the snippet)",
    )


@pytest.mark.parametrize(
    ("text", "takes"),
    [
        ("def compute_scores(a): ...", [True, False]),
        ("def compute_scores(a, b=1): ...", [True, True]),
        ("def compute_scores(*a): ...", [True, True]),
        ("compute_scores = print", [True, True]),
        ("def", [True, True]),
    ],
)
def test_how_many_arguments_a_function_takes_is_seen_without_running_it(text, takes):
    assert [ScoreCode(text).takes(n) for n in (1, 2)] == takes


def test_snippets_are_found_however_deep():
    class Inner(Settings):
        code: ScoreCode

    class Outer(Settings):
        inner: list[Inner]
        more: dict[str, AllScoresCode]
        text: str = "def f(): ..."

    made = Outer.model_validate({"inner": [{"code": "a"}], "more": {"x": "b"}})
    assert [(type(code), str(code)) for code in codes_in(made)] == [(ScoreCode, "a"), (AllScoresCode, "b")]
    assert list(codes_in((Inner(code=ScoreCode("c")),))) == ["c"]

from __future__ import annotations

import pytest

from assay.sandbox.linux import unsupported
from assay.sandbox.pool import Sandbox
from assay.scorers.snippet_all import PythonAllSamplesScorer, snippet_all

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as opened:
        yield opened


@pytest.fixture
def score(sandbox, make_rows):
    def run(body: str, replies=("A", "B"), *, head="def compute_scores(samples):", **more):
        given = {"type": "python_all_samples", "compute_scores_snippet": f"{head}\n    {body}\n", "metrics": []}
        return snippet_all(PythonAllSamplesScorer.model_validate(given), make_rows(replies, **more), sandbox=sandbox)

    return run


def test_every_sample_sees_the_others(score):
    scored = score("return [{'rank': sorted(s.q for s in samples).index(x.q)} for x in samples]", columns={"q": [9, 3]})
    assert scored.values == {"rank": [1, 0]}


def test_answers_come_with_the_samples_or_as_a_list_of_their_own(score):
    assert score("return [{'a': s.solver_output.output} for s in samples]").values == {"a": ["A", "B"]}
    head = "async def compute_scores(samples, solver_outputs):"
    assert score("return [{'a': o.output} for o in solver_outputs]", head=head).values == {"a": ["A", "B"]}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 1", "returned a number (1), not a list with one entry per sample"),
        ("return [{'a': 1}]", "returned 1 entries for 2 samples"),
        ("raise ValueError('no')", "ValueError: no"),
        ("import os; os._exit(1)", "ended its process (exit code 1)"),
    ],
)
def test_where_the_function_fails_every_sample_does(score, body, words):
    failures = score(body).failures
    assert list(failures) == [0, 1]
    assert all(words in failure.detail and failure.kind == "code" for failure in failures.values())


def test_an_entry_that_is_no_score_fails_alone(score):
    scored = score("print('once'); return [{'a': 1}, None]")
    assert scored.values == {"a": [1, None]}
    assert "returned nothing, not a mapping" in scored.failures[1].detail
    assert scored.metadata == {"printed": ["once\n", None]}


def test_no_samples_run_no_code(score):
    assert score("raise ValueError", replies=()).failures == {}

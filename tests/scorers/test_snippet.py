from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.errors import Place
from assay.sandbox.linux import CodeLimits, unsupported
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import Returned
from assay.scorers.common import RowFailureError
from assay.scorers.snippet import PythonScorer, read_score, snippet
from assay.spec.code import ScoreCode

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(limits=CodeLimits(call_s=2.0)) as opened:
        yield opened


@pytest.fixture
def score(sandbox, make_rows):
    """Score replies and columns with the body of a function."""

    def run(body: str, replies=("A", "B"), *, head="def compute_scores(sample, solver_output):", **more):
        code = ScoreCode(f"{head}\n    {body}\n", Place("task.yaml", 10, 1), literal=True)
        settings = PythonScorer(type="python", compute_scores_snippet=code, metrics=[])
        return snippet(settings, make_rows(replies, **more), sandbox=sandbox)

    return run


def test_a_flat_mapping_is_the_values(score):
    scored = score("return {'is_correct': solver_output.output == 'A', 'n': 1, 'label': 'x', 'share': 0.5}")
    assert scored.values == {"is_correct": [True, False], "n": [1, 1], "label": ["x", "x"], "share": [0.5, 0.5]}
    assert (scored.metadata, scored.failures) == ({}, {})


def test_scores_and_metadata_are_kept_apart(score):
    scored = score("return {'scores': {'a': 1}, 'metadata': {'why': ['x', None]}}")
    assert (scored.values, scored.metadata) == ({"a": [1, 1]}, {"why": [["x", None], ["x", None]]})


def test_a_field_called_scores_beside_others_is_a_field_like_any_other(score):
    assert score("return {'scores': 1, 'other': 2}").values == {"scores": [1, 1], "other": [2, 2]}


def test_a_field_may_be_absent_from_some_rows(score):
    assert score("return {'a': 1} if solver_output.output == 'A' else {'b': 2}").values == {
        "a": [1, None],
        "b": [None, 2],
    }


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("def compute_scores(sample):", "return {'x': sample.q}"),
        ("async def compute_scores(sample):", "return {'x': sample['q']}"),
        ("async def compute_scores(sample, solver_output=None):", "return {'x': sample.get('q')}"),
        ("def compute_scores(*given):", "return {'x': given[0].q}"),
    ],
)
def test_functions_of_every_form_work(score, head, body):
    assert score(body, head=head, columns={"q": [3, 4]}).values == {"x": [3, 4]}


def test_a_task_without_a_solver_has_no_output(score):
    assert score("return {'none': solver_output is None}", None, columns={"q": [1]}).values == {"none": [True]}


def test_the_whole_conversation_is_there(score):
    traces = [[{"type": "message", "role": "user", "content": "Hi"}, {"role": "assistant", "content": "A"}], []]
    scored = score("return {'n': len(solver_output.trace.items)}", traces=traces)
    assert scored.values == {"n": [2, 0]}


def test_a_row_that_fails_leaves_the_others_alone(score):
    scored = score("return {'x': 1 / (solver_output.output != 'A')}")
    assert scored.values == {"x": [None, 1.0]}
    (failure,) = scored.failures.values()
    assert (failure.stage, failure.kind, failure.retryable) == ("score", "code", False)
    assert failure.detail.splitlines() == [
        "ZeroDivisionError: division by zero",
        "  task.yaml:11 in compute_scores",
        "    return {'x': 1 / (solver_output.output != 'A')}",
    ]


def test_what_is_printed_is_kept_with_the_score_or_the_failure(score):
    scored = score("print('saw', solver_output.output); return {'x': 1 / (solver_output.output != 'A')}")
    assert scored.metadata == {"printed": [None, "saw B\n"]}
    assert scored.failures[0].detail.endswith("printed: saw A\n")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "returned nothing, not a mapping of values"),
        (0.5, "returned a number (0.5), not a mapping"),
        ([1], "returned a list, not a mapping"),
        ({}, "returned no value"),
        ({"scores": {}}, "returned no value"),
        ({"scores": 1}, 'returned a number (1) for "scores", not a mapping'),
        ({"scores": {"a": 1}, "metadata": [1]}, 'returned a list for "metadata", not a mapping'),
        ({"a": None}, 'returned nothing for "a"; a value is a finite number, text, true or false'),
        ({"a": {"b": 1}}, 'returned a mapping for "a"'),
        ({"a": [1]}, 'returned a list for "a"'),
        ({"a": float("nan")}, 'returned a number (nan) for "a"'),
        ({"a": float("-inf")}, 'returned a number (-inf) for "a"'),
        ({"a": "\ud800"}, "returned a value that cannot be stored"),
        ({"scores": {"a": 1}, "metadata": {"m": "\ud800"}}, "returned a value that cannot be stored"),
    ],
)
def test_what_is_no_score_is_a_failure_that_names_it(value, words):
    with pytest.raises(RowFailureError) as caught:
        read_score(Returned(value), "compute_scores")
    assert caught.value.failure.kind == "code"
    assert words in caught.value.failure.detail


def test_integers_of_any_size_are_values():
    assert read_score(Returned({"a": 2**70}), "f") == ({"a": 2**70}, {})


def test_own_metadata_called_printed_wins():
    result = Returned({"scores": {"a": 1}, "metadata": {"printed": "own"}}, "caught")
    assert read_score(result, "f")[1] == {"printed": "own"}


def test_metrics_must_be_named():
    with pytest.raises(ValidationError, match="metrics"):
        PythonScorer.model_validate({"type": "python", "compute_scores_snippet": "x"})

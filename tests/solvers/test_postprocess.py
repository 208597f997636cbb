from __future__ import annotations

import pytest

from assay.sandbox.linux import unsupported
from assay.sandbox.pool import Sandbox
from assay.solvers.postprocess import postprocess
from assay.spec.fields import Postprocessor
from assay.types import MAX_FANOUT, Failure, Rows, Trace

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as opened:
        yield opened


@pytest.fixture
def fan(sandbox):
    def run(body: str, *answers: str, traces=None):
        code = (
            f"from latticeflow.core.dtypes import SolverOutput\ndef postprocess(sample, solver_output):\n    {body}\n"
        )
        settings = Postprocessor.model_validate({"type": "python", "postprocess_snippet": code})
        n = len(answers)
        samples = [{"n": i} for i in range(n)]
        rows = Rows(
            positions=range(n), ids=[f"q{i}" for i in range(n)], samples=samples, answers=answers, traces=traces
        )
        return postprocess(settings, rows, sandbox=sandbox)

    return run


def test_every_row_has_a_sample_and_an_answer_of_its_own(fan):
    body = "return [({**sample, 'part': p}, SolverOutput(p)) for p in solver_output.output.split()]"
    (first, second) = fan(body, "a b", "c")
    assert [(row.sample, row.answer) for row in first] == [({"n": 0, "part": "a"}, "a"), ({"n": 0, "part": "b"}, "b")]
    assert [row.answer for row in second] == ["c"]
    assert first[0].trace.get_last_assistant_text() == "a"


def test_the_conversation_can_be_handed_on_or_changed(fan):
    trace = Trace(({"type": "message", "role": "user", "content": "?"}, {"role": "assistant", "content": "a"}))
    ((same, cut),) = fan(
        "return [(sample, solver_output), (sample, SolverOutput('b', solver_output.trace.items[:1]))]",
        "a",
        traces=[trace],
    )
    assert (same.answer, len(same.trace.items)) == ("a", 2)
    assert (cut.answer, len(cut.trace.items)) == ("b", 1)


def test_text_will_do_for_an_output(fan):
    (((row,)),) = fan("return [(sample, 'b')]", "a")
    assert (row.answer, row.trace.get_last_assistant_text()) == ("b", "b")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("return None", "returned nothing, not a list"),
        ("return []", "postprocess returned no rows"),
        ("return [sample]", "row 0 of postprocess is a mapping, not (sample, solver_output)"),
        ("return [(sample, solver_output), (1, solver_output)]", "row 1 of postprocess is a list"),
        ("return [(sample, None)]", "the solver_output of row 0 of postprocess is nothing"),
        ("return [(sample, SolverOutput('x', [1]))]", "entry 1 of the conversation has neither role nor type"),
        ("return [({'a': '\\ud800'}, 'x')]", "cannot be stored"),
        (f"return [(sample, 'x')] * {MAX_FANOUT + 1}", "returned 4,097 rows; 4,096 are allowed"),
    ],
)
def test_what_are_no_rows_is_a_failure_of_the_sample(fan, body, words):
    (failure,) = fan(body, "a")
    assert isinstance(failure, Failure)
    assert (failure.stage, failure.kind) == ("solve", "code")
    assert words in failure.detail

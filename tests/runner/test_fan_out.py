from __future__ import annotations

from assay.runner.fan_out import fanned_batch
from assay.runner.writer import Solved
from assay.types import MAX_FANOUT, Failure, Fanned, Rows, Trace


def test_rows_take_the_place_of_their_sample_and_failures_keep_one():
    trace = Trace(())
    rows = Rows(
        positions=[5, 6, 7], ids=["a", "b", "c"], samples=[{"x": 1}, {"x": 2}, {"x": 3}], answers=["1", "2", "3"]
    )
    early, late = (Failure(stage="solve", kind=kind, detail="no") for kind in ("parse", "code"))
    solved = Solved(rows=rows, inputs=["{1}", "{2}", "{3}"], failures={1: early})
    two = [Fanned(sample={"y": n}, answer=str(n), trace=trace) for n in range(2)]
    made = fanned_batch(solved, [two, late])
    first = [position * MAX_FANOUT for position in (5, 6, 7)]
    assert list(made.rows.positions) == [first[0], first[0] + 1, first[1], first[2]]
    assert list(made.rows.ids) == ["a/0", "a/1", "b", "c"]
    assert list(made.inputs) == ['{"y":0}', '{"y":1}', "{2}", "{3}"]
    assert made.failures == {2: early, 3: late}
    assert list(made.rows.answers or ()) == ["0", "1", "", ""]

from __future__ import annotations

import gzip
import os
from pathlib import Path

import orjson
import pytest

from assay.solvers.kinds import KINDS
from assay.solvers.pass_through import KIND, PassThroughSolver
from assay.types import Rows

SETTINGS = PassThroughSolver(type="pass_through_solver", trace_column="reply")


def _solve(*samples):
    rows = Rows(positions=range(len(samples)), ids=[str(i) for i in range(len(samples))], samples=samples)
    return KIND.solve(SETTINGS, rows)


def test_plain_texts_are_the_answers_and_make_no_traces():
    rows, failures = _solve({"reply": "B"}, {"reply": ""}, {"reply": "{{ 7 * 7 }}"})
    assert rows.answers == ["B", "", "{{ 7 * 7 }}"]
    assert rows.traces is None
    assert failures == {}


def test_numbers_of_a_typed_column_are_answers_by_their_text():
    rows, failures = _solve({"reply": 18}, {"reply": True})
    assert rows.answers == ["18", "True"]
    assert rows.traces is None
    assert failures == {}


def test_where_one_row_is_a_conversation_every_row_has_a_trace():
    chat = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "A"}]
    rows, failures = _solve({"reply": chat}, {"reply": "B"}, {"reply": None})
    assert rows.answers == ["A", "B", ""]
    assert [len(trace.items) for trace in rows.traces] == [2, 1, 0]
    assert rows.traces[1].get_last_assistant_text() == "B"
    assert {place: failure.kind for place, failure in failures.items()} == {2: "parse"}


def test_a_refusal_fails_and_its_conversation_is_kept():
    rows, failures = _solve({"reply": [{"role": "assistant", "content": None, "refusal": "no"}]})
    assert failures[0].kind == "refusal"
    assert len(rows.traces[0].items) == 1


def test_a_missing_column_fails_its_row_alone_and_offers_the_nearest_name():
    rows, failures = _solve({"reply": "B"}, {"repyl": "C"}, {})
    assert rows.answers == ["B", "", ""]
    assert failures[1].kind == failures[2].kind == "missing_field"
    assert 'did you mean "repyl"' in failures[1].detail
    assert "it has none" in failures[2].detail


def test_an_empty_batch_stays_empty():
    rows, failures = _solve()
    assert (rows.answers, rows.traces, failures) == ([], None, {})


def test_the_solver_is_on_the_list_by_its_name():
    assert KIND in KINDS
    assert KIND.name == "pass_through_solver"


@pytest.mark.skipif("ASSAY_REAL_DATA" not in os.environ, reason="needs ASSAY_REAL_DATA")
def test_hostile_strings_are_answers_like_any_other():
    path = Path(os.environ["ASSAY_REAL_DATA"]) / "hostile/naughty_strings__security.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines()
    texts = [orjson.loads(line)["completion"] for line in lines]
    rows, failures = _solve(*({"reply": text} for text in texts))
    assert rows.answers == texts
    assert failures == {}

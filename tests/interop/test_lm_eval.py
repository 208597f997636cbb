"""Samples of lm-evaluation-harness: blank lines, odd replies, filters that some documents lack."""

from __future__ import annotations

import json

import pytest

from assay.errors import SpecError
from assay.interop.lm_eval import read_lm_eval
from assay.types import Failure


def write(path, *rows):
    path.write_text("\n\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def line(number, **more):
    return {"doc_id": number, "doc": {"q": number, "target": "own"}, "target": "4", "resps": [["x"]], **more}


@pytest.mark.parametrize(
    ("resps", "output"),
    [
        ([["one"]], "one"),
        (["one"], "one"),
        ([["one", "two"]], '["one","two"]'),
        ([], None),
        ([[["-1.5", "True"]]], '["-1.5","True"]'),
        ([[[-1.5, True]], [[-0.5, True]]], "[[[-1.5,true]],[[-0.5,true]]]"),
    ],
)
def test_the_reply_is_found_in_whatever_it_is_wrapped(tmp_path, resps, output):
    made = read_lm_eval(write(tmp_path / "samples_t.jsonl", line(0, resps=resps, acc=1)))
    assert made.samples[0].output == output


def test_a_documents_own_target_is_kept_and_the_name_of_the_file_names_the_task(tmp_path):
    path = write(tmp_path / "samples_a_b_2024-05-06T07-08-09.123.jsonl", line(0, acc=1), line(1, acc=0))
    made = read_lm_eval(path)
    assert (made.task, made.model, made.samples[0].sample["target"]) == ("a_b", None, "own")
    assert read_lm_eval(write(tmp_path / "other.jsonl", line(0, acc=1))).task == "other"


def test_a_filter_or_a_number_that_is_missing_is_a_failure(tmp_path):
    rows = [line(0, filter="f", acc=1), line(0, filter="g", acc=1), line(1, filter="f", acc="broken")]
    made = read_lm_eval(write(tmp_path / "samples_t.jsonl", *rows))
    assert made.samples[0].outcomes["g"].values == {"acc": 1.0}
    assert all(isinstance(outcome, Failure) for outcome in made.samples[1].outcomes.values())


def test_the_newest_results_file_that_names_a_model_is_taken(tmp_path):
    (tmp_path / "results_1.json").write_text('{"model_name": "old"}')
    (tmp_path / "results_2.json").write_text('{"results": NaN}')
    assert read_lm_eval(write(tmp_path / "samples_t.jsonl", line(0, acc=1))).model == "old"


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "samples_t.jsonl").write_text("\n\n")
    with pytest.raises(SpecError, match="the file has no samples"):
        read_lm_eval(tmp_path / "samples_t.jsonl")

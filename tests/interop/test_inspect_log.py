"""Logs of Inspect: odd outputs, odd scores, broken archives."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from assay.datasets import inspect_file
from assay.errors import SpecError
from assay.interop.inspect_log import read_inspect
from assay.types import Failure

FIXTURES = Path(__file__).parents[1] / "import_fixtures" / "inspect"
ZSTD_OF_HELLO = b"(\xb5/\xfd \x05)\x00\x00hello"


def log(tmp_path, *samples):
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"status": "success", "eval": {"model": None}, "samples": samples}))
    return path


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (None, None),
        ({"choices": []}, None),
        ({"choices": [], "completion": "done"}, "done"),
        ({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}, "ab"),
    ],
)
def test_the_answer_is_found_where_there_is_one(tmp_path, output, text):
    made = read_inspect(log(tmp_path, {"id": 7, "output": output, "messages": "?", "metadata": 3}))
    assert (made.samples[0].sample_id, made.samples[0].output, made.samples[0].sample) == ("7", text, {})
    assert (made.task, made.model) == ("log", None)


@pytest.mark.parametrize(
    ("score", "values"),
    [
        ({"value": "C"}, {"is_correct": 1.0}),
        ({"value": "N"}, {"is_correct": 0.0}),
        ({"value": True}, {"is_correct": 1.0}),
        (1, {"is_correct": 1.0}),
        ({"value": 0.25}, {"value": 0.25}),
        ({"value": "fine"}, {"label": "fine"}),
        ({"value": {"a b": 1, "c": "x", "d": [1]}}, {"a_b": 1.0, "c": "x"}),
    ],
)
def test_scores_are_right_or_wrong_numbers_labels_or_several(tmp_path, score, values):
    made = read_inspect(log(tmp_path, {"id": 1, "scores": {"s": score}}))
    assert made.samples[0].outcomes["s"].values == values


@pytest.mark.parametrize("score", [{"value": [1, 2]}, {"value": {}}, {}])
def test_a_score_that_says_nothing_is_a_failure(tmp_path, score):
    made = read_inspect(log(tmp_path, {"id": 1, "scores": {"s": score}}))
    assert isinstance(made.samples[0].outcomes["s"], Failure)


def test_errors_are_failures_of_the_kind_that_they_speak_of(tmp_path):
    messages = [
        "Request timed out",
        "RateLimitError 429",
        "Connection reset",
        "content_filter",
        "invalid JSON",
        "oops",
        "",
    ]
    made = read_inspect(log(tmp_path, *({"id": i, "error": {"message": m}} for i, m in enumerate(messages))))
    kinds = [sample.failure.kind for sample in made.samples]
    assert kinds == ["timeout", "http", "connection", "refusal", "parse", "code", "code"]
    assert read_inspect(log(tmp_path, {"id": 1, "error": "text"})).samples[0].failure.detail == "text"


def test_samples_of_an_archive_come_in_the_order_of_their_ids(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {"task": "t"}}))
        for number in (10, 2, "a"):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps({"id": number, "epoch": 1}))
    assert [sample.sample_id for sample in read_inspect(path).samples] == ["2", "10", "a"]


def test_archives_that_are_too_large_or_broken_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {}}))
    monkeypatch.setattr(inspect_file, "LARGEST_MEMBER", 3)
    with pytest.raises(SpecError, match="is larger than"):
        read_inspect(path)
    monkeypatch.undo()
    path.write_bytes(path.read_bytes().replace(b'{"eval"', b'{"evil"'))
    with pytest.raises(SpecError, match="cannot be read: Bad CRC"):
        read_inspect(path)


def test_long_texts_are_put_back_and_the_score_of_old_logs_is_read(tmp_path):
    row = {
        "id": 1,
        "input": [{"role": "user", "content": "attachment://abc"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "attachment://abc"}]}],
        "output": {"choices": [{"message": {"content": "attachment://gone"}}]},
        "attachments": {"abc": "a very long text"},
        "score": {"value": "I"},
    }
    made = read_inspect(log(tmp_path, row)).samples[0]
    assert made.sample["input"][0]["content"] == "a very long text"
    assert made.trace[0]["content"] == "a very long text"
    assert made.output == "attachment://gone"
    assert made.outcomes["score"].values == {"is_correct": 0.0}


def test_a_zstd_log_opens_without_pyarrow_and_a_wrong_one_is_refused(tmp_path):
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from pathlib import Path; from assay.interop.inspect_log import read_inspect\n"
        "print(len(read_inspect(Path(sys.argv[1])).samples))"
    )
    run = subprocess.run([sys.executable, "-c", script, FIXTURES / "mean.eval"], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("9\n", "")


@pytest.mark.parametrize(
    ("data", "size", "message"),
    [
        (b"not zstd at all", 5, "frame"),
        (ZSTD_OF_HELLO, 4, "5 bytes instead of 4"),
        (ZSTD_OF_HELLO[:-3], 5, "2 bytes instead of 5"),
    ],
)
def test_bytes_that_are_no_zstd_of_their_size_are_refused(data, size, message):
    with pytest.raises(ValueError, match=message):
        inspect_file._zstd(data, size)

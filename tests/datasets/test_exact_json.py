from __future__ import annotations

import json

import pytest

from assay.datasets.batch import in_batches
from assay.datasets.exact_json import exact_integers, json_ready
from assay.datasets.json_array import read_json
from assay.datasets.jsonl import read_jsonl
from assay.errors import SpecError

LONG = "12345678901234567890123"


def _read(tmp_path, suffix, text):
    path = tmp_path / f"data{suffix}"
    path.write_text(text)
    return next(iter((read_jsonl if suffix == ".jsonl" else read_json)(path)))


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_integers_beyond_64_bits_keep_every_digit(tmp_path, suffix):
    rows = [f'{{"n": {LONG}, "list": [-{LONG}]}}', '{"n": 18446744073709551615, "list": [-9223372036854775808, 1.5]}']
    text = "\n".join(rows) if suffix == ".jsonl" else f"[{','.join(rows)}]"
    batch = _read(tmp_path, suffix, text)
    assert batch.samples == [
        {"n": LONG, "list": [f"-{LONG}"]},
        {"n": 2**64 - 1, "list": [-(2**63), 1.5]},
    ]
    # what the store keeps says the same
    assert [json.loads(line) for line in batch.texts] == batch.samples


@pytest.mark.parametrize(
    ("suffix", "text", "told"),
    [
        (
            ".jsonl",
            '{"a": 1}\n{"a": 1, "b": 2, "a": 3}\n',
            r'data\.jsonl:2:1: the key "a" appears twice in this object',
        ),
        (".jsonl", '\n{"x": [{"b": "c", "b": "c"}]}\n', r'data\.jsonl:2:1: the key "b" appears twice'),
        (".json", '[{"a": 1}, {"a": "x", "a": "y"}]', r'data\.json:1:1: the key "a" appears twice in one object'),
    ],
)
def test_a_key_that_comes_twice_is_an_error(tmp_path, suffix, text, told):
    with pytest.raises(SpecError, match=told):
        _read(tmp_path, suffix, text)


@pytest.mark.parametrize("line", ['{"a": "say \\u0022a\\u0022", "b": {"a": 1}}', '{"a\\u0022": 1, "a": 2}'])
def test_escaped_quotes_are_no_keys(tmp_path, line):
    assert _read(tmp_path, ".jsonl", line).samples == [json.loads(line)]


def test_long_digits_in_texts_change_nothing(tmp_path):
    line = f'{{"id":   "{LONG}", "said": "a, {LONG}, b", "f": 0.{LONG}}}'
    batch = _read(tmp_path, ".jsonl", line)
    assert batch.samples == [{"id": LONG, "said": f"a, {LONG}, b", "f": float("0." + LONG)}]


def test_a_number_of_thousands_of_digits_is_read():
    assert exact_integers(f"[{'1' * 10_000}]") == ["1" * 10_000]


def test_rows_of_python_keep_their_digits_too():
    (batch,) = in_batches([{"n": 10**30, "in": {"m": [10**30]}}], "rows")
    assert batch.samples == [{"n": str(10**30), "in": {"m": [str(10**30)]}}]
    assert json_ready({"a": 1, "b": None}) == {"a": 1, "b": None}


def test_two_long_integers_that_differ_in_one_digit_are_different(project):
    project.write("data.jsonl", f'{{"answer": {LONG}, "said": "{LONG}"}}\n{{"answer": {LONG[:-1]}4, "said": {LONG}}}\n')
    project.write(
        "task.yaml",
        """
key: t
display_name: T
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - {type: numeric_equals, ground_truth: "{{ sample.answer }}", value: "{{ sample.said }}"}
    - {type: string_equals, ground_truth: "{{ sample.answer }}", value: "{{ sample.said }}"}
""",
    )
    assert project.assay("run", "task.yaml").code == 0
    samples = [json.loads(line) for line in project.assay("samples", "--json").out.splitlines()]
    scores = [[score["values"]["is_correct"] for score in sample["scores"].values()] for sample in samples]
    assert scores == [[1.0, 1.0], [0.0, 0.0]]

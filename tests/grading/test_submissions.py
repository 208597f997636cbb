"""Texts from a folder or a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import SpecError
from assay.grading.submissions import read_submissions
from assay.rubric import Criterion, Rubric

RUBRIC = Rubric([Criterion(requirement="Is polite.")])


def _read(name, **options):
    return [(item.description, item.submission) for item in read_submissions(Path(name), RUBRIC, **options)]


def test_a_folder_of_texts(folder):
    (folder / "essays" / "b").mkdir(parents=True)
    (folder / "essays" / "a.txt").write_text("first")
    (folder / "essays" / "b" / "c.md").write_text("second")
    (folder / "essays" / ".hidden").write_text("no")
    assert _read("essays") == [("a.txt", "first"), ("b/c.md", "second")]
    (folder / "empty").mkdir()
    with pytest.raises(SpecError, match="has no files"):
        _read("empty")


def test_the_column_of_a_table_is_named_or_found(folder):
    (folder / "d.csv").write_text("sample_id,answer,prompt\nx,one,why\ny,two,\n")
    assert _read("d.csv") == _read("d.csv", column="answer") == [("x", "one"), ("y", "two")]
    assert [item.prompt for item in read_submissions(Path("d.csv"), RUBRIC)] == ["why", None]
    with pytest.raises(SpecError, match='no column "anwser"; it has sample_id, answer, prompt.*did you mean "answer"'):
        _read("d.csv", column="anwser")
    (folder / "e.csv").write_text("id,words\n1,one\n")
    with pytest.raises(SpecError, match='no column "submission"; it has id, words'):
        _read("e.csv")
    (folder / "f.jsonl").write_text('{"text": "one"}\n{"text": 3}\n')
    with pytest.raises(SpecError, match='row 2 has no text in the column "text"'):
        _read("f.jsonl")


def test_a_dataset_file_keeps_its_own(folder):
    (folder / "d.jsonl").write_text('{"submission": "one", "description": "first"}\n{"submission": "two"}\n')
    assert _read("d.jsonl") == [("first", "one"), ("2", "two")]


def test_a_folder_that_is_not_there_is_named(three_scales):
    with pytest.raises(SpecError, match="there is no file or folder nowhere"):
        read_submissions(Path("nowhere"), three_scales)

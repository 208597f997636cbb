from __future__ import annotations

import gzip

import pytest

from assay.datasets import lines as module
from assay.datasets.lines import chunks, line_batches
from assay.errors import SpecError


def _lines(path):
    return [(first + i, line) for first, batch in line_batches(path) for i, line in enumerate(batch)]


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 7, 2**20])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize(
    "text", ["", "a", "a\n", "a\nb", "\n\na\n\n", "é\nüü\n\u2028x\x0by\r\nz", "long line of text\n" * 9]
)
def test_lines_are_the_same_however_the_file_is_cut(write, monkeypatch, text, name, chunk_bytes):
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk_bytes)
    expected = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []
    assert _lines(write(name, text)) == list(enumerate(expected, start=1))


def test_a_byte_order_mark_is_no_part_of_the_text(write):
    assert _lines(write("a.csv", b"\xef\xbb\xbfx\ny")) == [(1, "x"), (2, "y")]


def test_batches_are_cut_by_rows_and_by_bytes(write, monkeypatch):
    monkeypatch.setattr(module, "BATCH_ROWS", 3)
    assert [len(b) for _, b in line_batches(write("a", "x\n" * 7))] == [3, 3, 1]
    monkeypatch.setattr(module, "CHUNK_BYTES", 4)
    monkeypatch.setattr(module, "BATCH_BYTES", 2)
    assert [first for first, _ in line_batches(write("a", "xxx\n" * 3))] == [1, 2, 3]


@pytest.mark.parametrize("chunk_bytes", [4, 2**20])
def test_invalid_utf8_is_an_error_at_its_line_and_column(write, monkeypatch, chunk_bytes):
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk_bytes)
    path = write("a.jsonl", b"{}\n{}\n{a\xff}\n")
    with pytest.raises(SpecError, match=r"a\.jsonl:3:3: not valid UTF-8 \(byte 0xff\)"):
        _lines(path)


def test_a_line_over_the_limit_is_refused_with_the_limit_named(write, monkeypatch):
    monkeypatch.setattr(module, "LINE_BYTES", 2**20)
    monkeypatch.setattr(module, "CHUNK_BYTES", 2**16)
    path = write("a.jsonl", "{}\n" + "x" * (2**20 + 2**17))
    with pytest.raises(SpecError, match=r"a\.jsonl:2:1: longer than 1 MB, the limit of one line"):
        _lines(path)


def test_a_gzip_bomb_is_refused_with_the_limit_named(write, monkeypatch):
    monkeypatch.setattr(module, "UNPACKED_BYTES", 2**21)
    path = write("a.jsonl.gz", b"\n" * 2**23)
    with pytest.raises(SpecError, match="100 times"):
        sum(map(len, chunks(path)))


def test_a_high_ratio_alone_is_no_bomb(write):
    assert sum(map(len, chunks(write("a.jsonl.gz", b"\n" * 2**23)))) == 2**23


def test_a_damaged_archive_is_an_error_naming_the_file(write, tmp_path):
    whole = gzip.compress(b"x" * 1000)
    for content in (whole[:-9], b"no archive", whole[:20] + b"zzzz" + whole[24:]):
        path = tmp_path / "a.jsonl.gz"
        path.write_bytes(content)
        with pytest.raises(SpecError, match=r"a\.jsonl\.gz.*gzip archive is damaged"):
            list(chunks(path))


def test_a_file_that_cannot_be_read_is_an_error_naming_it(tmp_path):
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        list(chunks(tmp_path / "gone"))

from __future__ import annotations

import datetime
import gzip
import sys

import pyarrow
import pyarrow.parquet
import pytest

from assay.datasets.parquet import read_parquet
from assay.errors import MissingExtra, SpecError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.parquet"
    columns = {"q": ["a", None], "n": [1, 2], "day": [datetime.date(2024, 1, 2)] * 2, "tags": [["x"], []]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def test_rows_become_plain_json_values(table):
    (batch,) = read_parquet(table)
    assert batch.samples == [
        {"q": "a", "n": 1, "day": "2024-01-02", "tags": ["x"]},
        {"q": None, "n": 2, "day": "2024-01-02", "tags": []},
    ]


def test_a_packed_file_is_read_the_same(table):
    packed = table.with_suffix(".parquet.gz")
    packed.write_bytes(gzip.compress(table.read_bytes()))
    assert [b.samples for b in read_parquet(packed)] == [b.samples for b in read_parquet(table)]


def test_a_file_that_is_no_parquet_is_an_error_naming_it(write):
    with pytest.raises(SpecError, match=r"a\.parquet.*cannot be read as Parquet"):
        list(read_parquet(write("a.parquet", "no parquet")))


def test_without_pyarrow_the_error_holds_the_command(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'assay\[parquet\]'"):
        list(read_parquet(table))

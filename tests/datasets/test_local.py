from __future__ import annotations

import pytest

from assay.datasets.local import KIND, LocalSource
from assay.errors import SpecError


def _read(folder, name, root=None):
    return [s for b in KIND.read(LocalSource(type="local", file_path=name), folder, root) for s in b.samples]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "q\nx\n"),
        ("a.CSV", "q\nx\n"),
        ("a.jsonl", '{"q":"x"}\n'),
        ("a.ndjson", '{"q":"x"}'),
        ("a.json", '[{"q":"x"}]'),
        ("a.csv.gz", "q\nx\n"),
        ("a.jsonl.gz", '{"q":"x"}\n'),
        ("a.json.gz", '[{"q":"x"}]'),
    ],
)
def test_the_name_decides_how_a_file_is_read(write, tmp_path, name, text):
    write(name, text)
    assert _read(tmp_path, name) == [{"q": "x"}]


@pytest.mark.parametrize("name", ["a.txt", "a", "a.gz"])
def test_a_name_that_tells_nothing_is_an_error_listing_the_known_ones(write, tmp_path, name):
    write(name, "x")
    with pytest.raises(SpecError, match=r"expected a name in \.csv, \.jsonl"):
        _read(tmp_path, name)


def test_a_file_outside_the_project_is_refused(tmp_path):
    with pytest.raises(SpecError, match="--allow-outside"):
        _read(tmp_path, "/etc/hostname", root=tmp_path)

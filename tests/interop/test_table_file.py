"""Tables of people: rows with the lines on which they begin, and everything wrong with them at once."""

from __future__ import annotations

import pytest

from assay.errors import SpecError
from assay.interop.table_file import Refused, read_table, row_lines


def test_a_file_that_is_not_there_or_not_a_table_is_refused(tmp_path):
    with pytest.raises(SpecError, match="there is no file"):
        read_table(tmp_path / "no.csv", ())
    with pytest.raises(SpecError, match="cannot tell what"):
        read_table(tmp_path / "votes.txt", ())


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("t.csv", "a,b\n1,2\n\n3,4\n", [2, 4]),
        ("t.csv", 'a,b\n1,"two\nlines"\n3,4\n', [2, 4]),
        ("t.csv", '"a\nb",c\n1,2\n', [3]),
        ("t.jsonl", '{"a": 1}\n\n{"a": 2}\n', [1, 3]),
    ],
)
def test_a_row_begins_on_its_line_whatever_stands_before(tmp_path, name, text, lines):
    path = tmp_path / name
    path.write_text(text)
    assert row_lines(path) == lines
    assert len(read_table(path, ())) == len(lines)


def test_all_that_is_wrong_is_said_at_once_each_at_its_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 30)
    refused = Refused(path)
    refused.check()
    for row in range(1, 31):
        refused.add(row, f"row {row} is wrong", "right" if row == 2 else None)
    with pytest.raises(SpecError) as caught:
        refused.check()
    said = str(caught.value)
    assert f'{path}:3:1: row 2 is wrong; did you mean "right"?' in said
    assert f"{path}: and 10 more rows" in said
    assert "row 21" not in said

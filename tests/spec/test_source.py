from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import Place, SpecError
from assay.spec.source import MOST_BYTES, problem_in, read_source, shown


def test_a_file_is_text_with_plain_newlines_and_no_byte_order_mark(project: Path) -> None:
    (project / "a.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\rc: 3\n")
    assert read_source(Path("a.yaml")).text == "a: 1\nb: 2\nc: 3\n"


def test_a_missing_file_offers_the_nearest_name(project: Path) -> None:
    (project / "task.yaml").write_text("")
    with pytest.raises(SpecError, match=r'there is no file tsak.yaml; did you mean "task.yaml"\?'):
        read_source(Path("tsak.yaml"))
    with pytest.raises(SpecError, match="there is no file nowhere/x.yaml"):
        read_source(Path("nowhere/x.yaml"))


def test_bytes_that_are_not_utf_8_are_told_with_their_place(project: Path) -> None:
    (project / "a.yaml").write_bytes("a: 1\nä: ".encode() + b"\xff")
    with pytest.raises(SpecError, match=r"a.yaml:2:4: not UTF-8 text \(byte 0xff\)"):
        read_source(Path("a.yaml"))


def test_a_huge_file_is_refused_with_the_limit(project: Path) -> None:
    with (project / "a.yaml").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(SpecError, match="at most 16,777,216 are read"):
        read_source(Path("a.yaml"))


def test_a_folder_and_an_impossible_path_are_refused(project: Path) -> None:
    with pytest.raises(SpecError, match="is a folder"):
        read_source(project)
    with pytest.raises(SpecError, match="cannot be read"):
        read_source(Path("a.yaml/b.yaml\0"))
    (project / "file").write_text("")
    with pytest.raises(SpecError, match="cannot be read"):
        read_source(Path("file/b.yaml"))


def test_paths_are_shown_from_the_current_folder(project: Path) -> None:
    assert shown(project / "a" / "b.yaml") == "a/b.yaml"
    assert shown(Path("/etc/x.yaml")) == "/etc/x.yaml"


def test_a_place_beyond_the_file_has_no_line_to_quote(project: Path) -> None:
    (project / "a.yaml").write_text("a: 1")
    source = read_source(Path("a.yaml"))
    assert problem_in({"a.yaml": source}, "m", Place("a.yaml", 9, 1)).source_line is None
    assert source.problem("m", 1, 4).source_line == "a: 1"
    assert problem_in({}, "m", None).place is None

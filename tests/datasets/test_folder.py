from __future__ import annotations

import pytest

from assay.datasets import folder as module
from assay.datasets.folder import KIND, FolderSource
from assay.errors import SpecError


def _samples(folder, root=None, **more):
    settings = FolderSource(type="folder", directory_path="docs", **more)
    return [s for b in KIND.read(settings, folder, root) for s in b.samples]


def test_every_file_below_is_a_sample_sorted_by_its_path(write, tmp_path):
    write("docs/b.md", "two")
    write("docs/a/z.txt", "one\n")
    write("docs/.hidden", "no")
    write("docs/.git/c.md", "no")
    assert _samples(tmp_path) == [
        {"sample_id": "a/z.txt", "file_name": "z.txt", "content": "one\n"},
        {"sample_id": "b.md", "file_name": "b.md", "content": "two"},
    ]


@pytest.mark.parametrize("extension", ["md", ".md", "MD"])
def test_an_extension_chooses_files(write, tmp_path, extension):
    write("docs/b.md", "two")
    write("docs/c.txt", "three")
    assert [s["sample_id"] for s in _samples(tmp_path, extension=extension)] == ["b.md"]


def test_front_matter_becomes_columns(write, tmp_path):
    write("docs/a.md", "---\r\ntopic: geo\nlevel: 3\nday: 2024-05-06\n---\nText\n---\nmore")
    (sample,) = _samples(tmp_path)
    assert sample == {
        "sample_id": "a.md",
        "file_name": "a.md",
        "topic": "geo",
        "level": 3,
        "day": "2024-05-06",
        "content": "Text\n---\nmore",
    }


@pytest.mark.parametrize("text", ["--- \nno end", "a\n---\nb: 1\n---\n", "----\na: 1\n----\n"])
def test_text_that_only_looks_like_front_matter_is_content(write, tmp_path, text):
    write("docs/a.md", text)
    (sample,) = _samples(tmp_path)
    assert sample == {"sample_id": "a.md", "file_name": "a.md", "content": text}


def test_empty_front_matter_adds_nothing(write, tmp_path):
    write("docs/a.md", "---\n---\nx")
    assert _samples(tmp_path) == [{"sample_id": "a.md", "file_name": "a.md", "content": "x"}]


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ("a: 1\nb: [", r"a\.md:\d+:1: the front matter is not valid YAML"),
        ("- a", "is not a mapping"),
        ("a: 1\na: 2", r'a\.md:2:1: "a" in the front matter appears twice'),
        ("b: 2\ncontent: 2", r'a\.md:3:1: "content" in the front matter is a column of its own'),
        ("a: &x [1]\nb: *x", "YAML alias"),
        ("a: !!python/object/apply:os.system [ls]", "not valid YAML"),
        ('a: !!float "x"', "not valid YAML"),
    ],
)
def test_wrong_front_matter_is_an_error_at_its_line(write, tmp_path, front, told):
    write("docs/a.md", f"---\n{front}\n---\nx")
    with pytest.raises(SpecError, match=told):
        _samples(tmp_path)


def test_a_binary_file_is_an_error_naming_it(write, tmp_path):
    write("docs/pic.png", b"\x89PNG\xff")
    with pytest.raises(SpecError, match=r"pic\.png.*not valid UTF-8"):
        _samples(tmp_path)


def test_a_file_over_the_limit_is_refused_with_the_limit_named(write, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LINE_BYTES", 2**20)
    write("docs/a.md", "x" * (2**20 + 1))
    with pytest.raises(SpecError, match="longer than 1 MB"):
        _samples(tmp_path)


def test_a_link_out_of_the_project_is_refused(write, tmp_path):
    write("project/docs/a.md", "x")
    secret = write("secret.md", "x")
    (tmp_path / "project/docs/link.md").symlink_to(secret)
    with pytest.raises(SpecError, match="--allow-outside"):
        _samples(tmp_path / "project", root=tmp_path / "project")
    assert len(_samples(tmp_path / "project")) == 2

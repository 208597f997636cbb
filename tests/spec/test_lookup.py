from __future__ import annotations

import pytest

from assay.errors import SpecError
from assay.spec.load import read_document
from assay.spec.lookup import find_document, keys_of


def read(path):
    return read_document(path, strict=True, environment={})


@pytest.fixture
def files(project):
    for name, key in (("a", "first"), ("b", "second")):
        (project / f"{name}.yaml").write_text(f"key: {key}\ndisplay_name: X\nconfig: {{url: 'http://first'}}\n")
    (project / "broken.yaml").write_text("key: [first\n")
    (project / "other.yaml").write_text("key: first\nsource: {type: local}\n")
    return project


def test_the_file_of_the_kind_with_the_key_is_found(files):
    assert find_document("model", "first", files, read).path.name == "a.yaml"
    assert find_document("dataset", "first", files, read).path.name == "other.yaml"
    assert sorted(keys_of("model", files, read)) == ["first", "second"]


def test_a_key_that_nobody_has_is_told_with_the_nearest(files):
    with pytest.raises(SpecError, match='did you mean "second"'):
        find_document("model", "secnd", files, read)
    with pytest.raises(SpecError, match="known: first, second"):
        find_document("model", "qqqqq", files, read)


def test_a_file_that_cannot_be_read_is_told_when_it_may_be_the_one(files):
    (files / "broken.yaml").write_text("key: [qqqqq\n")
    with pytest.raises(SpecError) as caught:
        find_document("model", "qqqqq", files, read)
    assert "a file could not be read" in str(caught.value)
    assert "broken.yaml:" in str(caught.value)


def test_a_key_in_two_files_is_told(files):
    (files / "c.yaml").write_text("key: first\ndisplay_name: X\nconfig: {}\n")
    with pytest.raises(SpecError, match=r"more than one file: .*a\.yaml and .*c\.yaml"):
        find_document("model", "first", files, read)

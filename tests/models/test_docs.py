"""What docs/models.md shows must load, and what it lists must be there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.models.adapter import BUILT_IN
from assay.models.connect import connect
from assay.models.presets import PRESETS
from assay.spec.kind import kind_of
from assay.spec.load import load_document
from assay.spec.model import CustomConnection, ModelFile, find_adapter

TEXT = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_whole_file_that_loads(example, tmp_path, certificate):
    (tmp_path / ".assay").mkdir()
    (tmp_path / "company-ca.pem").write_bytes((certificate / "cert.pem").read_bytes())
    (tmp_path / "file.yaml").write_text(example, encoding="utf-8")
    environment = dict.fromkeys(("OPENAI_API_KEY", "GATEWAY_TOKEN", "ANTHROPIC_API_KEY"), "value")
    document = load_document(tmp_path / "file.yaml", strict=True, environment=environment)
    if kind_of(document.data) == "adapter":
        assert find_adapter(document.data["key"], tmp_path, environment=environment)
    else:
        assert connect("file.yaml", root=tmp_path, environment=environment).name == document.data["key"]


def test_there_are_examples_of_models_and_adapters():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("name", [*ModelFile.model_fields, *CustomConnection.model_fields])
def test_every_field_is_described(name):
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize("provider", PRESETS)
def test_every_provider_stands_in_the_table_with_its_key_and_address(provider):
    row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{provider}` |"))
    assert all(key in row for key in PRESETS[provider].keys)
    assert (PRESETS[provider].base_url or "AZURE_OPENAI_ENDPOINT") in row


@pytest.mark.parametrize("adapter", BUILT_IN)
def test_every_adapter_that_ships_is_listed(adapter):
    assert f"| `{adapter}` |" in TEXT

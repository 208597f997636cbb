from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.datasets.absent import KINDS, LangSmithSource, read_absent
from assay.errors import SpecError


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_source_that_is_not_there_says_what_to_do_in_one_sentence(kind):
    with pytest.raises(ValidationError) as caught:
        kind.settings.model_validate({"type": kind.name, "any_field": 1, "path": "x"})
    (wrong,) = caught.value.errors()
    assert "JSONL" in wrong["msg"]
    assert "type: local" in wrong["msg"]


def test_settings_made_without_a_file_are_refused_when_read(tmp_path):
    with pytest.raises(SpecError, match="LangSmith: export it to a JSONL file"):
        read_absent(LangSmithSource.model_construct(type="langsmith"), tmp_path)


def test_it_is_not_offered_as_a_source_to_choose(project):
    project.write("data.yaml", "key: d\ndisplay_name: D\nsource: {file_path: x.csv}\n")
    outcome = project.assay("check", "data.yaml")
    said = outcome.out + outcome.err
    assert 'missing field "type"' in said
    assert "inline_samples, inspect_ai, local, url" in " ".join(said.split())
    assert "langsmith" not in said

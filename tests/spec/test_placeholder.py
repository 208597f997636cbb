from __future__ import annotations

import subprocess
import sys

import pytest

import assay.spec
from assay.spec.placeholder import has_placeholder, text_of


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (True, "true"), (False, "false"), (3, "3"), (0.5, "0.5"), ("x", "x"), (["é"], '["é"]'), ({}, "{}")],
)
def test_a_value_inside_longer_text(value: object, text: str) -> None:
    assert text_of(value) == text


def test_a_placeholder_is_exactly_that() -> None:
    assert has_placeholder("a << config.x-1 >> b")
    assert not has_placeholder("<< config.x>>")


def test_every_public_name_of_spec_is_there() -> None:
    assert all(getattr(assay.spec, name) is not None for name in assay.spec.__all__)
    with pytest.raises(AttributeError):
        assay.spec.nothing  # noqa: B018


def test_finding_a_project_folder_loads_neither_yaml_nor_pydantic() -> None:
    code = "import sys; from assay.spec.project import project_folder; assert not {'yaml', 'pydantic'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)

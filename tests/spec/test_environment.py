from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import Place
from assay.spec.environment import environment_of, variable_of, with_environment
from assay.spec.fields import Located


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("$VAR", "VAR"), ("${VAR_2}", "VAR_2"), ("$5", None), ("${}", None), ("$VAR ", None), ("a $VAR", None),
        ("${VAR", None), ("$", None), ("$VAR\n", None),
    ],
)  # fmt: skip
def test_only_a_whole_value_names_a_variable(text: str, name: str | None) -> None:
    assert variable_of(text) == name


def test_the_environment_beats_the_env_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_TEST_A", "outer")
    (project / ".env").write_text(
        "# comment\nASSAY_TEST_A=inner\nexport ASSAY_TEST_B = 'b # c'\nASSAY_TEST_C=c d # note\n"
        'ASSAY_TEST_D="\nnonsense\n'
    )
    found = environment_of(project)
    assert [found[f"ASSAY_TEST_{letter}"] for letter in "ABCD"] == ["outer", "b # c", "c d", '"']
    assert "nonsense" not in found
    assert "ASSAY_TEST_B" not in environment_of(project / "elsewhere")


def test_values_replace_names_and_keep_their_place() -> None:
    place = Place("a.yaml", 3, 4)
    data = {"a": Located("$X", place), "b": ["${Y}", 1], "c": {"type": "inline_samples", "samples": ["$X"]}}
    filled = with_environment(data, {"X": "1"})
    assert filled == {"a": "1", "b": ["${Y}", 1], "c": {"type": "inline_samples", "samples": ["$X"]}}
    assert filled["a"].place == place
    assert data["a"] == "$X"

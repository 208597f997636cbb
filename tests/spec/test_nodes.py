from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import SpecError
from assay.spec.nodes import parse
from assay.spec.source import Source


def source(text: str) -> Source:
    return Source(Path("a.yaml"), "a.yaml", text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a:\n\tb: 1\n", "a.yaml:2:1: a tab cannot indent YAML: use spaces"),
        ("a: b: c\n", 'a.yaml:1:5: unexpected ":"; quote the text if the colon belongs to it'),
        ("a: @x\n", "a.yaml:1:4: text cannot begin with this character; quote it"),
        ("a: 'x\n", "a quote that was opened is not closed"),
        ("a: [1\n", "expected ',' or ']'"),
        ("a: {{ x }} y\n", 'text with {{ }} must be quoted: "{{ ... }}"'),
        ("- a\nb: 1\n", "a.yaml:2:1: not valid YAML"),
        ("a: *nope\n", 'a.yaml:1:4: there is no anchor "&nope" above this'),
        ("a: 1\n---\nb: 1\n", "a.yaml:2:1: a second document begins here; a file holds one"),
        ("a: \x07\n", "a.yaml:1:4: the character U+0007 is not allowed in YAML"),
        ("[" * 200 + "]" * 200, "nested more than 100 levels deep"),
        ("[" * 100_000, "nested more than 100 levels deep"),
    ],
)
def test_what_is_not_yaml_is_told_in_words(text: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse(source(text))
    assert words in str(caught.value)


def test_a_file_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.spec.nodes.MOST_NODES", 1_000)
    with pytest.raises(SpecError, match="more than 1,000 values"):
        parse(source("[" + "1," * 1_001 + "]"))


def test_a_tree_holds_kinds_tags_and_places() -> None:
    node = parse(source("a: [1, 'x']\n"))
    assert node is not None
    ((key, value),) = node.pairs
    assert (key.text, value.kind) == ("a", "list")
    assert [child.tag.rsplit(":")[-1] for child in value.children] == ["int", "str"]
    assert str(value.children[1].place) == "a.yaml:1:8"

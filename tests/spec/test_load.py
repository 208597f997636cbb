from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.errors import Place, SpecError
from assay.spec import load_document
from assay.spec.fields import Located


def loaded(project: Path, text: str, **more: Any) -> Any:
    (project / "a.yaml").write_text(text, encoding="utf-8")
    return load_document(Path("a.yaml"), **{"strict": True, "environment": {}, **more})


def refused(project: Path, text: str, **more: Any) -> list[str]:
    with pytest.raises(SpecError) as caught:
        loaded(project, text, **more)
    return [str(problem).split("\n")[0] for problem in caught.value.problems]


def test_values_are_those_of_yaml_1_1(project: Path) -> None:
    text = "a: yes\nb: 012\nc: 1_000\nd: 1.5\ne: ~\nf: '7'\ng: [on, off]\nh: 2024-01-02\ni: 2024-13-45\nj: !!str 12\n"
    data = loaded(project, text).data
    assert {k: data[k] for k in "abcdefg"} == {
        "a": True, "b": 10, "c": 1000, "d": 1.5, "e": None, "f": "7", "g": [True, False],
    }  # fmt: skip
    assert str(data["h"]) == "2024-01-02"
    assert data["i"] == "2024-13-45"
    assert data["j"] == "12"


def test_every_text_knows_its_place(project: Path) -> None:
    data = loaded(project, "a: one\nb:\n  - two\n  - |\n    three\n    four\nc: >\n  five\n").data
    assert isinstance(data["a"], Located)
    assert data["a"].place == Place("a.yaml", 1, 4)
    assert data["b"][0].place == Place("a.yaml", 3, 5)
    assert data["b"][1].at(2) == Place("a.yaml", 6, 1)
    assert data["c"].at(3) == Place("a.yaml", 7, 4)


def test_every_value_and_key_has_a_spot(project: Path) -> None:
    document = loaded(project, "a:\n  - b: 012\n")
    spot = document.spot(("a", 0, "b"))
    assert (spot.value, spot.key, spot.written) == (Place("a.yaml", 2, 8), Place("a.yaml", 2, 5), "012")
    assert document.spot(("a", 0, "b", "deeper")) == spot


def test_keys_are_text_as_written(project: Path) -> None:
    assert loaded(project, "yes: 1\n1: 2\nnull: 3\n").data == {"yes": 1, "1": 2, "null": 3}


def test_all_duplicate_keys_are_told_with_both_lines(project: Path) -> None:
    assert refused(project, "a: 1\nb: {c: 1, c: 2}\na: 2\na: 3\n") == [
        'a.yaml:2:11: duplicate key "c"; it is already on line 2',
        'a.yaml:3:1: duplicate key "a"; it is already on line 1',
        'a.yaml:4:1: duplicate key "a"; it is already on line 1',
    ]


def test_a_merge_key_brings_in_what_is_not_there(project: Path) -> None:
    text = "x: &x {a: 1, b: 1}\ny: &y {<<: *x, c: 1}\nz: {<<: [*y, {d: 4}], b: 2}\n"
    assert loaded(project, text).data["z"] == {"b": 2, "a": 1, "c": 1, "d": 4}
    assert refused(project, "z: {<<: 3}\n") == ["a.yaml:1:9: << takes a mapping, such as *anchor"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("~\n", "the file is empty"),
        ("a: !!python/object:os.system x\n", 'unknown tag "!!python/object:os.system"'),
        ("a: !custom {b: 1}\n", 'unknown tag "!custom"'),
        ("a: !custom x\n", 'unknown tag "!custom"'),
        ("a: !!int x\n", '"x" is not a value of type !!int'),
        ("a: " + "9" * 30 + "\n", "the number has more than 64 bits"),
        ("a: {{ sample.x }}\n", 'text with {{ }} must be quoted: "{{ ... }}"'),
        ("? [a]\n: 1\n", "a key must be text"),
        ("a: ((TODO))\n", "((TODO)) is not filled in yet"),
        ("a: $NOPE\n", "the environment variable NOPE is not set"),
        ("a: &a [*a]\n", '"*a" refers to a value that contains it'),
        ("a: &a {<<: *a}\n", '"*a" refers to a value that contains it'),
        ("".join(f"a{i + 1}: &a{i + 1} [*a{i}]\n" for i in range(200)).replace("*a0", "&a0 x"), "100 levels deep"),
        ("".join(f"a{i + 1}: &a{i + 1} {{<<: *a{i}}}\n" for i in range(200)).replace("*a0", "{}"), "100 levels deep"),
        ("a: {$ref: [b]}\n", "$ref takes the path of a YAML file"),
        ("a: {$ref: a.yaml}\n", "$ref refers back to itself: a.yaml -> a.yaml"),
        ("a: !include ''\n", "expected the path of a file"),
        ("a: !include no.txt\n", "there is no file no.txt"),
        ("a: !include ../out.txt\n", '"../out.txt" is outside the project folder'),
        ("a: {$ref: /etc/hostname}\n", "is outside the project folder"),
        ('a: !include "x\\0y"\n', "is not a usable path"),
        ("a: !include .assay\n", ".assay is a folder; expected a file"),
    ],
)
def test_what_cannot_be_read_is_told_at_its_place(project: Path, text: str, words: str) -> None:
    problems = refused(project, text)
    assert len(problems) == 1
    assert problems[0].startswith("a.yaml:")
    assert words in problems[0]


def test_a_bomb_of_aliases_is_refused_with_the_limit(project: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    (problem,) = refused(project, "\n".join(lines))
    assert "more than 1,000,000 values once aliases are expanded" in problem


def test_each_todo_is_told(project: Path) -> None:
    assert refused(project, "a: ((TODO))\nb: [x, 'see ((TODO)) here']\n") == [
        "a.yaml:1:4: ((TODO)) is not filled in yet",
        "a.yaml:2:8: ((TODO)) is not filled in yet",
    ]


def test_an_unset_variable_is_a_note_when_checking(project: Path) -> None:
    document = loaded(project, "a: ${NOPE}\nb: $5\nc: x $NOPE\n", strict=False)
    (note,) = document.notes
    assert "NOPE is not set" in note.message
    assert document.data["a"] == "${NOPE}"


def test_included_text_is_stripped_and_knows_its_lines(project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "prompt.md").write_text("\n\n  Hello\n{{ x }}\n\n")
    text = loaded(project, "a: !include sub/prompt.md\n").data["a"]
    assert text == "Hello\n{{ x }}"
    assert text.at(2) == Place("sub/prompt.md", 4, 1)


def test_a_reference_is_relative_to_the_file_that_holds_it(project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "b.yaml").write_text("inner: {$ref: c.yaml}\ntext: !include t.txt\n")
    (project / "sub" / "c.yaml").write_text("[1, 2]\n")
    (project / "sub" / "t.txt").write_text("T")
    document = loaded(project, "a: {$ref: sub/b.yaml}\nb: {$ref: sub/c.yaml}\n")
    assert document.data == {"a": {"inner": [1, 2], "text": "T"}, "b": [1, 2]}
    assert document.spot(("a", "inner", 1)).value == Place("sub/c.yaml", 1, 5)
    assert document.folder(("a", "inner")) == (project / "sub").relative_to(Path.cwd())


def test_the_siblings_of_a_reference_win_with_a_note(project: Path) -> None:
    (project / "b.yaml").write_text("x: 1\ny: {z: 2}\n")
    document = loaded(project, "a:\n  $ref: b.yaml\n  y: 3\n  w: 4\n")
    assert document.data == {"a": {"x": 1, "y": 3, "w": 4}}
    (note,) = document.notes
    assert str(note).startswith('a.yaml:3:3: "y" hides the value of the same name from $ref')
    assert document.spot(("a", "x")).value == Place("b.yaml", 1, 4)
    assert document.spot(("a", "y")).value == Place("a.yaml", 3, 6)


def test_a_reference_beside_other_keys_must_be_a_mapping(project: Path) -> None:
    (project / "b.yaml").write_text("[1]\n")
    (problem,) = refused(project, "a: {$ref: b.yaml, x: 1}\n")
    assert "$ref beside other keys must lead to a mapping" in problem
    (project / "b.yaml").write_text("")
    (problem,) = refused(project, "a: {$ref: b.yaml}\n")
    assert "b.yaml is empty" in problem


def test_a_circle_of_references_is_refused(project: Path) -> None:
    (project / "b.yaml").write_text("x: {$ref: a.yaml}\n")
    (problem,) = refused(project, "a: {$ref: b.yaml}\n")
    assert problem == "b.yaml:1:11: $ref refers back to itself: a.yaml -> b.yaml -> a.yaml"


def test_a_problem_of_a_referenced_file_is_placed_there(project: Path) -> None:
    (project / "b.yaml").write_text("x: [1\n")
    (problem,) = refused(project, "a: {$ref: b.yaml}\n")
    assert problem.startswith("b.yaml:2:1: not valid YAML")


def test_a_link_out_of_the_project_is_followed_only_with_permission(tmp_path: Path, monkeypatch: Any) -> None:
    inside = tmp_path / "inside"
    (inside / ".assay").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    monkeypatch.chdir(inside)
    (problem,) = refused(inside, "a: !include link.txt\n")
    assert "is outside the project folder" in problem
    assert loaded(inside, "a: !include link.txt\n", allow_outside=True).data == {"a": "secret"}


def test_included_text_has_a_limit_in_all(project: Path) -> None:
    (project / "big.txt").write_text("x" * 15_000_000)
    (problem,) = refused(project, "a: [" + ", ".join(["!include big.txt"] * 5) + "]\n")
    assert "characters are included" in problem


def test_references_count_towards_the_number_of_values(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.spec.load.MOST_NODES", 1_000)
    (project / "b.yaml").write_text("[" + "1, " * 100 + "]\n")
    (problem,) = refused(project, "a: [" + "{$ref: b.yaml}, " * 20 + "]\n")
    assert "more than 1,000 values" in problem

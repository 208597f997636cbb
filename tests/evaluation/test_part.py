"""Parts of an evaluation: each specification is in exactly one shard, together with what it reads."""

from types import SimpleNamespace

import pytest

from assay.errors import SpecError
from assay.evaluation.part import Part, steps_of


def step(key, after=None, repeats_of=None):
    return SimpleNamespace(key=key, after=after, repeats_of=repeats_of)


STEPS = [step("a"), step("b"), step("c", after="a"), step("d"), step("e", after="c"), step("f", repeats_of="b")]


def keys(part):
    return [chosen.key for chosen in steps_of(part, STEPS)]


def test_shards_count_in_file_order_and_dependants_go_with_what_they_read():
    assert keys(Part(shard=1, shards=2)) == ["a", "c", "e"]
    assert keys(Part(shard=2, shards=2)) == ["b", "d", "f"]
    assert keys(Part()) == [entry.key for entry in STEPS]


@pytest.mark.parametrize("shards", [1, 2, 3, 4, 9])
def test_every_specification_is_in_exactly_one_shard(shards):
    parts = [key for shard in range(1, shards + 1) for key in keys(Part(shard=shard, shards=shards))]
    assert sorted(parts) == [entry.key for entry in STEPS]


def test_only_brings_along_what_it_reads():
    assert keys(Part(only=("e",))) == ["a", "c", "e"]
    assert keys(Part(only=("d", "f"))) == ["b", "d", "f"]
    with pytest.raises(SpecError, match=r"--only bb: there is no such specification.*known: a, b, c.*did you mean"):
        keys(Part(only=("bb",)))


RUN = """
tasks:
  - key: one
    display_name: One
    definition:
      dataset: {source: {type: inline_samples, samples: [{o: A, a: A}, {o: B, a: A}]}}
      scorers: [{type: string_equals, value: "{{ sample.o }}", ground_truth: "{{ sample.a }}"}]
  - key: two
    display_name: Two
    definition:
      dataset: {source: {type: inline_samples, samples: [{o: A, a: A}, {o: B, a: A}, {o: B, a: B}]}}
      scorers: [{type: string_equals, value: "{{ sample.o }}", ground_truth: "{{ sample.a }}"}]
evaluation:
  key: both
  display_name: Both
  task_specifications: [{task_key: one}, {task_key: two}]
"""


def numbers(document):
    return [
        (entry["specification"], entry["task"], [scorer["metrics"] for scorer in entry["scorers"]])
        for entry in document["results"]
    ]


def test_two_processes_share_an_evaluation_and_show_puts_it_together(project):
    project.write("run.yaml", RUN)
    whole = project.assay("run", "run.yaml", "--json", "--store", "whole.db")
    assert whole.code == 0, whole.err
    for shard in ("2/2", "1/2"):
        part = project.assay("run", "run.yaml", "--json", "--shard", shard)
        assert part.code == 0, part.err
        assert len(part.json["results"]) == 1
    shown = project.assay("show", "both", "--json")
    assert shown.code == 0, shown.err
    assert sorted(numbers(shown.json)) == sorted(numbers(whole.json))
    assert "two" in project.assay("show", "both").out
    assert [
        entry["specification"] for entry in project.assay("run", "run.yaml", "--json", "--only", "two").json["results"]
    ] == ["two"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shard", "3/2"], "is not of the form I/N"),
        (["--shard", "x"], "is not of the form I/N"),
        (["--shard", "0/2"], "is not of the form I/N"),
        (["--shard", "1/2", "--only", "one"], "exclude each other"),
        (["--shard", "1/2", "--gate"], "run all of them for it"),
        (["--only", "tow"], 'did you mean "two"?'),
    ],
)
def test_a_wrong_part_is_an_error(project, arguments, words):
    project.write("run.yaml", RUN)
    outcome = project.assay("run", "run.yaml", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())

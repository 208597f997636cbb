"""Generated datasets as a user has them: made once, kept, made again only when what decides them changes."""

import json
from pathlib import Path

import pytest

PARTS = """
dataset_generators:
  - key: phrased
    display_name: Phrased
    description: Every question in every tone
    config_spec: [{type: list, key: tones, display_name: Tones, default_value: [rude, kind]}]
    definition:
      dataset: {type: dataset_samples, key: facts}
      synthesizers:
        - {type: template, template: "A {tone} person asks: {{ source.q }}", fields: {tone: << config.tones >>}}
        - {type: drop_columns, columns: [q]}
datasets:
  - {key: facts, display_name: Facts, source: {type: local, file_path: facts.jsonl}}
  - key: questions
    display_name: Questions
    generator_specification: {dataset_generator_key: phrased, num_samples: 5}
tasks:
  - key: polite
    display_name: Polite
    definition:
      dataset: {key: questions}
      scorers: [{type: contains, value: "{{ sample.text }}", substring: kind}]
evaluation:
  key: e
  display_name: E
  task_specifications: [{task_key: polite}]
"""


@pytest.fixture
def facts(project):
    project.write(
        "facts.jsonl", [{"q": "Who?", "a": "me"}, {"q": "What {tone}?", "a": "{{ 7 * 6 }}"}, {"q": "x", "a": 1}]
    )
    project.write("run.yaml", PARTS)
    return project


def rows_of(shown):
    return [json.loads(line) for line in Path(shown.json["file"]).read_text(encoding="utf-8").splitlines()]


def test_templates_make_a_row_for_every_combination_until_there_are_enough(facts):
    shown = facts.assay("generate", "run.yaml", "--dataset", "questions", "--json")
    assert shown.code == 0, shown.err
    rows = rows_of(shown)
    assert [row["sample_id"] for row in rows] == ["0/0", "0/1", "1/0", "1/1", "2/0"]
    assert rows[1] == {
        "a": "me",
        "tone": "kind",
        "text": "A kind person asks: Who?",
        "sample_id": "0/1",
        "source_id": "0",
    }
    assert (shown.json["n_rows"], shown.json["n_sources"], shown.json["made_now"]) == (5, 3, True)


def test_generated_rows_are_for_the_user_alone(facts):
    (facts.folder / ".assay").rmdir()
    assert facts.assay("generate", "run.yaml", "--dataset", "questions").code == 0
    assert (facts.folder / ".assay").stat().st_mode & 0o777 == 0o700


def test_what_a_row_holds_is_never_a_template_nor_a_field(facts):
    rows = rows_of(facts.assay("generate", "run.yaml", "--dataset", "questions", "--json"))
    assert rows[2]["text"] == "A rude person asks: What {tone}?"
    assert rows[2]["a"] == "{{ 7 * 6 }}"


def test_rows_are_made_again_only_when_their_inputs_change(facts):
    first = facts.assay("generate", "run.yaml", "--dataset", "questions", "--json").json
    again = facts.assay("generate", "run.yaml", "--dataset", "questions", "--json").json
    assert (again["made_now"], again["file"]) == (False, first["file"])
    facts.write("facts.jsonl", [{"q": "Where?", "a": "here"}])
    changed = facts.assay("generate", "run.yaml", "--dataset", "questions", "--json").json
    assert changed["made_now"]
    assert changed["file"] != first["file"]
    assert changed["n_rows"] == 2


def test_a_run_makes_the_dataset_that_it_needs(facts):
    shown = facts.assay("run", "run.yaml", "--json")
    assert shown.code == 0, shown.err
    values = shown.json["results"][0]["scorers"][0]["metrics"][0]["values"]["accuracy"]
    assert (values["value"], values["n"], values["clusters"]) == (0.4, 5, 3)
    assert "up to date" in facts.assay("generate", "run.yaml", "--dataset", "questions").out


def test_fewer_rows_than_asked_for_are_said_to_be_fewer(facts):
    facts.write("facts.jsonl", [{"q": "One?", "a": "1"}])
    shown = facts.assay("generate", "run.yaml", "--dataset", "questions")
    assert "2 rows from 1 source row (made)" in shown.out
    assert "fewer than the 5 requested" in shown.out


LLM = """
key: invented
display_name: Invented
generator_specification: {dataset_generator_key: inventor, num_samples: 6}
"""

INVENTOR = """
key: inventor
display_name: Inventor
description: Asks a model for questions
definition:
  dataset: {type: empty, num_samples: 6}
  synthesizers:
    - type: llm
      model_key: stub
      user_prompt_template: 'Invent one. [[reply: {"samples": [{"question": "Why?", "level": 2}]}]]'
      sample_properties: {question: the question, level: {type: integer}}
      use_structured_outputs: true
"""


def test_a_model_writes_rows_and_is_paid_once(live, loopback):
    project = live(1)
    project.write("dataset.yaml", LLM)
    project.write("generator.yaml", INVENTOR)
    shown = project.assay("generate", "dataset.yaml", "--json")
    assert shown.code == 0, shown.err
    rows = rows_of(shown)
    assert len(rows) == 6
    assert rows[0] == {"question": "Why?", "level": 2, "sample_id": "0", "source_id": "0"}
    assert shown.json["cost_usd"] > 0
    assert loopback.stats()["served"] == 6
    assert "question" in json.dumps(loopback.requests()[0]["body"])
    project.assay("generate", "dataset.yaml")
    assert loopback.stats()["served"] == 6
    assert "invented (generated)" in project.assay("runs", "--all").out


def test_rows_that_cannot_be_read_are_failures_and_too_many_stop_it(live, loopback):
    project = live(1)
    project.write("dataset.yaml", LLM)
    project.write("generator.yaml", INVENTOR.replace('"level": 2', '"levle": 2'))
    shown = project.assay("generate", "dataset.yaml")
    assert shown.code == 3
    assert 'a sample lacks "level"' in shown.err
    assert not list(project.folder.glob(".assay/generated/*.jsonl"))


def test_a_spending_limit_holds_for_generating_too(live, loopback):
    project = live(1)
    project.write("dataset.yaml", LLM)
    project.write("generator.yaml", INVENTOR)
    shown = project.assay("generate", "dataset.yaml", "--max-cost", "0.0001")
    assert shown.code == 3
    assert "the spending limit was reached" in shown.err
    assert project.assay("generate", "dataset.yaml").code == 0
    assert loopback.stats()["served"] == 6


CODE = """
key: doubled
display_name: Doubled
definition:
  dataset: {type: inline_samples, samples: [{n: 1}, {n: 2}, {n: 0}]}
  synthesizers:
    - type: python
      synthesize_snippet: |
        def synthesize(source):
            return [{"double": source["n"] * 2, "time": i} for i in range(source["n"])]
"""


def test_code_makes_rows_by_permission_only(project):
    project.write("dataset.yaml", LLM.replace("inventor", "doubled"))
    project.write("generator.yaml", CODE)
    refused = project.assay("generate", "dataset.yaml")
    assert refused.code == 2
    assert "generator.yaml:9" in refused.err
    assert "--allow-code" in refused.err
    shown = project.assay("generate", "dataset.yaml", "--allow-code", "--json")
    assert shown.code == 0, shown.err
    assert [(row["n"], row["double"], row["time"]) for row in rows_of(shown)] == [(1, 2, 0), (2, 4, 0), (2, 4, 1)]


COMBINED = """
key: pairs
display_name: Pairs
definition:
  dataset: {type: dataset_sample_combinations, keys: [left, right], random_seed: 4}
  synthesizers: [{type: template, template: ["{{ source.x }}-{{ source.y }}"], output_column: pair}]
"""


def test_combinations_pair_every_row_with_every_other_in_an_order_of_the_seed(project):
    for key, column in (("left", "x"), ("right", "y")):
        samples = [{column: i} for i in range(3)]
        source = {"type": "inline_samples", "samples": samples}
        project.write(f"{key}.yaml", json.dumps({"key": key, "display_name": key, "source": source}))
    project.write("dataset.yaml", LLM.replace("inventor", "pairs").replace("6", "9"))
    project.write("generator.yaml", COMBINED)
    rows = rows_of(project.assay("generate", "dataset.yaml", "--json"))
    pairs = [row["pair"] for row in rows]
    assert sorted(pairs) == [f"{i}-{j}" for i in range(3) for j in range(3)]
    assert {row["pair"][0]: row["source_id"] for row in rows} == {"0": "0", "1": "1", "2": "2"}
    assert pairs != sorted(pairs)
    project.write("generator.yaml", COMBINED.replace("random_seed: 4", "random_seed: 5"))
    assert [row["pair"] for row in rows_of(project.assay("generate", "dataset.yaml", "--json"))] != pairs


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("type: template", "type: tempalte", 'unknown synthesizer type "tempalte"'),
        ("{ source.q }", "{ source.q", "not a template"),
        ("A {tone} person", "A person", 'no template uses the field "tone"'),
        ("key: facts}", "key: fact}", 'no dataset has the key "fact"'),
        (
            "dataset_generator_key: phrased",
            "dataset_generator_key: phrase",
            'no dataset generator has the key "phrase"',
        ),
        ("num_samples: 5", "num_samples: 0", "num_samples"),
    ],
)
def test_a_wrong_generator_says_where(facts, before, after, words):
    text = (facts.folder / "run.yaml").read_text()
    assert before in text
    facts.write("run.yaml", text.replace(before, after))
    shown = facts.assay("generate", "run.yaml", "--dataset", "questions")
    assert shown.code in (2, 3)
    assert words in shown.err


def test_only_generated_datasets_can_be_generated(facts):
    shown = facts.assay("generate", "run.yaml", "--dataset", "facts")
    assert shown.code == 2
    assert "is not generated" in shown.err
    misspelt = facts.assay("generate", "run.yaml", "--dataset", "question").err
    assert "its generated datasets are questions; name one with --dataset KEY" in misspelt
    assert 'did you mean "questions"?' in misspelt


def test_rows_are_shown_one_a_line_and_the_file_that_was_asked_for_is_named(facts):
    shown = facts.assay("generate", "run.yaml", "--out", "mine.jsonl")
    assert shown.code == 0, "the only generated dataset need not be named"
    _, *rows, last = shown.out.splitlines()
    assert all(line.startswith("  {") and len(line) <= 80 for line in rows)
    assert len(rows) == 3
    assert last == "mine.jsonl"

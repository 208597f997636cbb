"""`assay list`: what a project holds, by kind and key, with its problems."""

from __future__ import annotations

TASK = """key: {key}
display_name: A task
definition: {{dataset: {{source: {{type: inline_samples, samples: [{{a: 1}}]}}}}}}
"""
RUN = """
models:
  - {$provider: openai/gpt-5-mini}
  - {key: own, display_name: Own, config: {connection_type: placeholder}}
tasks:
  - $ref: parts/qa.yaml
evaluation: {key: nightly, display_name: Nightly, task_specifications: [{task_key: qa}]}
"""


def test_everything_that_has_a_key_is_listed_with_its_place(cli, project):
    project.write("parts/qa.yaml", TASK.format(key="qa"))
    project.write("run.yaml", RUN)
    project.write("other.yaml", "just: data\n")
    project.write("rubric.yaml", "- {requirement: It is short.}\n")
    said = cli("list", "--json")
    assert said.code == 0
    found = [(each["kind"], each["key"], each["line"]) for each in said.json["found"]]
    assert found == [
        ("evaluation", "nightly", 7),
        ("task", "qa", 1),
        ("model", "openai$gpt-5-mini", 3),
        ("model", "own", 4),
        ("rubric", "rubric.yaml", 1),
        ("run", "run.yaml", 2),
    ]
    table = cli("list").out
    assert "nightly" in table
    assert "run file" in table
    assert max(map(len, table.splitlines())) <= 80


def test_problems_stand_below_and_decide_the_exit_code(cli, project):
    project.write("a.yaml", TASK.format(key="same"))
    project.write("b.yaml", TASK.format(key="same"))
    project.write("c.yaml", TASK.format(key="wrong").replace("definition", "definiton"))
    project.write("d.yaml", TASK.format(key="odd").replace("inline_samples", "inlined_samples"))
    said = cli("list")
    assert said.code == 2
    assert 'the task key "same" is in more than one place' in said.out
    assert 'unknown dataset source type "inlined_samples"' in " ".join(said.out.split())
    assert len(cli("list", "--json").json["problems"]) == 3


def test_an_empty_folder_says_how_to_begin(cli, project):
    said = cli("list")
    assert said.code == 0
    assert "assay init" in said.out


def test_a_folder_that_is_not_there_is_an_error(cli, project):
    said = cli("list", "nowhere")
    assert said.code == 2
    assert "there is no folder nowhere" in said.err

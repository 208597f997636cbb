"""Which specifications may run side by side, and how their progress is shown as one."""

from decimal import Decimal
from types import SimpleNamespace

import pytest

import assay
from assay.evaluation.run import _Together, chains
from assay.report.evaluation import evaluation_document
from assay.runner.progress import Progress
from assay.store import runs
from assay.store.store import open_for_reading


def step(name, *models):
    """A specification that asks the given models."""
    connections = {model: SimpleNamespace(identity={"model": model}) for model in models}
    return name, SimpleNamespace(connections=connections)


@pytest.mark.parametrize(
    ("steps", "groups"),
    [
        ([("a", "x"), ("b", "y")], [["a"], ["b"]]),
        ([("a", "x"), ("b", "y"), ("c", "x")], [["b"], ["a", "c"]]),
        ([("a", "x", "judge"), ("b", "y", "judge")], [["a", "b"]]),
        ([("a", "x"), ("b", "y"), ("c", "x", "y"), ("d", "z")], [["a", "b", "c"], ["d"]]),
    ],
    ids=str,
)
def test_specifications_that_share_a_model_come_after_each_other(steps, groups):
    found = [[name for name, _ in chain] for chain in chains([step(*each) for each in steps])]
    assert sorted(found) == sorted(groups)


def test_the_progress_of_several_runs_is_one():
    heard = []
    together = _Together(heard.append)
    together.expect(30)
    together.of("a")(Progress(done=3, failed=1, total=10, in_flight=2, cost_usd=Decimal("0.5")))
    together.of("b")(Progress(done=4, failed=0, total=20, cached=2, in_flight=1, waiting="for b"))
    assert heard[-1] == Progress(
        done=7, failed=1, total=30, cached=2, in_flight=3, cost_usd=Decimal("0.5"), waiting="for b"
    )
    together.over("b")
    together.of("c")(Progress(done=0, failed=0))
    assert (heard[-1].in_flight, heard[-1].waiting, heard[-1].total) == (2, "", 30)


RUN = """
tasks:
  - key: capitals
    display_name: Capitals
    definition:
      dataset: {source: {type: inline_samples, samples: [{q: a, a: Oslo}, {q: b, a: Lima}]}}
      solver:
        type: single_turn_solver
        input_builder:
          type: chat_completion
          input_messages: [{role: user, content: "{{ sample.q }}"}]
      scorers: [{type: string_equals, ground_truth: "{{ sample.a }}"}]
evaluation:
  key: everything
  display_name: Everything
  task_specifications:
    - {task_key: capitals, key: short, repeatability: {num_runs: 3}}
    - {type: repeatability, key: twice, repeatability_config: {num_runs: 2},
       inputs: [{evaluation_key: everything, task_specification_key: short}]}
"""


def stored_runs(project):
    store = open_for_reading(str(project.folder / "s.db"))
    try:
        return runs.all_runs(store, 20)
    finally:
        store.close()


def test_evaluation_specification_repeat_and_names_are_stored_with_each_run(project, monkeypatch):
    project.write("run.yaml", RUN)
    monkeypatch.chdir(project.folder)
    assay.run_evaluation("run.yaml", model=lambda question: "Oslo", store="s.db", name="v2", tags=("nightly",))
    found = {(run.specification, run.repeat, run.name) for run in stored_runs(project)}
    assert found == {
        ("short", 0, "v2/short"),
        ("short", 1, "v2/short#2"),
        ("short", 2, "v2/short#3"),
        ("twice", 1, "v2/twice#2"),
    }
    assert {(run.evaluation, run.tags) for run in stored_runs(project)} == {("everything", ("nightly",))}
    store = open_for_reading(str(project.folder / "s.db"))
    assert runs.find(store, "short").repeat == 0
    store.close()


def test_the_cost_of_an_evaluation_counts_all_its_runs(project, monkeypatch):
    project.write("replies.jsonl", [{"reply": "Oslo"}])
    project.write("run.yaml", RUN)
    monkeypatch.chdir(project.folder)
    report = assay.run_evaluation("run.yaml", model="scripted/replies.jsonl", store="s.db")
    # three runs of two samples, and the repetition asks for the second of them again from the store
    assert [spent.n_calls for spent in report.spending] == [6]
    assert [spent.n_calls for spent in report.specifications[0].spending] == [6]
    document = evaluation_document(report)
    assert (document["spending"][0]["n_calls"], document["cost_usd"]) == (6, 0.0)

"""The description of a stored run: what is written comes back, what decides a number decides the identity."""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from pathlib import Path

import orjson
import pytest

import assay
from assay.errors import StoreError
from assay.spec.task import Action, Trials
from assay.store import runs
from assay.store.run_spec import (
    Provenance,
    RunSpec,
    StoredDataset,
    StoredMetric,
    StoredModel,
    StoredScorer,
    changed_settings,
    import_identity,
)
from assay.store.store import open_store

SPEC = RunSpec(
    kind="run",
    task="capitals",
    display_name="Capitals",
    name="nightly",
    tags=("ci",),
    evaluation="all",
    specification="first",
    definition={"type": "benchmark_task", "solver": {"type": "pass_through_solver", "trace_column": "reply"}},
    config={"language": "en"},
    dataset=StoredDataset(source={"type": "local", "file_path": "a.jsonl"}, sha256="ab", families=True),
    models={"": StoredModel(name="openai/x", identity={"model": "x"}, sampling={"temperature": 0.0})},
    scorers=(
        StoredScorer(
            key="exact",
            type="string_equals",
            settings={"ground_truth": "{{ sample.answer }}", "display_name": "Exact"},
            ranges={"is_correct": (0.0, 1.0)},
            fields=("is_correct", "answer_gt"),
            metrics=(StoredMetric(key="mean", type="mean", settings={"field": "is_correct"}),),
            rubrics=({"criteria": [{"name": "a"}]},),
            content="cd",
            code="1",
        ),
    ),
    trials=Trials(num_trials=3),
    fans_out=True,
    actions=(Action(key="drop", action="exclude_from_metrics", filter="scores.exact.is_correct > 1"),),
    limit=7,
    subsampling="random",
    seed=11,
    repeat=2,
    extra={"note": 1},
    provenance=Provenance(assay="0.1.0", packages={"numpy": "2"}, git_commit="12", git_dirty=False, task_text="key: x"),
)
UNIMPORTANT = {
    "display_name": "Other",
    "name": "weekly",
    "tags": ("other",),
    "evaluation": "other",
    "specification": "other",
    "provenance": Provenance(assay="9.9"),
    "version": 0,
}
DECIDING = {
    "kind": "rescore",
    "task": "other",
    "definition": {"type": "benchmark_task", "solver": {"type": "pass_through_solver", "trace_column": "other"}},
    "config": {"language": "de"},
    "dataset": replace(SPEC.dataset, sha256="ff"),
    "models": {"": replace(SPEC.models[""], sampling={"temperature": 1.0})},
    "scorers": (replace(SPEC.scorers[0], ranges={"is_correct": (0.0, 2.0)}),),
    "trials": Trials(num_trials=2),
    "fans_out": False,
    "actions": (),
    "limit": 8,
    "subsampling": "head",
    "seed": 12,
    "repeat": 3,
    "extra": {"note": 2},
}


def test_a_spec_comes_back_from_its_json_as_it_was():
    again = RunSpec.from_json(SPEC.to_json())
    assert again == SPEC
    assert again.identity() == SPEC.identity()


def test_a_spec_of_defaults_comes_back_too():
    bare = RunSpec(kind="generate", task="t")
    assert RunSpec.from_json(bare.to_json()) == bare


def test_every_field_either_decides_the_identity_or_is_known_not_to():
    assert {field.name for field in fields(RunSpec)} == {*UNIMPORTANT, *DECIDING}


@pytest.mark.parametrize("name", UNIMPORTANT)
def test_names_and_provenance_do_not_change_the_identity(name):
    assert replace(SPEC, **{name: UNIMPORTANT[name]}).identity() == SPEC.identity()


@pytest.mark.parametrize("name", DECIDING)
def test_what_can_change_a_number_changes_the_identity(name):
    assert replace(SPEC, **{name: DECIDING[name]}).identity() != SPEC.identity()


def test_the_path_of_a_file_and_a_display_name_of_a_scorer_do_not_change_the_identity():
    moved = replace(SPEC.dataset, source={"type": "local", "file_path": "elsewhere/a.jsonl"})
    renamed = replace(SPEC.scorers[0], settings={**SPEC.scorers[0].settings, "display_name": "Other"})
    assert replace(SPEC, dataset=moved, scorers=(renamed,)).identity() == SPEC.identity()


def test_an_import_is_the_same_whenever_the_bytes_are():
    spec = RunSpec(kind="import", task="a", dataset=StoredDataset(sha256="ab"), provenance=Provenance(tool="inspect"))
    assert spec.identity() == replace(spec, task="b").identity() == import_identity("inspect", "ab")


def test_a_spec_of_a_newer_release_is_refused():
    with pytest.raises(StoreError, match="newer assay"):
        RunSpec.from_json('{"version": 99}')


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"task": {"key": "t", "definition": {}}, "scorers": []}, "run"),
        ({"task": {"key": "t"}, "scorers": [], "aside": "generate"}, "generate"),
        ({"judges": [], "rules": {}, "scorers": ["rubric"], "task": {"key": "t"}}, "grade"),
        ({"judges": [], "rules": {}, "scorers": ["rubric"], "task": {"key": "t"}, "aside": "audit"}, "audit"),
        ({"task": {"key": "t"}, "scorers": [], "dataset": {"source": {"type": "imported"}}}, "import"),
        ({"contents": [None], "scorers": ["a"], "task": {"definition": {"scorers": [{"type": "x"}]}}}, "rescore"),
    ],
)
def test_specs_without_a_version_say_which_command_wrote_them(document, kind):
    spec = RunSpec.from_json(orjson.dumps(document).decode())
    assert (spec.version, spec.kind) == (0, kind)


def test_a_graded_run_of_version_0_knows_its_rubric_its_ranges_and_its_metric():
    document = {"judges": [{"id": "a"}], "rules": {"seed": 3}, "rubrics": [{"criteria": [1]}], "scorers": ["rubric"]}
    (scorer,) = RunSpec.from_json(orjson.dumps(document).decode()).scorers
    assert (scorer.type, scorer.ranges["score"], scorer.rubrics) == ("rubric", (0.0, 1.0), ({"criteria": [1]},))
    assert [(metric.key, metric.settings["field"]) for metric in scorer.metrics] == [("mean", "score")]


def test_a_task_of_version_0_keeps_its_scorers_metrics_and_the_rubric_in_a_file_of_its_own():
    metrics = [{"type": "mean", "field": "a"}, {"type": "mean", "field": "b"}, {"type": "max", "key": "top"}]
    nodes = [{"type": "rubric", "rubric": "r.yaml", "metrics": metrics}, "odd"]
    document = {
        "task": {"key": "t", "definition": {"scorers": nodes, "solver": {"postprocessor": {}}, "trials": None}},
        "scorers": ["graded", "gone"],
        "contents": ["cd", None],
        "sheets": {"graded": {"criteria": [1]}},
    }
    spec = RunSpec.from_json(orjson.dumps(document).decode())
    graded, gone = spec.scorers
    assert [metric.key for metric in graded.metrics] == ["mean", "mean_2", "top"]
    assert (graded.rubrics, graded.content, gone.type) == (({"criteria": [1]},), "cd", None)
    assert not spec.fans_out, "an empty postprocessor is none"


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({}, {"normalize": ["lower"]}, ["normalize"]),
        ({"metrics": [], "display_name": "a"}, {"metrics": [{"type": "mean"}], "display_name": "b"}, []),
        ({"x": 1}, {"x": 2, "y": 1}, ["x", "y"]),
        ({"x": (1, 2)}, {"x": [1, 2]}, []),
    ],
)
def test_scorers_differ_in_what_they_do_and_not_in_what_they_are_called(before, after, changed):
    one, other = (StoredScorer(key="a", type="string_equals", settings=side) for side in (before, after))
    assert changed_settings(one, other) == changed


def test_a_rubric_counts_by_its_content_wherever_it_stands():
    one, other = (
        StoredScorer(key="a", type="rubric", settings={"rubric": path}, rubrics=({"criteria": [1]},))
        for path in ("a.yaml", "b.yaml")
    )
    assert changed_settings(one, other) == []
    assert changed_settings(one, replace(other, rubrics=({"criteria": [2]},))) == ["rubric"]


def _parses_a_spec(node: ast.AST) -> bool:
    """Whether a piece of code reads JSON out of `.spec`, or looks into it as into a dict."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "spec"
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in ("to_json", "from_json"):
        return any(isinstance(n, ast.Name) and n.id == "RunSpec" for n in ast.walk(node)) or "spec" in ast.dump(node)
    of_spec = [n for argument in node.args for n in ast.walk(argument) if getattr(n, "attr", None) == "spec"]
    return node.func.attr in ("loads", "dumps") and bool(of_spec)


def test_only_this_module_parses_or_writes_the_stored_spec():
    package = Path(assay.__file__).parent
    offenders = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if "migrations" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if _parses_a_spec(node)
    }
    # runs.py hands the text of the column over, in both directions
    assert offenders == {"store/run_spec.py", "store/runs.py"}


def test_a_record_has_its_spec_as_a_value(tmp_path):
    store = open_store(str(tmp_path / "assay.db"))
    try:
        record = runs.start(store, runs.NewRun(spec=SPEC, file="f", model=None))
        assert runs.find(store, record.id).spec == SPEC
        assert (record.kind, record.task, record.seed, record.identity) == ("run", "capitals", 11, SPEC.identity())
    finally:
        store.close()


def test_a_scorer_of_another_version_is_another_scorer():
    first, raised = (StoredScorer(key="a", type="string_equals", code=code) for code in (None, "2"))
    assert changed_settings(first, raised) == ["version"]
    assert changed_settings(raised, raised) == []

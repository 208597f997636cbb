"""A stored run knows enough about itself: compared and scored again without its files, its command or its plug-in."""

from __future__ import annotations

import json

import pytest

RUBRIC = """
- {name: polite, requirement: Is polite., weight: 2}
- {name: clear, requirement: Is clear., weight: 1}
"""
TASK = """
key: {key}
display_name: Graded
definition:
  dataset: {{source: {{type: local, file_path: texts.jsonl}}}}
  solver: {{type: pass_through_solver, trace_column: text}}
  scorers: [{scorer}]
"""
IN_TASK = "{type: rubric, rubric: rubric.yaml, judges: [{model_key: scripted/judge.jsonl}]}"
PLUGIN = """
import assay

@assay.scorer(range=(0, 1))
def third(answer: str) -> float:
    "Is it the third?"
    return float("3" in answer)
"""


@pytest.fixture
def texts(project):
    rows = [{"sample_id": f"t{i}.txt", "text": f"Text number {i}"} for i in range(1, 7)]
    project.write("texts.jsonl", rows)
    for row in rows:
        project.write(f"texts/{row['sample_id']}", row["text"])
    project.write("rubric.yaml", RUBRIC)
    verdicts = [
        {"match": f"number {i}", "reply": {"explanation": "So.", "criterion_status": "MET" if i % 3 else "UNMET"}}
        for i in range(1, 7)
    ]
    project.write("judge.jsonl", verdicts)
    return project


def _run(project, *arguments):
    shown = project.assay(*arguments, "--json")
    assert shown.code == 0, shown.err
    return shown.json["run"]


def _with_itself(project, run):
    """The comparison of a run with itself: every metric, without the ids."""
    document = project.assay("compare", run, run, "--json").json
    return [{k: v for k, v in entry.items() if k != "run"} for entry in document["comparisons"]]


def test_a_graded_run_is_compared_like_the_same_rubric_in_a_task(texts):
    texts.write("task.yaml", TASK.format(key="graded", scorer=IN_TASK))
    graded = _run(texts, "grade", "rubric.yaml", "texts", "--judge", "scripted/judge.jsonl")
    in_task = _run(texts, "run", "task.yaml")
    for name in ("rubric.yaml", "task.yaml", "judge.jsonl", "texts.jsonl"):
        (texts.folder / name).unlink()
    (alone,), (inside,) = _with_itself(texts, graded), _with_itself(texts, in_task)
    assert alone == inside
    assert alone["difference"]["low"] is not None
    assert -1 < alone["difference"]["low"] < 0 < alone["difference"]["high"] < 1


def test_a_run_of_a_plug_in_scorer_is_compared_without_the_plug_in(texts):
    texts.write("mine.py", PLUGIN)
    texts.write("plug.yaml", TASK.format(key="plug", scorer="{type: third}"))
    builtin = "{type: contains, substring: '3', key: third, metrics: [{type: mean, field: is_correct, name: third}]}"
    texts.write("same.yaml", TASK.format(key="same", scorer=builtin))
    plugged = _run(texts, "run", "plug.yaml", "--plugin", "mine")
    same = _run(texts, "run", "same.yaml")
    (texts.folder / "mine.py").unlink()
    (one,), (other,) = _with_itself(texts, plugged), _with_itself(texts, same)
    assert one["metric"] == other["metric"] == "third/mean/third"
    assert one["difference"] == other["difference"]
    assert one["before"] == other["before"]


def test_a_graded_run_can_be_scored_by_other_scorers(texts):
    graded = _run(texts, "grade", "rubric.yaml", "texts", "--judge", "scripted/judge.jsonl")
    scorer = "{type: contains, value: '{{ sample.submission }}', substring: number 1}"
    texts.write("exact.yaml", TASK.format(key="exact", scorer=scorer).replace("  solver", "  # solver"))
    shown = texts.assay("rescore", graded, "exact.yaml", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["scorers"][0]["n_scored"] == 6


def test_a_judge_that_is_not_as_it_was_is_refused_with_the_reason(texts):
    graded = _run(texts, "grade", "rubric.yaml", "texts", "--judge", "scripted/judge.jsonl")
    texts.write("task.yaml", TASK.format(key="graded", scorer=IN_TASK))
    shown = texts.assay("rescore", graded, "task.yaml")
    assert shown.code == 2
    assert "asks a model and is not as it was" in shown.err


def test_a_stored_run_says_what_it_was_made_of(texts):
    texts.write("task.yaml", TASK.format(key="graded", scorer=IN_TASK))
    run = _run(texts, "run", "task.yaml")
    from assay.store.runs import find
    from assay.store.store import open_for_reading

    store = open_for_reading(str(texts.folder / ".assay" / "assay.db"))
    try:
        spec = find(store, run).spec
    finally:
        store.close()
    (scorer,) = spec.scorers
    assert (spec.kind, spec.task, scorer.type) == ("run", "graded", "rubric")
    assert scorer.ranges["score"] == (0.0, 1.0)
    assert scorer.settings["aggregation"] == "majority", "defaults are stated, too"
    assert [criterion["name"] for criterion in scorer.rubrics[0]["criteria"]] == ["polite", "clear"]
    assert spec.models["scripted/judge.jsonl"].identity["provider"] == "scripted"
    assert spec.provenance.task_text == (texts.folder / "task.yaml").read_text(encoding="utf-8")
    assert "numpy" in spec.provenance.packages
    assert json.loads(json.dumps(spec.dataset.source))["type"] == "local"


@pytest.mark.parametrize("edited", ["mine.py", "helper.py"])
def test_an_edited_plug_in_or_its_helper_scores_anew(texts, edited):
    texts.write("helper.py", "WANTED = '3'\n")
    texts.write("mine.py", PLUGIN.replace("import assay", "import assay, helper").replace('"3"', "helper.WANTED"))
    texts.write("plug.yaml", TASK.format(key="plug", scorer="{type: third}"))
    arguments = ("run", "plug.yaml", "--plugin", "mine", "--json")
    first, again = texts.assay(*arguments).json, texts.assay(*arguments).json
    assert (first["n_cached"], again["n_cached"]) == (0, 6), "as it was, it is reused"
    old = (texts.folder / edited).read_text(encoding="utf-8")
    texts.write(edited, old.replace("float(", "1 - float(") if edited == "mine.py" else "WANTED = 'Text'\n")
    changed = texts.assay(*arguments).json
    assert changed["n_cached"] == 0
    assert changed["scorers"][0]["metrics"][0]["values"] != first["scorers"][0]["metrics"][0]["values"]

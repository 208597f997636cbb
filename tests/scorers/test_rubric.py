"""The rubric scorer: in a task, through the command line, and by itself."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from assay.scorers.rubric import KIND, RubricScorer, judge_by_rubric
from assay.types import Failure, Reply, Score

TASK = """
key: graded
display_name: Graded
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - type: rubric
      rubric: RUBRIC
      shuffle: false
      prompt: "{{ sample.question }}"
      judges:
        - {model_key: scripted/one.jsonl, id: one}
        - {model_key: scripted/two.jsonl, id: two, weight: 2}
        - {model_key: scripted/three.jsonl, id: three}
"""
INLINE = """
        - {name: capital, requirement: Names the capital., weight: 10}
        - {name: rude, requirement: Is rude., weight: -5}
        - name: style
          requirement: How is the style?
          options: [{label: Poor, value: 0}, {label: Fine, value: 0.8}]"""


def _met(word):
    return {"explanation": f"because {word}", "criterion_status": word}


def _script(project, name, capital="MET", rude="UNMET", style="B"):
    lines = [
        {"match": "Names the capital.", "reply": _met(capital)},
        {"match": "Is rude.", "reply": _met(rude)},
        {"match": "How is the style?", "reply": {"explanation": "e", "selected_option": style}},
    ]
    project.write(f"{name}.jsonl", lines)


@pytest.fixture
def panel(project):
    """A project with three judges of one mind and two replies."""
    for name in ("one", "two", "three"):
        _script(project, name)
    project.write("data.jsonl", [{"question": "Capital of France?", "reply": text} for text in ("Paris.", "Rome.")])
    project.write("task.yaml", TASK.replace("RUBRIC", INLINE))
    return project


def _scores(project):
    return [
        next(iter(sample["scores"].values()), sample["failures"]) for sample in project.assay("samples", "--json").lines
    ]


def test_a_panel_grades_through_the_command_line(panel):
    _script(panel, "three", capital="UNMET", style="A")
    outcome = panel.assay("run", "task.yaml", "--json")
    assert outcome.code == 0, outcome.err
    (scorer,) = outcome.json["scorers"]
    assert scorer["metrics"][0]["values"]["score"]["value"] == pytest.approx((10 + 0 + 8) / 20)
    means = {name: value["value"] for metric in scorer["metrics"] for name, value in metric["values"].items()}
    assert means == {"score": pytest.approx(0.9), "capital": 1.0, "rude": 0.0, "style": pytest.approx(0.8)}
    assert [metric["key"] for metric in scorer["metrics"]] == ["mean", "mean_capital", "mean_rude", "mean_style"]
    assert panel.assay("show", "latest", "--json").json["scorers"] == outcome.json["scorers"]
    assert panel.assay("gate", "latest", "--require", "style >= 0.75").code == 0
    first = _scores(panel)[0]
    assert first["values"] == {
        "score": pytest.approx(0.9),
        "raw_score": 18.0,
        "coverage": 1.0,
        "capital": 1.0,
        "rude": 0.0,
        "style": 0.8,
    }
    assert first["metadata"]["style_label"] == "Fine"
    assert [vote["judge_id"] for vote in first["metadata"]["votes"]["capital"]] == ["one", "two", "three"]
    assert first["metadata"]["judge_scores"]["three"] == 0.0
    again = panel.assay("run", "task.yaml", "--json").json
    assert again["n_cached"] == 2


def test_ties_of_an_even_panel_are_counted_and_shown_with_the_mean_before_snapping(panel):
    two = TASK.replace("        - {model_key: scripted/three.jsonl, id: three}\n", "")
    panel.write("task.yaml", two.replace("RUBRIC", INLINE))
    _script(panel, "two", capital="UNMET", style="A")
    outcome = panel.assay("run", "task.yaml")
    # capital by a tie of heads; style by 0.4, which lies in the middle of 0 and 0.8
    said = " ".join(outcome.out.split())
    assert "66.7% of the verdicts were decided by a tie; the mean score without snapping to options is 0.200" in said
    (scorer,) = panel.assay("show", "--json").json["scorers"]
    assert scorer["detail"]["ties"] == {"n": 4, "of": 6, "continuous_score": pytest.approx(0.2)}


def test_the_rubric_may_stand_in_a_file_and_its_content_counts(panel):
    rubric = """
- {name: capital, requirement: Names the capital., weight: 10}
- {name: rude, requirement: Is rude., weight: -5}
"""
    panel.write("rubric.yaml", rubric)
    for given in ("rubric.yaml", "{$ref: rubric.yaml}", "!include rubric.yaml"):
        panel.write("task.yaml", TASK.replace("RUBRIC", given))
        outcome = panel.assay("run", "task.yaml", "--json")
        assert outcome.code == 0, (given, outcome.err)
        assert _scores(panel)[0]["values"]["raw_score"] == 10.0
    panel.write("task.yaml", TASK.replace("RUBRIC", "rubric.yaml"))
    panel.write("rubric.yaml", rubric.replace("weight: 10", "weight: 20"))
    outcome = panel.assay("run", "task.yaml", "--json")
    assert outcome.json["n_cached"] == 2
    assert outcome.json["usage"]["prompt_tokens"] == 0
    assert _scores(panel)[0]["values"]["raw_score"] == 20.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("RUBRIC", "nowhere.yaml"), "there is no file nowhere.yaml"),
        (("RUBRIC", "../../rubric.yaml"), "is outside the project folder"),
        (("RUBRIC", "[{requirement: Kind., wieght: 3}]"), 'unknown field "wieght"'),
        (("RUBRIC", "[]"), "has no criteria"),
        (("shuffle: false", "shuffle: sideways"), "counterbalanced"),
        (("shuffle: false", "llm_calls: per_text"), "per_item"),
        (("shuffle: false", "repeats: 0"), "repeats"),
        (("shuffle: false", "aggregation: bogus"), 'unknown aggregation "bogus"'),
        (("id: two", "id: one"), 'two judges with the id "one"'),
        (("weight: 2", "weight: 0"), "expected a number > 0"),
    ],
)
def test_what_is_wrong_is_found_before_anything_is_asked(panel, change, message):
    panel.write("task.yaml", TASK.replace(*change).replace("RUBRIC", INLINE))
    outcome = panel.assay("check", "task.yaml")
    assert outcome.code == 2
    assert "task.yaml:" in outcome.out + outcome.err
    assert message in outcome.out + outcome.err


# by itself


def _settings(**changes):
    given = {
        "type": "rubric",
        "rubric": [{"name": "capital", "requirement": "Names the capital."}],
        "judges": [{"model_key": "a"}],
        **changes,
    }
    return RubricScorer.model_validate(given)


def _judged(settings, rows, said):
    async def ask(request, model=None):
        return Reply(text=said(request.messages[-1]["content"]) if callable(said) else said)

    return asyncio.run(judge_by_rubric(settings, rows, ask))


def test_the_judges_see_the_prompt_and_the_reference(make_rows):
    seen = []
    settings = _settings(prompt="Q: {{ sample.q }}", reference="{{ sample.ref }}", value="{{ sample.text }}")
    rows = make_rows(None, {"q": ["Capital?"], "ref": ["It is Paris."], "text": ["Paris, I think."]})

    def said(text):
        seen.append(text)
        return json.dumps(_met("MET"))

    assert isinstance(_judged(settings, rows, said), Score)
    assert all(text in seen[0] for text in ("Q: Capital?", "It is Paris.", "Paris, I think."))
    missing = make_rows(None, {"q": ["Capital?"], "text": ["x"]})
    assert _judged(settings, missing, said).kind == "missing_field"


@pytest.mark.parametrize("absent", [None, ""])
def test_an_absent_reference_or_truth_stays_absent(make_rows, absent):
    seen = []
    settings = _settings(reference="{{ sample.ref }}", ground_truth="{{ sample.truth }}")

    def said(text):
        seen.append(text)
        return json.dumps(_met("MET"))

    score = _judged(settings, make_rows(["Paris."], {"ref": [absent], "truth": [absent]}), said)
    assert isinstance(score, Score)
    assert "truth_score" not in score.values
    _judged(_settings(), make_rows(["Paris."]), said)
    assert len(set(seen)) == 1


def test_a_panel_that_abstains_is_a_failure_and_so_is_one_that_cannot_be_read(make_rows):
    rows = make_rows(["Paris."])
    abstained = _judged(_settings(), rows, json.dumps(_met("CANNOT_ASSESS")))
    assert (abstained.kind, abstained.detail) == ("abstained", "no criterion was assessed")
    unread = _judged(_settings(), rows, "hm")
    assert (unread.kind, unread.retryable) == ("parse", False)
    assert "no judge could be asked about capital" in unread.detail


def test_an_outage_may_be_tried_again(make_rows):
    from assay.models.client import CallError

    def down(text):
        raise CallError(Failure(stage="solve", kind="timeout", detail="too slow", retryable=True))

    failed = _judged(_settings(), make_rows(["Paris."]), down)
    assert (failed.kind, failed.retryable, failed.stage) == ("http", True, "score")


def test_what_people_said_is_scored_by_the_same_rules(make_rows):
    settings = _settings(ground_truth="{{ sample.truth }}")
    outcome = _judged(settings, make_rows(["Paris."], {"truth": [["UNMET"]]}), json.dumps(_met("MET")))
    assert (outcome.values["score"], outcome.values["truth_score"]) == (1.0, 0.0)
    assert outcome.metadata["capital_truth"] == "UNMET"
    for truth in (["yes"], [], 3):
        failed = _judged(settings, make_rows(["Paris."], {"truth": [truth]}), json.dumps(_met("MET")))
        assert "does not fit the rubric" in failed.detail


def test_a_criterion_named_like_a_total_keeps_a_name_of_its_own(make_rows):
    settings = _settings(rubric=[{"name": "score", "requirement": "Good."}, {"requirement": "Fine."}])
    outcome = _judged(settings, make_rows(["Paris."]), json.dumps(_met("MET")))
    assert set(outcome.values) == {"score", "raw_score", "coverage", "score_criterion", "criterion_2"}


def test_judges_of_one_model_are_told_apart():
    settings = _settings(judges=[{"model_key": "a", "id": "x"}, {"model_key": "a", "id": "y"}])
    assert [judge.replica for judge in settings.panel] == [0, 1]
    with pytest.raises(ValidationError, match='two judges with the id "a"'):
        _settings(judges=[{"model_key": "a"}, {"model_key": "a"}])
    with pytest.raises(ValueError, match="has no criteria"):
        _settings(rubric=[])
    assert KIND.asks_model
    assert _settings().content_digest() != _settings(rubric="[{requirement: Other.}]").content_digest()


SCALE = {
    "name": "style",
    "requirement": "How is the style?",
    "options": [{"label": label, "value": value} for label, value in (("Poor", 0.0), ("Fair", 0.5), ("Fine", 1.0))],
}


def test_the_row_decides_a_counterbalanced_order(make_rows):
    settings = _settings(rubric=[SCALE], shuffle="counterbalanced")
    rows = make_rows(["Paris."])
    for row, label in ((0, "Poor"), (1, "Fair"), (2, "Fine"), (3, "Poor")):
        outcome = _judged(settings, replace(rows, positions=(row,)), '{"selected_option": "A"}')
        assert outcome.metadata["style_label"] == label


def test_a_judge_that_follows_the_place_is_marked_in_both_orders(make_rows):
    settings = _settings(rubric=[SCALE], shuffle="both_orders", auto_na_option=False)
    outcome = _judged(settings, make_rows(["Paris."]), '{"selected_option": "A"}')
    assert outcome.metadata["order_sensitive"] == ["style"]
    assert [vote.get("reversed_order", False) for vote in outcome.metadata["votes"]["style"]] == [False, True]
    steady = _judged(settings, make_rows(["Paris."]), '{"selected_option": "Fair"}')
    assert (steady.values["style"], "order_sensitive" in steady.metadata) == (0.5, False)


def test_one_call_may_grade_by_all_criteria(make_rows):
    asked = []

    def said(text):
        asked.append(text)
        return json.dumps({"criterion_1": _met("MET"), "criterion_2": _met("UNMET")})

    settings = _settings(rubric=[{"requirement": "Good."}, {"requirement": "Short."}], llm_calls="per_item")
    outcome = _judged(settings, make_rows(["Paris."]), said)
    assert (outcome.values["criterion_1"], outcome.values["criterion_2"], len(asked)) == (1.0, 0.0, 1)


@pytest.mark.parametrize("truth", [None, "{{ sample.truth }}"])
def test_every_field_of_a_score_is_known_before_a_judge_is_asked(make_rows, truth):
    settings = _settings(ground_truth=truth, judges=[{"model_key": "a"}, {"model_key": "b"}])
    score = _judged(settings, make_rows(["Paris."], {"truth": [["MET"]]}), json.dumps(_met("MET")))
    assert {*score.values, *score.metadata} <= set(settings.score_fields())
    assert ("truth_score" in settings.score_fields()) is (truth is not None)


FIELD_TASK = """
key: t
display_name: T
definition:
  dataset: {source: {type: inline_samples, samples: [{text: x}]}}
  scorers:
    - type: rubric
      value: "{{ sample.text }}"
      rubric: [{name: complete, requirement: It is complete.}, {name: clear, requirement: It is clear.}]
      judges: [{model_key: openai/gpt-5-mini}]
      metrics:
        - {type: mean, field: complete}
        - {type: mean, field: FIELD}
"""


@pytest.mark.parametrize("command", ["check", "plan", "run"])
def test_a_field_that_no_criterion_gives_is_found_before_anything_is_paid(project, command):
    project.write("task.yaml", FIELD_TASK.replace("FIELD", "complet"))
    outcome = project.assay(command, "task.yaml")
    assert outcome.code == 2
    said = outcome.out + outcome.err
    assert 'task.yaml:13:31: rubric produces no field "complet"' in " ".join(said.split())
    assert 'did you mean "complete"?' in " ".join(said.split())
    project.write("task.yaml", FIELD_TASK.replace("FIELD", "clear"))
    assert project.assay("check", "task.yaml").code == 0

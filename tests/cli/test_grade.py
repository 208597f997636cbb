"""`assay grade`: texts, a rubric and judges, as a person uses them."""

from __future__ import annotations

import re

import pytest

from assay.cli.grade import panel_of

RUBRIC = """
- {name: polite, requirement: Is polite.}
- {name: style, requirement: How is the style?, options: [{label: Poor, value: 0}, {label: Fine, value: 0.8}]}
"""


def _met(word):
    return {"explanation": "e", "criterion_status": word}


@pytest.fixture
def graded(project):
    project.write("rubric.yaml", RUBRIC)
    style = {"match": "How is the style?", "reply": "Fine"}
    project.write("kind.jsonl", [style, {"match": "Is polite.", "reply": _met("MET")}])
    project.write("strict.jsonl", [style, {"match": "Is polite.", "reply": _met("UNMET")}])
    project.write("essays/one.txt", "Good day to you.")
    project.write("essays/two.txt", "Good evening.")
    return project


def test_a_folder_is_graded_into_a_table_that_fits(graded):
    outcome = graded.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/kind.jsonl", "--seed", "1")
    assert outcome.code == 0, outcome.err
    assert "one.txt" in outcome.out
    assert "MET" in outcome.out
    assert "Fine" in outcome.out
    assert "mean score 0.900" in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80
    again = graded.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/kind.jsonl", "--seed", "1", "--json")
    assert again.json["n_cached"] == 2
    assert again.json["usage"]["prompt_tokens"] == 0
    assert again.json["items"][0]["criteria"]["style"]["label"] == "Fine"
    samples = graded.assay("samples", "--json").lines
    assert [sample["sample"]["description"] for sample in samples] == ["one.txt", "two.txt"]


def test_a_panel_with_weights_says_how_often_a_tie_decided(graded):
    judges = ("--judge", "scripted/kind.jsonl", "--judge", "scripted/strict.jsonl")
    outcome = graded.assay("grade", "rubric.yaml", "essays", *judges, "--seed", "1")
    assert outcome.code == 0, outcome.err
    assert "UNMET" in outcome.out
    assert "50.0% of the verdicts were decided by a tie" in outcome.out
    assert "note: a panel with an even number of judges" in outcome.err
    heavier = ("--judge", "scripted/kind.jsonl:2", "--judge", "scripted/strict.jsonl", "--aggregation", "weighted")
    said = graded.assay("grade", "rubric.yaml", "essays", *heavier, "--seed", "1", "--json", "-q").json
    assert said["score"]["value"] == pytest.approx(0.9)
    assert said["tie_share"] == 0.0


def test_a_judge_that_cannot_be_read_fails_the_items(graded):
    graded.write("mute.jsonl", [{"reply": "hm"}])
    outcome = graded.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/mute.jsonl", "--seed", "1")
    assert outcome.code == 3
    assert "failed" in outcome.out
    broken = graded.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/mute.jsonl", "--seed", "1", "--json")
    assert "no judge could be asked" in broken.json["items"][0]["error"]
    wrong = graded.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/mute.jsonl", "--aggregation", "bogus")
    assert wrong.code == 2
    assert "bogus" in wrong.err


def test_many_criteria_are_numbered(graded):
    names = [f"a criterion with a long name {n}" for n in range(6)]
    graded.write("rubric.yaml", "".join(f"- {{name: {name}, requirement: Is polite.}}\n" for name in names))
    graded.write("essays.csv", "text\n" + "".join(f"text {n}\n" for n in range(50)))
    outcome = graded.assay("grade", "rubric.yaml", "essays.csv", "--judge", "scripted/kind.jsonl", "--prompt", "Write.")
    assert outcome.code == 0, outcome.err
    assert "  6  a criterion with a long name 5" in outcome.out
    assert "... and 10 more" in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_judges_are_read_with_their_weights():
    specs = panel_of(("a/b:0.5", "ollama/qwen2.5:7b", "a/b", "scripted/x:nan"))
    assert [(spec.judge_id, spec.weight) for spec in specs] == [
        ("a/b", 0.5),
        ("ollama/qwen2.5:7b", 1.0),
        ("a/b#2", 1.0),
        ("scripted/x:nan", 1.0),
    ]


def test_both_orders_show_which_verdicts_hang_on_the_order(graded):
    options = ", ".join(f"{{label: L{n}, value: {n / 5}}}" for n in range(6))
    graded.write("rubric.yaml", RUBRIC.split("options")[0] + f"options: [{options}]}}")
    graded.write("lazy.jsonl", [{"match": "How is the style?", "reply": "A"}, {"reply": _met("MET")}])
    arguments = ("grade", "rubric.yaml", "essays", "--judge", "scripted/lazy.jsonl", "--seed", "1")
    outcome = graded.assay(*arguments, "--shuffle", "both_orders")
    assert outcome.code == 0, outcome.err
    assert "of 4 verdicts depend on the order of the options" in outcome.out
    assert graded.assay(*arguments, "--json").json["n_order_sensitive"] == 0
    assert graded.assay(*arguments, "--shuffle", "sideways").code == 2


def test_each_judge_may_be_asked_several_times(graded):
    outcome = graded.assay(
        "grade", "rubric.yaml", "essays", "--judge", "scripted/kind.jsonl", "--repeats", "3", "--json"
    )
    assert outcome.code == 0, outcome.err
    lines = graded.assay("samples", "--json").lines
    votes = [vote for line in lines for cast in line["scores"]["rubric"]["metadata"]["votes"].values() for vote in cast]
    assert {vote.get("repeat", 0) for vote in votes} == {0, 1, 2}


def test_votes_that_could_not_be_had_are_told_in_the_table_and_in_the_json(graded):
    met = {"match": "Is polite.", "reply": _met("MET")}
    graded.write("half.jsonl", [{"match": "Good evening", "reply": "hm"}, met, {"reply": "hm"}])
    judges = ("--judge", "scripted/kind.jsonl", "--judge", "scripted/half.jsonl", "--seed", "1")
    said = graded.assay("grade", "rubric.yaml", "essays", *judges)
    assert said.code == 0, said.err
    assert 'note: judge "scripted/half.jsonl": 3 of 4 votes are missing' in said.out
    assert "(parse 3)" in " ".join(said.out.split())
    document = graded.assay("grade", "rubric.yaml", "essays", *judges, "--json").json
    assert document["judges"]["scripted/half.jsonl"] == {
        "n_votes": 4,
        "n_missing": 3,
        "missing": {"parse": 3},
    }
    assert document["judges"]["scripted/kind.jsonl"]["n_missing"] == 0


def test_failed_items_are_told_with_their_reason_and_where_to_look(graded):
    graded.write("mute.jsonl", [{"reply": "hm"}])
    said = graded.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/mute.jsonl")
    assert said.code == 3
    assert "2 of 2 items failed: no judge could be asked about polite, style" in said.err
    assert f"`assay samples {said.out.split()[1]} --failed` shows them" in said.err


def test_what_was_asked_and_paid_stands_below_the_table(graded):
    said = graded.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/kind.jsonl", "--seed", "1")
    assert "scripted/kind.jsonl (judge): 4 calls" in said.out
    assert "$0.0000" in said.out


def test_weights_that_change_nothing_are_told(graded):
    judges = ("--judge", "scripted/kind.jsonl:2", "--judge", "scripted/strict.jsonl", "--seed", "1")
    said = graded.assay("grade", "rubric.yaml", "essays", *judges)
    assert "note: the weights of the judges change nothing: majority and mean count every judge alike" in said.err
    weighted = graded.assay("grade", "rubric.yaml", "essays", *judges, "--aggregation", "weighted")
    assert "change nothing" not in weighted.err


CRITERIA = """
- {name: right, requirement: Is right.}
- name: "How clear?"
  requirement: Is it clear?
  options: [{label: poor, value: 0}, {label: fair, value: 0.5}, {label: good, value: 1}]
- {name: polite, requirement: Is polite.}
"""


def test_a_graded_run_has_a_mean_of_each_criterion_and_none_where_nobody_could_assess_it(project):
    project.write("rubric.yaml", CRITERIA)
    project.write("texts.jsonl", [{"text": f"Text {n}."} for n in range(4)])
    for name, status, label in (("a", "MET", "fair"), ("b", "UNMET", "good")):
        lines = [
            {"match": "Is right.", "reply": {"explanation": "e", "criterion_status": status}},
            {"match": "Is it clear?", "reply": label},
            {"reply": {"explanation": "e", "criterion_status": "CANNOT_ASSESS"}},
        ]
        project.write(f"{name}.jsonl", lines)
        graded = project.assay(
            "grade", "rubric.yaml", "texts.jsonl", "--judge", f"scripted/{name}.jsonl", "--name", name
        )
        assert graded.code == 0, graded.err
    (scorer,) = project.assay("show", "a", "--json").json["scorers"]
    means = {
        f"{metric['key']}/{name}": value for metric in scorer["metrics"] for name, value in metric["values"].items()
    }
    assert list(means) == ["mean/score", "mean_right/right", "mean_How-clear-/How clear?", "mean_polite/polite"]
    assert [mean["value"] for mean in means.values()] == [0.75, 1.0, 0.5, None]
    assert means["mean_How-clear-/How clear?"]["method"] == "guarded", "the options declare the range"
    assert means["mean_polite/polite"]["reason"] == "no sample has a value"
    cited = project.assay("show", "a", "--cite").out
    assert re.match(r'4 texts \(SHA-256 [0-9a-f]{64}\) of "rubric:texts" were graded, with seed 0 and assay ', cited)
    assert "Judged by scripted/a.jsonl." in cited
    # the criteria stand below the score, and are no comparisons of their own unless they are asked for
    compared = project.assay("compare", "a", "b", "--json").json["comparisons"]
    assert [one["metric"] for one in compared] == ["rubric/mean/score"]
    assert set(compared[0]["criteria"]) == {"right", "How clear?"}
    asked = project.assay("compare", "a", "b", "--metric", "right", "--json").json["comparisons"]
    assert [one["metric"] for one in asked] == ["rubric/mean_right/right"]


def test_doubtful_criteria_go_to_the_stronger_model(graded):
    unsure = [{"token": "MET", "logprob": -1.0}]
    sure = [{"token": "Fine", "logprob": -0.01}]
    graded.write(
        "first.jsonl",
        [
            {"match": "How is the style?", "reply": "Fine", "logprobs": sure},
            {"match": "Is polite.", "reply": _met("MET"), "logprobs": unsure},
        ],
    )
    command = ("grade", "rubric.yaml", "essays", "--judge", "scripted/first.jsonl", "--seed", "1")
    stronger = ("--escalate", "scripted/strict.jsonl", "--escalate-below", "0.9")
    plan = graded.assay(*command, *stronger, "--plan", "--json").json
    assert {model["model"]: model["calls"] for model in plan["models"]} == {
        "scripted/first.jsonl": 4,
        "scripted/strict.jsonl": 4,
    }
    outcome = graded.assay(*command, *stronger, "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["n_escalated"] == 2
    assert outcome.json["items"][0]["criteria"]["polite"] == {
        "label": "UNMET",
        "pairwise_agreement": None,
        "escalated": True,
    }
    assert "2 of 4 verdicts were escalated" in graded.assay(*command, *stronger).out
    # the probability of MET is 0.37: below 0.3 it is sure enough
    assert graded.assay(*command, *stronger[:2], "--escalate-below", "0.3", "--json").json["n_escalated"] == 0
    lone = graded.assay(*command, "--escalate-below", "0.5")
    assert lone.code == 2
    assert "--escalate-below needs --escalate" in lone.err


def test_items_that_every_judge_abstained_from_have_failed_and_keep_their_votes(graded):
    graded.write("polite.yaml", "- {name: polite, requirement: Is polite.}")
    graded.write(
        "unsure.jsonl", [{"match": "evening", "reply": _met("CANNOT_ASSESS")}, {"match": "", "reply": _met("MET")}]
    )
    outcome = graded.assay("grade", "polite.yaml", "essays", "--judge", "scripted/unsure.jsonl", "--json")
    assert outcome.code == 3
    assert "1 of 2 items failed: abstained: no criterion was assessed" in outcome.err
    assert re.search(r"`assay samples \S+` shows them", outcome.err)
    assert (outcome.json["n_failed"], outcome.json["score"]["n"]) == (1, 1)
    item = outcome.json["items"][1]
    assert (item["score"], item["criteria"]["polite"]["label"]) == (None, "CANNOT_ASSESS")

"""`assay agreement`: judges beside people and beside each other, from a run or from a table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "agreement.md"
STYLE = "options: [{label: Poor, value: 0}, {label: Fine, value: 0.8}, {label: Great, value: 1}]"
RUBRIC = f"""
- {{name: polite, requirement: Is polite.}}
- {{name: style, requirement: How is the style?, {STYLE}}}
"""
TASK = """
key: polite
display_name: Polite
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - type: rubric
      value: "{{ sample.text }}"
      rubric: RUBRIC
      judges: [{model_key: scripted/one.jsonl, id: one}, {model_key: scripted/two.jsonl, id: two}]
      ground_truth: "{{ sample.truth }}"
"""
ROWS = [
    {"sample_id": "a", "text": "Hello there", "truth": ["MET", "Fine"]},
    {"sample_id": "b", "text": "Go away", "truth": ["UNMET", "Poor"]},
    {"sample_id": "c", "text": "Well", "truth": ["CANNOT_ASSESS", "Fine"]},
]


def _met(word):
    return {"explanation": "e", "criterion_status": word}


@pytest.fixture
def judged(project):
    """A run of two judges: all is polite to the first and nothing to the second; both call every style fine."""
    project.write("rubric.yaml", RUBRIC)
    project.write("data.jsonl", ROWS)
    style = {"match": "How is the style?", "reply": "Fine"}
    project.write("one.jsonl", [style, {"match": "Is polite.", "reply": _met("MET")}])
    project.write("two.jsonl", [style, {"match": "Is polite.", "reply": _met("UNMET")}])
    project.write("task.yaml", TASK.replace("RUBRIC", "rubric.yaml"))
    outcome = project.assay("run", "task.yaml", "-q")
    assert outcome.code == 0, outcome.err
    return project


def test_the_judges_of_a_run_are_compared_with_the_truth_of_its_task(judged):
    outcome = judged.assay("agreement")
    assert outcome.code == 0, outcome.err
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert "truth · panel" in outcome.out
    # the rubric of the file is kept with the run, with the option that nobody chose
    assert "--rubric" not in outcome.out
    assert judged.assay("agreement", "--json").json["criteria"]["style"]["labels"] == ["Poor", "Fine", "Great"]
    said = judged.assay("agreement", "latest", "--rubric", "rubric.yaml", "--json").json
    assert said["criteria"]["style"]["labels"] == ["Poor", "Fine", "Great"]
    assert said["criteria"]["style"]["kind"] == "ordinal"
    assert said["notes"] == []
    polite = said["criteria"]["polite"]["judges"]
    assert polite["two"]["values"]["accuracy"]["value"] == 0.5
    assert polite["two"]["abstentions"]["truth_only"] == 1
    assert polite["one"]["confusion"] == [[0, 1], [0, 1]]
    assert polite["two"]["confusion"] == [[1, 0], [1, 0]]
    assert said["criteria"]["style"]["judges"]["one"]["values"]["accuracy"]["value"] == pytest.approx(2 / 3)
    assert said["scores"]["panel"]["rmse"]["n"] == 3


def test_a_rubric_in_the_task_declares_its_scales(judged):
    inline = json.dumps([{"requirement": "Is polite."}, {"requirement": "How is the style?"}])
    judged.write("task.yaml", TASK.replace("RUBRIC", inline).replace('      ground_truth: "{{ sample.truth }}"\n', ""))
    judged.write("two.jsonl", [{"reply": _met("UNMET")}])
    judged.write("one.jsonl", [{"reply": _met("MET")}])
    assert judged.assay("run", "task.yaml", "-q").code == 0
    said = judged.assay("agreement", "--json").json
    assert set(said["criteria"]) == {"criterion_1", "criterion_2"}
    assert said["overall"] == {}
    assert said["criteria"]["criterion_1"]["between_judges"]["values"]["agreement"]["value"] == 0.0


def test_labels_of_people_replace_the_truth_of_the_task(judged):
    rows = [("a", "p", "MET"), ("a", "q", "MET"), ("b", "p", "MET"), ("b", "q", "UNMET"), ("c", "p", "MET")]
    judged.write(
        "people.csv", "sample_id,annotator,criterion,label\n" + "".join(f"{s},{a},polite,{v}\n" for s, a, v in rows)
    )
    said = judged.assay("agreement", "--labels", "people.csv", "--json").json
    polite = said["criteria"]["polite"]
    assert polite["n_without_truth"] == 1
    assert polite["judges"]["two"]["values"]["accuracy"]["value"] == 0.0
    assert polite["human_ceiling"]["two"]["ceiling"]["value"] == 0.5
    assert said["criteria"]["style"]["judges"] == {}
    assert said["scores"] == {}


def test_graded_texts_can_be_compared_with_labels(judged):
    judged.write("essays/1.txt", "Hello there")
    judged.write("essays/2.txt", "Go away")
    assert (
        judged.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/one.jsonl", "-q", "--seed", "1").code == 0
    )
    judged.write("labels.csv", "sample_id,criterion,label\n1.txt,style,Great\n2.txt,style,Fine\n")
    said = judged.assay("agreement", "--labels", "labels.csv", "--json").json
    assert said["criteria"]["style"]["labels"] == ["Poor", "Fine", "Great"]
    assert said["criteria"]["style"]["judges"]["scripted/one.jsonl"]["values"]["accuracy"]["value"] == 0.5
    assert said["criteria"]["style"]["judges"]["panel"]["values"]["bias"]["value"] == pytest.approx(-0.1)


def test_the_panels_errors_are_those_before_snapping_to_an_option(judged):
    judged.write("two.jsonl", [{"match": "How is the style?", "reply": "Poor"}, {"reply": _met("MET")}])
    assert judged.assay("run", "task.yaml", "-q").code == 0
    said = judged.assay("agreement", "--json").json
    panel = said["criteria"]["style"]["judges"]["panel"]["values"]
    # Fine (0.8) and Poor (0) make 0.4, which snaps to the worse of two equally near options
    assert panel["bias"]["value"] == pytest.approx(0.4 - (0.8 + 0 + 0.8) / 3)
    assert panel["rmse"]["value"] == pytest.approx(0.4)
    scores = said["scores"]["panel"]
    assert scores["rmse"]["value"] != scores["rmse_continuous"]["value"]


def test_graded_texts_with_a_ground_truth_need_no_labels(judged):
    rows = [{"submission": row["text"], "description": row["sample_id"], "ground_truth": row["truth"]} for row in ROWS]
    judged.write("texts.jsonl", rows)
    judged.assay("grade", "rubric.yaml", "texts.jsonl", "--judge", "scripted/one.jsonl", "-q", "--seed", "1")
    said = judged.assay("agreement", "--json").json
    assert said["criteria"]["style"]["judges"]["panel"]["values"]["accuracy"]["value"] == pytest.approx(2 / 3)
    assert said["scores"]["panel"]["rmse"]["n"] == 3
    assert said["notes"] == []


def test_what_is_missing_for_a_comparison_is_said(judged):
    judged.write("essays/1.txt", "Hello there")
    judged.assay("grade", "rubric.yaml", "essays", "--judge", "scripted/one.jsonl", "-q")
    said = " ".join(judged.assay("agreement").out.split())
    assert "only one judge and no ground truth" in said
    assert "--labels FILE" in said
    assert "all criteria" not in said


def test_the_latest_run_with_a_rubric_is_meant_and_named(judged):
    run = judged.assay("agreement", "--json").json["run"]
    plain = TASK[: TASK.index("  scorers:")] + '  scorers: [{type: string_equals, value: "a", ground_truth: "a"}]\n'
    judged.write("plain.yaml", plain.replace("key: polite", "key: plain"))
    assert judged.assay("run", "plain.yaml", "-q").code == 0
    assert judged.assay("agreement", "--json").json["run"] == run
    assert f"run {run}" in judged.assay("agreement").out
    assert judged.assay("agreement", "latest").code == 2


def test_every_unknown_item_of_the_labels_is_named_with_its_line(judged):
    judged.write("people.csv", "sample_id,criterion,label\na,polite,MET\nbb,polite,MET\nc,polit,MET\n")
    outcome = judged.assay("agreement", "--labels", "people.csv")
    assert outcome.code == 2
    assert 'people.csv:3:1: unknown item "bb"' in outcome.err
    assert 'people.csv:4:1: unknown criterion "polit"; did you mean "polite"?' in outcome.err


def test_a_judge_that_gives_labels_is_held_against_the_true_ones(project):
    assert project.assay("init", ".", "--starter", "judge").code == 0
    assert project.assay("run", "task.yaml", "-q").code == 0
    found = project.assay("agreement", "--json").json["criteria"]["model_as_a_judge_classifier"]
    assert (found["kind"], found["labels"], found["n_items"]) == ("nominal", ["correct", "incorrect"], 8)
    assert found["judges"]["judge"]["values"]["accuracy"]["value"] == 0.875
    assert found["judges"]["judge"]["values"]["kappa"]["value"] == 0.75


def test_labels_of_other_answers_than_those_of_the_run_are_refused(judged):
    judged.write(
        "people.csv", "sample_id,criterion,label,sample.text\na,polite,MET,Hello there\nb,polite,MET,Come in\n"
    )
    outcome = judged.assay("agreement", "--labels", "people.csv")
    assert outcome.code == 2
    assert "shows other answers than run" in outcome.err
    assert "1 of 2 labelled samples: b." in outcome.err


def test_a_run_without_votes_is_refused(project):
    project.write("data.jsonl", [{"question": "q", "output": "yes", "answer": "yes"}])
    scorer = 'scorers: [{type: string_equals, ground_truth: "{{ sample.answer }}", value: "{{ sample.output }}"}]'
    project.write("task.yaml", TASK.split("  scorers:")[0] + f"  {scorer}\n")
    ran = project.assay("run", "task.yaml", "-q")
    assert ran.code == 0, ran.err
    outcome = project.assay("agreement")
    assert outcome.code == 2
    assert "has no votes" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("latest", "--votes", "v.csv"), "a RUN or --votes, not both"),
        (("--truth", "x"), "need --votes"),
        (("--votes", "v.csv", "--truth", "a", "--labels", "l.csv"), "--truth or --labels, not both"),
        (("--votes", "none.csv"), "there is no file"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(project, arguments, said):
    outcome = project.assay("agreement", *arguments)
    assert outcome.code == 2
    assert said in outcome.err


def test_the_annotators_of_pandalm_agree_as_published(project, real_data):
    rows = json.loads((real_data / "pandalm" / "testset-v1.json").read_text(encoding="utf-8"))
    people = [f"annotator{number}" for number in (1, 2, 3)]
    lines = [f"{row['idx']},preference,{person},{row[person]}\n" for row in rows for person in people]
    project.write("votes.csv", "item,criterion,judge,label\n" + "".join(lines))
    outcome = project.assay("agreement", "--votes", "votes.csv")
    assert outcome.code == 0, outcome.err
    found = re.findall(r"annotator(\d) · annotator(\d) +(\S+)", outcome.out)
    assert found == [("1", "2", "0.8520"), ("1", "3", "0.8789"), ("2", "3", "0.8617")]
    truth = project.assay("agreement", "--votes", "votes.csv", "--truth", "annotator3", "--json").json
    judges = truth["criteria"]["preference"]["judges"]
    assert judges["annotator1"]["values"]["kappa"]["value"] == pytest.approx(0.8789, abs=5e-5)


def test_the_example_of_the_documentation_prints_what_the_page_shows(project):
    page = PAGE.read_text(encoding="utf-8")
    project.write("votes.csv", re.search(r"^```csv\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1])
    shown = re.findall(r"^```console\n\$ assay (.*?)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(shown) >= 1
    for command, output in shown:
        outcome = project.assay(*command.split())
        assert outcome.code == 0, outcome.err
        assert outcome.out.strip() == output.strip()


def test_votes_that_were_imported_are_the_latest_too(judged):
    judged.write(
        "votes.csv", "item,criterion,judge,label\n1,kind,ann,yes\n1,kind,ben,no\n2,kind,ann,yes\n2,kind,ben,yes\n"
    )
    imported = judged.assay("import", "votes.csv", "--format", "votes", "--json")
    assert imported.code == 0, imported.err
    said = judged.assay("agreement", "--json")
    assert said.code == 0, said.err
    assert list(said.json["criteria"]) == ["kind"]


def _votes(judges, label_of):
    rows = (f"{item},judge-{judge},{label_of(item, judge)}" for item in range(12) for judge in range(judges))
    return "\n".join(("item,judge,label", *rows)) + "\n"


def _between(project, text, *options):
    project.write("votes.csv", text)
    outcome = project.assay("agreement", "--votes", "votes.csv", "--json", *options)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["criteria"]["label"]


@pytest.mark.parametrize(
    ("words", "written_otherwise", "options"),
    [(("yes", "no"), ("YES", "No"), ()), (("1", "2"), ("1.0", "2.00"), ()), (("1", "2"), ("1.0", "2"), ("ordinal",))],
)
def test_labels_that_differ_in_case_or_are_equal_numbers_are_one_option(project, words, written_otherwise, options):
    def right(item, judge):
        return (item + (item % 5 == judge)) % 2

    flags = ("--scale", *options) if options else ()
    plain = _between(project, _votes(3, lambda item, judge: words[right(item, judge)]), *flags)
    mixed = _between(
        project,
        _votes(3, lambda item, judge: (written_otherwise if judge == 1 else words)[right(item, judge)]),
        *flags,
    )
    assert len(mixed["labels"]) == 2
    for name, value in plain["between_judges"]["values"].items():
        assert mixed["between_judges"]["values"][name]["value"] == value["value"], name


def test_above_ten_judges_pairs_have_intervals_on_request_only(project):
    text = _votes(11, lambda item, judge: "no" if (item * 7 + judge * item) % 5 < 2 else "yes")
    plain = _between(project, text)["between_judges"]
    asked = _between(project, text, "--pair-intervals")["between_judges"]
    assert {pair["kappa"].get("low") for pair in plain["pairs"]} == {None}
    bounded = [pair["kappa"]["low"] is not None for pair in asked["pairs"] if pair["kappa"]["value"] is not None]
    assert all(bounded)
    assert len(bounded) > 10
    for one, other in zip(plain["pairs"], asked["pairs"], strict=True):
        assert one["kappa"]["value"] == pytest.approx(other["kappa"]["value"], abs=1e-14)
    assert plain["values"] == asked["values"]
    shown = project.assay("agreement", "--votes", "votes.csv")
    assert "--pair-intervals" in shown.out
    assert "--pair-intervals" not in project.assay("agreement", "--votes", "votes.csv", "--pair-intervals").out


def test_labels_of_people_match_without_case_and_as_equal_numbers(project):
    project.write("votes.csv", "item,judge,label\na,j,1\nb,j,Yes\nc,j,1\nd,j,no\n")
    project.write("people.csv", "sample_id,label\na,1.0\nb,yes\nc,YES\nd,NO\n")
    outcome = project.assay("agreement", "--votes", "votes.csv", "--labels", "people.csv", "--json")
    assert outcome.code == 0, outcome.err
    criterion = outcome.json["criteria"]["label"]
    assert len(criterion["labels"]) == 3
    assert criterion["judges"]["j"]["values"]["accuracy"]["value"] == 0.75


def test_a_terminal_shows_which_criterion_is_computed(project):
    import os
    import pty
    import subprocess
    import sys

    rows = "".join(
        f"{item},j{judge},{name},{(item + judge) % 2}\n" for item in range(9) for judge in range(3) for name in "ab"
    )
    project.write("votes.csv", "item,judge,criterion,label\n" + rows)
    terminal, other_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-m", "assay", "agreement", "--votes", "votes.csv", "--json"]
    process = subprocess.Popen(command, cwd=project.folder, stdout=subprocess.PIPE, stderr=other_end, env=environment)
    os.close(other_end)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    assert process.stdout is not None
    assert json.loads(process.stdout.read())["criteria"].keys() == {"a", "b"}
    process.stdout.close()
    assert process.wait() == 0
    os.close(terminal)
    assert b"of 2)" in shown

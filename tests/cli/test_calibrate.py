"""`assay calibrate`: a judge's number corrected by labels, and samples drawn for people to label."""

from __future__ import annotations

import csv

import pytest

TASK = """
key: quiz
display_name: Quiz
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - type: string_equals
      ground_truth: "yes"
      value: "{{ sample.said }}"
      metrics: [{type: mean, field: is_correct, name: accuracy} EXTRA]
"""


@pytest.fixture
def judged(project, cli):
    """200 samples of which a judge accepts 150; the first ten have no answer to judge."""

    def make(extra=""):
        project.write("task.yaml", TASK.replace(" EXTRA", extra))
        rows = [{"sample_id": f"q{i}", "said": "yes" if i % 4 else "no"} for i in range(200)]
        for row in rows[:10]:
            del row["said"]
        project.write("data.jsonl", rows)
        assert cli("run", "task.yaml", "-q", "--max-failures", "1").code == 0
        return project

    return make


def test_samples_are_drawn_labelled_and_correct_the_judge(judged, cli):
    project = judged()
    said = cli("calibrate", "--labels", "people.csv", "--suggest", "60")
    assert said.code == 0, said.err
    assert "wrote 60 samples to people.csv" in said.out
    path = project.folder / "people.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["inclusion_probability"] for row in rows} == {"0.315789"}
    assert not any(row["sample_id"] in {f"q{i}" for i in range(10)} for row in rows)
    for place, row in enumerate(rows):
        row["label"] = "1" if row["sample.said"] == "yes" and place % 10 else "0"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    found = cli("calibrate", "latest", "--labels", "people.csv", "--json").json["calibrations"][0]
    assert (found["n_labelled"], found["n_unlabelled"], found["warnings"]) == (60, 130, [])
    assert found["judge"]["value"] == pytest.approx(143 / 190)
    assert found["estimate"]["value"] < found["judge"]["value"]
    assert found["estimate"]["low"] < found["estimate"]["value"] < found["estimate"]["high"]
    assert 0.5 < found["lambda"] < 1
    assert found["origin_p"] is None
    shown = cli("calibrate", "--labels", "people.csv")
    assert max(map(len, shown.out.splitlines())) <= 80
    for words in ("judge alone ", "labels alone ", "judge corrected ", "Rogan-Gladen ", "interval half as wide"):
        assert words in shown.out


def fill_in(path, label="1"):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "label": label} for row in rows)


def test_labels_of_the_answers_of_another_run_are_refused(judged, project, cli):
    judged()
    assert cli("calibrate", "--labels", "people.csv", "--suggest", "60").code == 0
    fill_in(project.folder / "people.csv")
    assert cli("calibrate", "--labels", "people.csv").code == 0
    rows = [{"sample_id": f"q{i}", "said": "yes" if i % 3 else "no"} for i in range(200)]
    project.write("data.jsonl", rows)
    assert cli("run", "task.yaml", "-q").code == 0
    said = cli("calibrate", "--labels", "people.csv")
    assert said.code == 2
    assert "people.csv shows other answers than run" in said.err
    assert "of 60 labelled samples: q" in said.err


@pytest.mark.parametrize(
    ("cell", "code"),
    [("one\r\ntwo", 0), (" one two ", 0), ("three", 2), ("", 2)],
)
def test_the_column_output_of_the_labels_is_that_of_the_run(project, cli, cell, code):
    task = TASK.replace(" EXTRA", "").replace("{{ sample.said }}", "{{ model_output }}")
    task = task.replace("  scorers:", "  solver: {type: pass_through_solver, trace_column: said}\n  scorers:")
    project.write("task.yaml", task)
    project.write("data.jsonl", [{"sample_id": f"q{i}", "said": "one\ntwo"} for i in range(20)])
    assert cli("run", "task.yaml", "-q").code == 0
    project.write("people.csv", f'sample_id,label,output\nq1,1,"one\ntwo"\nq2,0,"{cell}"\n')
    said = cli("calibrate", "--labels", "people.csv")
    assert said.code == code, said.err
    assert ("1 of 2 labelled samples: q2." in said.err) is bool(code)


def test_suggestions_do_not_overwrite_labels(judged, cli):
    project = judged()
    project.write("people.csv", "sample_id,label\nq11,1\n")
    assert "--force" in cli("calibrate", "--labels", "people.csv", "--suggest", "5").err
    assert cli("calibrate", "--labels", "people.csv", "--suggest", "5", "--force").code == 0
    assert "in .csv" in cli("calibrate", "--labels", "people.txt", "--suggest", "5").err
    assert "cannot write" in cli("calibrate", "--labels", "no/such.csv", "--suggest", "5").err
    assert "has no label yet" in cli("calibrate", "--labels", "people.csv").err


def test_the_same_seed_draws_the_same_samples(judged, cli):
    project = judged()
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        cli("calibrate", "--labels", f"{name}.csv", "--suggest", "20", "--seed", seed)
    texts = [(project.folder / f"{name}.csv").read_text() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_everything_wrong_with_the_labels_is_said_at_once(judged, cli):
    rows = ["q11,maybe", "q999,1", "q12,1", "q12,0", "q13,2"]
    judged().write("people.csv", "sample_id,label\n" + "\n".join(rows) + "\n")
    said = cli("calibrate", "--labels", "people.csv")
    assert said.code == 2
    assert 'people.csv:2:1: the label "maybe" is not a number' in said.err
    assert 'people.csv:3:1: the run has no sample "q999"; did you mean' in said.err
    assert 'people.csv:5:1: a second label of sample "q12"' in said.err
    assert "people.csv:6:1: the label 2 is outside the range 0 to 1" in said.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sample,label\nq11,1\n", 'no column "sample_id"'),
        ("sample_id,label,inclusion_probability\nq11,1,2\n", "is not a chance"),
        ("sample_id,label,criterion\nq11,1,tone\n", 'unknown criterion "tone"'),
        ("sample_id,label\n" + "q11,x\n" * 30, "and 10 more rows"),
    ],
)
def test_mistakes_are_sentences(judged, cli, text, message):
    judged().write("people.csv", text)
    said = cli("calibrate", "--labels", "people.csv")
    assert said.code == 2
    assert message in said.err


def test_labels_of_chosen_samples_are_warned_about(judged, cli):
    rows = [f"q{i},1" for i in range(200) if i % 4 and i > 10][:60]
    judged().write("people.csv", "sample_id,label\n" + "\n".join(rows) + "\n")
    found = cli("calibrate", "--labels", "people.csv", "--json").json["calibrations"][0]
    assert found["origin_p"] < 0.01
    assert "unlike the others" in found["warnings"][0]
    assert "warning: the labelled samples are unlike the others" in cli("calibrate", "--labels", "people.csv").out


def test_labels_without_judgement_and_suggestions_without_label_are_counted(judged, cli):
    rows = [f"q{i},{i % 2},0.5" for i in range(5, 40)] + ["q50,,0.5"]
    judged().write("people.csv", "sample_id,label,inclusion_probability\n" + "\n".join(rows) + "\n")
    found = cli("calibrate", "--labels", "people.csv", "--json").json["calibrations"][0]
    assert found["n_labelled"] == 30
    warnings = " ".join(found["warnings"])
    assert "5 labels are of samples that have no number" in warnings
    assert "1 of 36 suggested samples have no label" in warnings
    assert "another run" in warnings


def test_some_labels_with_chances_and_some_without_are_taken_as_even(judged, cli):
    rows = [f"q{i},{i % 2},{'0.5' if i % 3 else ''}" for i in range(10, 40)]
    judged().write("people.csv", "sample_id,label,inclusion_probability\n" + "\n".join(rows) + "\n")
    found = cli("calibrate", "--labels", "people.csv", "--json").json["calibrations"][0]
    assert "some labels have no inclusion_probability" in found["warnings"][0]


def test_several_annotators_are_averaged(judged, cli):
    rows = [f"q{i},{person},{label}" for i in range(10, 40) for person, label in (("ann", i % 2), ("bob", "true"))]
    judged().write("people.jsonl", "")
    judged().write("people.csv", "sample_id,annotator,label\n" + "\n".join(rows) + "\n")
    found = cli("calibrate", "--labels", "people.csv", "--json").json["calibrations"][0]
    assert found["labels_only"]["value"] == pytest.approx(0.75)
    assert found["sensitivity"] is None


def test_a_run_with_several_means_wants_one_named(judged, cli):
    project = judged(", {type: mean, field: is_correct, name: second}")
    project.write("people.csv", "sample_id,label\nq11,1\nq12,0\n")
    said = cli("calibrate", "--labels", "people.csv")
    assert said.code == 2
    assert "--metric: string_equals/mean/accuracy, string_equals/mean_2/second" in said.err
    assert cli("calibrate", "--labels", "people.csv", "--metric", "second").code == 0
    one = cli("calibrate", "--labels", "people.csv", "--metric", "second", "--level", "0.8", "--json").json
    assert one["calibrations"][0]["estimate"]["level"] == 0.8


def test_clusters_of_the_metric_count_in_every_number(judged, cli, project):
    project.write("people.csv", "sample_id,label\n" + "".join(f"q{i},{i % 2}\n" for i in range(10, 70)))
    judged()
    apart = cli("calibrate", "--labels", "people.csv", "--json").json["calibrations"][0]
    task = TASK.replace("name: accuracy}", 'name: accuracy, cluster_by: "{{ sample.document }}"}')
    project.write("task.yaml", task.replace(" EXTRA", ""))
    rows = [{"sample_id": f"q{i}", "document": f"d{i // 12}", "said": "yes" if i % 4 else "no"} for i in range(200)]
    project.write("data.jsonl", rows)
    assert cli("run", "task.yaml", "-q").code == 0
    found = cli("calibrate", "--labels", "people.csv", "--json").json["calibrations"][0]
    assert "clusters" not in apart["estimate"]
    assert (found["estimate"]["clusters"], found["estimate"]["caveat"]) == (6, "few clusters")
    assert found["judge"]["clusters"] == 17


def test_a_run_without_a_mean_or_a_number_is_refused(judged, project, cli):
    judged()
    task = TASK.replace("type: mean, field: is_correct, name: accuracy", "type: max, field: is_correct")
    project.write("max.yaml", task.replace(" EXTRA", ""))
    assert cli("run", "max.yaml", "-q", "--max-failures", "1").code == 0
    project.write("people.csv", "sample_id,label\nq11,1\n")
    assert "no mean that labels could correct" in cli("calibrate", "--labels", "people.csv").err


RUBRIC_TASK = """
key: polite
display_name: Polite
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - type: rubric
      value: "{{ sample.text }}"
      rubric: |
        - {name: polite, requirement: Is polite.}
        - {name: style, requirement: How is it?, options: [{label: Poor, value: 0}, {label: Fine, value: 1}]}
      judges: [{model_key: scripted/judge.jsonl, id: one}]
"""


def test_criteria_of_a_rubric_are_calibrated_by_their_labels(project, cli):
    project.write("task.yaml", RUBRIC_TASK)
    project.write("data.jsonl", [{"sample_id": f"t{i}", "text": f"Text {i}"} for i in range(30)])
    met = {"explanation": "e", "criterion_status": "MET"}
    project.write("judge.jsonl", [{"match": "How is it?", "reply": "Fine"}, {"match": "Is polite.", "reply": met}])
    assert cli("run", "task.yaml", "-q").code == 0
    rows = [f"t{i},polite,{'met' if i % 3 else 'UNMET'}" for i in range(9)] + [f"t{i},style,Fine" for i in range(6)]
    project.write("people.csv", "sample_id,criterion,label\n" + "\n".join(rows) + "\n")
    said = cli("calibrate", "--labels", "people.csv", "--json")
    assert said.code == 0, said.err
    polite, style = said.json["calibrations"]
    assert (polite["criterion"], polite["judge"]["value"], polite["n_labelled"]) == ("polite", 1.0, 9)
    assert polite["labels_only"]["value"] == pytest.approx(2 / 3)
    assert (style["criterion"], style["estimate"]["value"]) == ("style", 1.0)
    assert style["estimate"]["low"] < 0.9
    project.write("people.csv", "sample_id,criterion,label\nt1,style,Good\n")
    assert 'the label "Good" is not a number nor one of the labels' in cli("calibrate", "--labels", "people.csv").err

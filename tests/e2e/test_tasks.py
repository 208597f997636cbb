"""Task files as users write them, through the command line."""

import pytest

import assay

YES_NO = """
key: yes-no
display_name: Yes or no
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics:
        - {type: mean, field: is_correct, name: Accuracy}
        - {type: binary-classification, field_gt: answer_gt, field_pred: answer_pred,
           positive_answer: "yes", negative_answer: "no"}
"""

MCQA = """
key: mcqa
display_name: MCQA
config_spec:
  - {type: dataset_column, key: answer_column, display_name: Answer column, default_value: answer}
definition:
  dataset: {source: {type: local, file_path: FILE}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals_mcqa
      ground_truth_choice: "{{ sample.<< config.answer_column >> }}"
      choices: "{{ sample.choices }}"
      metrics:
        - {type: mean, field: is_correct, name: MCQA Accuracy}
"""


def metrics(outcome, scorer=0):
    assert outcome.code == 0, outcome.err
    found = {}
    for metric in outcome.json["scorers"][scorer]["metrics"]:
        found |= metric["values"]
    return found


def test_yes_no_questions_with_string_equals(project):
    answers = ["yes"] * 6 + ["no"] * 4
    outputs = ["yes"] * 5 + ["no"] + ["no"] * 3 + ["Yes"]
    project.write("data.jsonl", [{"answer": a, "output": o} for a, o in zip(answers, outputs, strict=True)])
    project.write("task.yaml", YES_NO)
    outcome = project.assay("run", "task.yaml", "--json")
    values = metrics(outcome)
    assert values["Accuracy"]["value"] == 0.8
    assert values["Accuracy"]["method"] == "wilson"
    assert values["Accuracy"]["low"] == pytest.approx(0.4901625)
    assert values["Accuracy"]["high"] == pytest.approx(0.9433178)
    classified = outcome.json["scorers"][0]["metrics"][1]
    assert classified["detail"]["confusion"] == {"tp": 5, "fp": 0, "tn": 3, "fn": 1}
    assert classified["detail"]["n_excluded"] == 1


def test_no_positives_at_all_is_undefined_not_zero(project):
    project.write("data.jsonl", [{"answer": "no", "output": "no"}] * 5)
    project.write("task.yaml", YES_NO)
    values = metrics(project.assay("run", "task.yaml", "--json"))
    assert values["accuracy"]["value"] == 1.0
    for name in ("precision", "recall", "f1_score"):
        assert values[name]["value"] is None
        assert values[name]["reason"]
    table = project.assay("show")
    assert table.code == 0
    assert table.out.count("undefined") == 3
    assert max(len(line) for line in table.out.splitlines()) <= 80


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_mcqa_with_the_choices_in_a_column(project, kind):
    replies = ["B) Paris", " B", "b", "The answer is B", "", "C", "B"]
    if kind == "csv":
        rows = "".join(f"B,\"['A', 'B', 'C']\",\"{reply}\"\n" for reply in replies)
        project.write("data.csv", "answer,choices,output\n" + rows)
    else:
        project.write("data.jsonl", [{"answer": "B", "choices": ["A", "B", "C"], "output": r} for r in replies])
    project.write("task.yaml", MCQA.replace("FILE", f"data.{kind}"))
    outcome = project.assay("run", "task.yaml", "--json")
    assert metrics(outcome)["MCQA Accuracy"]["value"] == pytest.approx(2 / 7)
    said = [row["scores"]["string_equals_mcqa"] for row in project.assay("samples", "--json").lines]
    assert [s["values"]["is_correct"] for s in said] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    validity = [s["metadata"]["completion_validity"] for s in said]
    assert validity == ["VALID", "INVALID", "INVALID", "INVALID", "INVALID", "VALID", "VALID"]


def test_the_letter_reader_reads_sentences_but_never_reasoning(project):
    replies = {"The answer is B": 1.0, "A good answer needs thought. B": 1.0, "A good answer needs thought.": 0.0}
    rows = [{"answer": "B", "choices": ["A", "B", "C"], "output": reply} for reply in replies]
    project.write("data.jsonl", rows)
    task = MCQA.replace("FILE", "data.jsonl").replace("      metrics", "      answer_extraction: letter\n      metrics")
    project.write("task.yaml", task)
    project.assay("run", "task.yaml")
    said = [row["scores"]["string_equals_mcqa"] for row in project.assay("samples", "--json").lines]
    assert [s["values"]["is_correct"] for s in said] == list(replies.values())
    assert said[0]["metadata"]["predicted_choice"] == "B"


@pytest.mark.parametrize(
    ("truth", "choices"),
    [
        ('"{{ sample.choices[sample.correct_index] }}"', '"{{ sample.choices }}"'),
        ('"{{ sample.answer_key | upper }}"', '["A", "B", "C", "D"]'),
        ('"A"', "\"{{ sample.options | map(attribute='key') | list }}\""),
    ],
)
def test_ways_to_write_the_truth_and_the_choices(project, truth, choices):
    row = {
        "choices": ["A", "B", "C", "D"],
        "correct_index": 0,
        "answer_key": "a",
        "options": [{"key": key, "text": key * 3} for key in "ABCD"],
    }
    project.write("data.jsonl", [{**row, "output": "A"}, {**row, "output": "B"}])
    project.write(
        "task.yaml",
        f"""
key: t
display_name: t
definition:
  dataset: {{source: {{type: local, file_path: data.jsonl}}}}
  solver: {{type: pass_through_solver, trace_column: output}}
  scorers:
    - type: string_equals_mcqa
      ground_truth_choice: {truth}
      choices: {choices}
""",
    )
    assert metrics(project.assay("run", "task.yaml", "--json"))["accuracy"]["value"] == 0.5


def test_the_deprecated_field_names_work_with_a_note(project):
    project.write("data.jsonl", [{"right": "A", "all": ["A", "B"], "output": "A"}])
    project.write(
        "task.yaml",
        """
key: t
display_name: t
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - {type: string_equals_mcqa, ground_truth_choice_field: right, choices_field: all}
""",
    )
    outcome = project.assay("run", "task.yaml", "--json")
    assert metrics(outcome)["accuracy"]["value"] == 1.0
    assert "ground_truth_choice_field" in outcome.err


FIVE = """
key: t
display_name: t
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truht: "{{ sample.answer }}"
    - type: string_eqals
      ground_truth: "{{ sample.answer }}"
    - type: contains
      substring: "x"
      case_sensitive: "maybe"
    - type: string_equals
      ground_truth: "{{ sample.anser }}"
"""


@pytest.mark.parametrize("command", ["check", "run"])
def test_five_mistakes_give_five_located_errors_in_one_go(project, command):
    project.write("data.jsonl", [{"answer": "yes", "output": "yes"}])
    project.write("task.yaml", FIVE)
    outcome = project.assay(command, "task.yaml")
    assert outcome.code == 2
    said = outcome.out + outcome.err
    heads = [line for line in said.splitlines() if "task.yaml:" in line]
    assert [line.split("task.yaml:")[1].split(":")[0] for line in heads] == ["7", "10", "11", "15", "17"]
    assert 'did you mean "ground_truth"?' in said
    assert 'did you mean "string_equals"?' in said
    assert 'did you mean "answer"?' in said
    if command == "check":
        found = project.assay("check", "task.yaml", "--json")
        assert found.code == 2
        assert [p["line"] for p in found.json] == [7, 10, 11, 15, 17]
        assert all(set(p) == {"file", "line", "column", "message", "suggestion"} for p in found.json)


def test_a_good_file_checks_without_running(project):
    project.write("data.jsonl", [{"answer": "yes", "output": "yes"}])
    project.write("task.yaml", YES_NO)
    outcome = project.assay("check", "task.yaml")
    assert outcome.code == 0
    assert "no problems" in outcome.out
    assert not (project.folder / ".assay" / "assay.db").exists()


def test_a_failed_sample_is_counted_and_left_out(project):
    rows = [{"answer": "yes", "output": "yes"}] * 9 + [{"answer": "yes"}]
    project.write("data.jsonl", rows)
    project.write("task.yaml", YES_NO)
    outcome = project.assay("run", "task.yaml", "--json")
    assert outcome.code == 3, "one in ten is more than the default 5 %"
    assert outcome.json["n_failed"] == 1
    assert outcome.json["failures"] == {"missing_field": 1}
    scorer = outcome.json["scorers"][0]
    assert (scorer["n_scored"], scorer["n_failed"]) == (9, 1)
    assert scorer["metrics"][0]["values"]["Accuracy"]["value"] == 1.0
    assert scorer["metrics"][0]["values"]["Accuracy"]["n"] == 9
    assert project.assay("run", "task.yaml", "--max-failures", "0.2").code == 0
    (failed,) = project.assay("samples", "--failed", "--json").lines
    assert failed["failures"][0]["kind"] == "missing_field"
    assert failed["scores"] == {}


def test_groups_and_filters(project):
    rows = [
        {"subject": s, "answer": "yes", "output": o} for s, o in [("a", "yes"), ("a", "no"), ("b", "yes"), ("c", "no")]
    ]
    project.write("data.jsonl", rows)
    project.write(
        "task.yaml",
        """
key: t
display_name: t
definition:
  dataset:
    source:
      type: local
      file_path: data.jsonl
      filters: [{op: not_equals, expression: "{{ sample.subject }}", value: c}]
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics: [{type: mean, field: is_correct, name: Accuracy, group_by: "{{ sample.subject }}"}]
""",
    )
    outcome = project.assay("run", "task.yaml", "--json")
    groups = outcome.json["scorers"][0]["metrics"][0]["groups"]
    assert {group: values["Accuracy"]["value"] for group, values in groups.items()} == {"a": 0.5, "b": 1.0}
    assert outcome.json["n_samples"] == 3


def test_a_task_without_a_solver_needs_a_value(project):
    project.write("data.jsonl", [{"answer": "yes", "said": "yes"}])
    task = YES_NO.replace("  solver: {type: pass_through_solver, trace_column: output}\n", "")
    project.write("task.yaml", task)
    outcome = project.assay("run", "task.yaml")
    assert outcome.code == 2
    assert "value" in outcome.err
    project.write("task.yaml", task.replace("      metrics:", '      value: "{{ sample.said }}"\n      metrics:'))
    assert metrics(project.assay("run", "task.yaml", "--json"))["Accuracy"]["value"] == 1.0


def test_consensus_lists_what_the_readers_dispute(project):
    replies = ["B", "The answer is B.", "A good start, but the answer is B", "C"]
    project.write("data.jsonl", [{"answer": "B", "choices": ["A", "B", "C"], "output": reply} for reply in replies])
    task = MCQA.replace("FILE", "data.jsonl").replace(
        "      metrics", "      answer_extraction: consensus\n      metrics"
    )
    project.write("task.yaml", task)
    outcome = project.assay("run", "task.yaml", "--json", "--max-failures", "1")
    scorer = outcome.json["scorers"][0]
    found = scorer["detail"]["disputes"]
    assert found["n"] == 4
    assert len(found["disputed"]) == scorer["n_failed"]
    assert set(found["accuracy"].values()) <= {i / 4 for i in range(5)}
    if found["disputed"]:
        assert "disputed by the readers" in project.assay("show").out


def test_failed_samples_bound_the_headline(project):
    project.write("data.jsonl", [{"answer": "yes", "output": "yes"}] * 8 + [{"answer": "yes"}] * 2)
    project.write("task.yaml", YES_NO)
    outcome = project.assay("run", "task.yaml", "--json", "--max-failures", "1")
    assert outcome.json["scorers"][0]["metrics"][0]["detail"]["if_failed"] == {"Accuracy": [0.8, 1.0]}
    assert "0.800 to 1.000" in project.assay("show").out


def test_trials_of_recorded_answers_are_refused(project):
    project.write("data.jsonl", [{"answer": "yes", "output": "yes"}] * 6)
    project.write("task.yaml", YES_NO + "  trials: {num_trials: 3}\n")
    outcome = project.assay("run", "task.yaml")
    assert outcome.code == 2
    assert "task.yaml:" in outcome.err
    assert "its answers are recorded" in outcome.err


def test_a_model_for_a_task_that_asks_none_is_refused(project):
    project.write("data.jsonl", [{"answer": "yes", "output": "yes"}])
    project.write("task.yaml", YES_NO)
    outcome = project.assay("run", "task.yaml", "--model", "openai/gpt-5-mini")
    assert outcome.code == 2
    assert "it would have no effect" in outcome.err


def test_a_table_that_is_only_a_header_is_named(project):
    project.write("data.csv", "question,answer,output\n")
    project.write("task.yaml", YES_NO.replace("data.jsonl", "data.csv"))
    for command in ("check", "run"):
        outcome = project.assay(command, "task.yaml")
        assert outcome.code == 2
        assert "the dataset data.csv has no samples" in outcome.out + outcome.err


def test_empty_cells_of_a_table_are_missing_truths_and_empty_answers(project):
    project.write("data.csv", "question,answer,output\nq,,yes\nq,no,\nq,yes,yes\n")
    project.write("task.yaml", YES_NO.replace("data.jsonl", "data.csv"))
    outcome = project.assay("run", "task.yaml", "--json", "--max-failures", "1")
    assert outcome.json["failures"] == {"missing_field": 1}
    value = outcome.json["scorers"][0]["metrics"][0]["values"]["Accuracy"]
    assert (value["value"], value["n"]) == (0.5, 2), "an empty reply is an answer, an empty truth is none"
    assert '"answer" is empty' in project.assay("samples", "--failed", "--json").out.replace("\\", "")


@pytest.mark.parametrize("data", ["", "\n"])
def test_a_dataset_without_samples_is_an_error(project, data):
    project.write("data.jsonl", data)
    project.write("task.yaml", YES_NO)
    outcome = project.assay("run", "task.yaml")
    assert outcome.code == 2
    assert "the dataset data.jsonl has no samples" in outcome.err


def test_a_source_without_a_type_is_offered_only_what_works(project):
    project.write("data.jsonl", [{"answer": "a", "output": "a"}])
    project.write("task.yaml", YES_NO.replace("type: local, ", ""))
    outcome = project.assay("check", "task.yaml")
    said = " ".join((outcome.out + outcome.err).split())
    offered = said.partition('missing field "type" in the dataset source; known: ')[2].partition(" 5 |")[0]
    types = [word.strip(",") for word in offered.split() if word.strip(",").replace("_", "").isalpha()]
    assert "local" in types
    for refused in ("claude_code", "langsmith", "phoenix"):
        assert refused not in types


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('ground_truth: "{{ sampel.answer }}"', 'did you mean "sample"?'),
        ('ground_truth: "{{ answer }}"', "columns are read as sample.answer"),
    ],
)
def test_a_name_that_no_template_knows_is_found_before_the_run(project, line, said):
    project.write("data.jsonl", [{"answer": "yes", "output": "yes"}])
    project.write("task.yaml", YES_NO.replace('ground_truth: "{{ sample.answer }}"', line))
    outcome = project.assay("check", "task.yaml")
    assert outcome.code == 2
    assert said in outcome.out


def test_a_group_or_cluster_that_no_sample_has_is_not_ignored(project):
    rows = [{"answer": "yes", "output": "yes", "meta": {"x": 1}}] * 4
    project.write("data.jsonl", rows)
    accuracy = "{type: mean, field: is_correct, name: Accuracy"
    for setting in ("group_by", "cluster_by"):
        template = "{{ sample.meta.topic }}"
        project.write("task.yaml", YES_NO.replace(accuracy, f'{accuracy}, {setting}: "{template}"'))
        outcome = project.assay("run", "task.yaml")
        assert outcome.code == 2, setting
        assert "no label for any sample" in outcome.err
    (newest, *_) = project.assay("runs", "--json").lines
    assert newest["status"] == "failed"
    project.write("data.jsonl", [*rows, {**rows[0], "meta": {"topic": "a"}}])
    outcome = project.assay("run", "task.yaml", "--json")
    assert outcome.json["scorers"][0]["metrics"][0]["detail"]["n_without"] == {"cluster": 4}
    assert "(4 without a cluster)" in project.assay("show").out


MACRO = """
key: subjects
display_name: Subjects
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics:
        - {type: mean, field: is_correct, name: accuracy}
        - {type: mean, field: is_correct, name: macro, key: macro, macro_by: "{{ sample.subject }}"}
"""


def test_a_macro_average_counts_every_group_the_same(project):
    rows = [{"subject": "large", "answer": "yes", "output": "yes"}] * 90
    rows += [{"subject": "small", "answer": "yes", "output": "no"}] * 9 + [{"answer": "yes", "output": "no"}]
    project.write("data.jsonl", rows)
    project.write("task.yaml", MACRO)
    outcome = project.assay("run", "task.yaml", "--json")
    assert outcome.code == 0, outcome.err
    plain, macro = outcome.json["scorers"][0]["metrics"]
    assert plain["values"]["accuracy"]["value"] == 0.9
    value = macro["values"]["macro"]
    assert (value["value"], value["n"], value["method"]) == (0.5, 99, "wilson_macro")
    assert 0.3 < value["low"] < 0.5 < value["high"] < 0.7
    assert macro["detail"]["n_groups"] == 2
    assert macro["detail"]["n_without"] == {"macro group": 1}
    assert "(1 without a macro group)" in " ".join(project.assay("show").out.split())
    for rule, code in (("macro >= 0.5", 0), ("macro >= 0.6", 1)):
        assert project.assay("gate", "--require", rule).code == code
    assert project.assay("calibrate", "latest", "--labels", "labels.csv", "--metric", "macro").code == 2


def test_a_macro_average_over_a_column_that_does_not_exist_is_refused(project):
    project.write("data.jsonl", [{"subject": "a", "answer": "yes", "output": "yes"}] * 4)
    project.write("task.yaml", MACRO.replace("sample.subject", "sample.subjct"))
    for command in ("check", "run"):
        outcome = project.assay(command, "task.yaml")
        assert outcome.code == 2
        assert 'no column "subjct"' in outcome.out + outcome.err
        assert 'did you mean "subject"' in outcome.out + outcome.err
    project.write("task.yaml", MACRO.replace("macro_by", "macro_over"))
    outcome = project.assay("check", "task.yaml")
    assert outcome.code == 2
    assert 'unknown field "macro_over"' in outcome.out + outcome.err


def test_values_have_a_standard_error_in_json_and_in_python(project):
    project.write("data.jsonl", [{"answer": "yes", "output": "yes" if i % 4 else "no"} for i in range(40)])
    project.write("task.yaml", YES_NO)
    run = project.assay("run", "task.yaml", "--json").json["run"]
    shown = metrics(project.assay("show", run, "--json"))
    assert shown["Accuracy"]["standard_error"] == pytest.approx((0.75 * 0.25 / 40) ** 0.5)
    assert shown["f1_score"]["standard_error"] > 0
    value = assay.run(project.folder / "task.yaml").metrics["Accuracy"]
    assert value.standard_error == value.interval.standard_error == shown["Accuracy"]["standard_error"]

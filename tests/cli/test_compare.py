"""`assay compare`: two runs beside each other, sample by sample, in words, numbers and exit codes."""

from __future__ import annotations

import json

import pytest
import sklearn.metrics as sklearn_metrics

import assay

TASK = """
key: quiz
display_name: Quiz
definition:
  dataset: {source: {type: local, file_path: a.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics: [{type: mean, field: is_correct, name: Accuracy EXTRA}]
"""


def answers(n, right, **more):
    """n questions; those whose number `right` accepts are answered right."""
    return [
        {"sample_id": f"q{i}", "question": f"Q{i}?", "subject": "ab"[i % 2], "answer": "yes", **more}
        | {"output": "yes" if right(i) else "no"}
        for i in range(n)
    ]


@pytest.fixture
def runs(project, cli):
    """Run recorded answers; gives the ids of the runs."""

    def make(*recorded, task=TASK, extra=""):
        project.write("task.yaml", task.replace(" EXTRA", extra))
        made = []
        for number, rows in enumerate(recorded):
            name = f"{'abc'[number]}.jsonl"
            project.write(name, rows)
            said = cli("run", "task.yaml", "--dataset", name, "-q", "--json", "--max-failures", "1")
            assert said.code == 0, said.err
            made.append(said.json["run"])
        return made

    return make


def flat(said):
    """What was printed, on one line."""
    return " ".join(said.out.split())


def test_the_verdict_is_a_sentence_with_the_size_its_interval_and_the_samples_that_changed(runs, cli):
    a, b = runs(answers(400, lambda i: i % 2), answers(400, lambda i: i % 2 or i % 8 == 0))
    said = cli("compare", a, b)
    assert said.code == 0
    assert "B is better by 12.5 points [9.6, 16.1], p < 0.0001; 50 of 400 samples" in flat(said)
    assert max(map(len, said.out.splitlines())) <= 80
    assert "up: q0, q8, q16, q24, q32 and 45 more" in said.out
    found = cli("compare", a, b, "--json").json
    one = found["comparisons"][0]
    assert one["metric"] == "string_equals/mean/Accuracy"
    assert (one["wins"], one["ties"], one["losses"], one["n_changed"]) == (50, 350, 0, 50)
    assert (one["difference"]["value"], one["difference"]["method"]) == (0.125, "tango")
    assert one["difference"]["unadjusted"] is True
    assert (one["test"], one["verdict"]) == ("mcnemar_exact", "better")
    assert len(one["flips"]) == 50
    assert one["flips"][0] == {"sample_id": "q0", "before": 0.0, "after": 1.0}
    assert (one["before"]["value"], one["after"]["value"]) == (0.5, 0.625)


def test_a_run_that_is_worse_leaves_with_1_and_swapping_flips_the_sign(runs, cli):
    a, b = runs(answers(400, lambda i: i % 2), answers(400, lambda i: i % 2 or i % 8 == 0))
    there, back = cli("compare", a, b, "--json"), cli("compare", b, a, "--json")
    assert (there.code, back.code) == (0, 1)
    one, other = there.json["comparisons"][0], back.json["comparisons"][0]
    assert one["difference"]["value"] == -other["difference"]["value"]
    assert one["difference"]["low"] == -other["difference"]["high"]
    assert (one["p"], one["wins"], other["verdict"]) == (other["p"], other["losses"], "worse")
    assert back.json["worse"] is True
    assert "B is worse by 12.5 points [9.6, 16.1]" in flat(cli("compare", b, a))


def test_a_run_with_itself_is_exactly_0_with_p_1(runs, cli):
    (a,) = runs(answers(30, lambda i: i % 3))
    said = cli("compare", "latest", a[:6], "--json")
    one = said.json["comparisons"][0]
    assert (said.code, one["difference"]["value"], one["p"], one["n_changed"]) == (0, 0.0, 1.0, 0)
    assert one["verdict"] == "no clear difference"
    assert one["difference"]["low"] < 0 < one["difference"]["high"]


def test_what_does_not_match_is_counted_and_left_out(runs, cli):
    before = answers(40, lambda i: i % 2)
    after = answers(40, lambda i: i % 2)
    after[3]["question"] = "Something else?"
    del after[5], before[7]["output"]
    a, b = runs(before, after)
    said = cli("compare", a, b)
    assert "share 38 samples; 1 only in A (q5); 1 another sample under the same id in A and B (q3)" in flat(said)
    assert "A: n 37, failed 1, excluded 0" in said.out
    assert "B: n 38, failed 0, excluded 0" in said.out
    found = cli("compare", a, b, "--json").json
    assert found["matching"][0]["only_in_baseline"] == ["q5"]
    assert found["matching"][0]["other_content"] == ["q3"]
    assert found["comparisons"][0]["n"] == 37
    assert found["comparisons"][0]["failed"] == {"A": 1, "B": 0}


def test_runs_of_different_questions_are_refused_with_the_column(runs, cli):
    a, b = runs(answers(4, bool), answers(4, bool, note="second"))
    said = cli("compare", a, b)
    assert said.code == 2
    assert "differ in note" in said.err
    assert "--ignore COLUMN" in said.err
    assert cli("compare", a, b, "--ignore", "note").code == 0


def test_runs_without_a_sample_in_common_are_refused(runs, cli):
    other = [{**row, "sample_id": f"x{row['sample_id']}"} for row in answers(4, bool)]
    a, b = runs(answers(4, bool), other)
    said = cli("compare", a, b)
    assert said.code == 2
    assert "no sample in common: their ids are q0, q1, q2, q3 and xq0" in said.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "latest"), "RUN"),
        (("compare", "latest", "nope"), 'no run "nope"'),
        (("compare", "latest", "latest", "--metric", "Acuracy"), 'did you mean "Accuracy"?'),
        (("compare", "latest", "latest", "--lower-is-better", "zz"), 'no value "zz"'),
        (("compare", "latest", "latest", "--margin", "0"), "--margin"),
    ],
)
def test_mistakes_are_sentences(runs, cli, arguments, message):
    runs(answers(4, bool))
    said = cli(*arguments)
    assert said.code == 2
    assert message in said.err


def test_several_numbers_and_runs_are_one_family(runs, cli):
    two = TASK.replace("[{", "[{type: mean, field: is_correct, name: Second}, {")
    rows = answers(60, lambda i: i % 2)
    a, b, c = runs(rows, answers(60, lambda i: i % 2 or i < 12), rows, task=two)
    found = cli("compare", a, b, c, "--json").json
    assert (found["family"], [run["name"] for run in found["runs"]]) == (4, ["B", "C"])
    first = found["comparisons"][0]
    assert first["p"] == pytest.approx(0.03125)
    assert first["p_adjusted"] == pytest.approx(4 * 0.03125)
    # the interval leaves out 0, the adjusted chance does not: the words follow the stricter
    assert first["difference"]["low"] > 0
    assert first["verdict"] == "no clear difference"
    assert "for 4 comparisons" in first["words"]
    alone = cli("compare", a, b, "--metric", "Accuracy", "--json").json["comparisons"]
    assert [(each["metric"], each["verdict"]) for each in alone] == [("string_equals/mean_2/Accuracy", "better")]


def test_a_margin_says_equivalent_or_undecided_with_the_samples_that_would_decide(runs, cli):
    a, b = runs(answers(300, lambda i: i % 2), answers(300, lambda i: i % 2 or i == 0))
    wide = cli("compare", a, b, "--margin", "0.05", "--json").json["comparisons"][0]
    assert (wide["verdict"], wide["n_to_decide"]) == ("equivalent", None)
    narrow = cli("compare", a, b, "--margin", "0.002", "--json")
    assert (narrow.code, narrow.json["comparisons"][0]["verdict"]) == (0, "undecided")
    assert narrow.json["comparisons"][0]["n_to_decide"] > 300
    assert "samples would decide" in flat(cli("compare", a, b, "--margin", "0.002"))
    same = cli("compare", a, a, "--margin", "0.001", "--json").json["comparisons"][0]
    assert (same["verdict"], same["n_to_decide"]) == ("undecided", 2703)


def test_of_some_numbers_less_is_better(runs, cli):
    a, b = runs(answers(60, lambda i: i % 2), answers(60, lambda i: i % 2 or i < 40))
    assert cli("compare", a, b).code == 0
    said = cli("compare", a, b, "--lower-is-better", "Accuracy")
    assert said.code == 1
    assert "B is worse by 33.3 points" in said.out


def test_groups_have_their_own_rows_and_clusters_are_not_independent(runs, cli):
    recorded = answers(200, lambda i: i % 2), answers(200, lambda i: i % 2 or i < 40)
    grouped = runs(*recorded, extra=', group_by: "{{ sample.subject }}"')
    found = cli("compare", *grouped, "--json").json["comparisons"][0]
    assert set(found["groups"]) == {"a", "b"}
    assert (found["groups"]["a"]["wins"], found["groups"]["b"]["wins"]) == (20, 0)
    assert found["groups"]["a"]["p_adjusted"] == pytest.approx(2 * found["groups"]["a"]["p"])
    assert "p adjusted" in cli("compare", *grouped).out
    clustered = runs(*recorded, extra=', cluster_by: "{{ sample.subject }}"')
    found = cli("compare", *clustered, "--json").json["comparisons"][0]
    assert found["difference"]["clusters"] == 2
    assert found["difference"]["caveat"].startswith("few clusters; few values differ")
    assert found["verdict"] == "no clear difference"
    assert "few clusters" in " ".join(cli("compare", *clustered).out.split())


def test_samples_that_an_action_excludes_are_left_out(runs, cli):
    extra = "\n  actions: [{key: drop, action: exclude_from_metrics, filter: \"sample.subject == 'a'\"}]"
    task = TASK.rstrip() + extra + "\n"
    a, b = runs(answers(20, bool), answers(20, lambda i: i > 5), task=task)
    found = cli("compare", a, b, "--json").json["comparisons"][0]
    assert (found["n"], found["failed"]) == (10, {"A": 10, "B": 10})


def test_runs_with_other_numbers_are_refused_and_what_is_not_shared_is_noted(runs, project, cli):
    (a,) = runs(answers(6, bool))
    (b,) = runs(answers(6, bool), task=TASK.replace("name: Accuracy", "name: Other"))
    said = cli("compare", a, b)
    assert said.code == 2
    assert "string_equals/mean/Accuracy" in said.err
    assert "string_equals/mean/Other" in said.err
    (c,) = runs(answers(6, bool), task=TASK.replace("[{", "[{type: mean, field: is_correct, name: Other}, {"))
    assert "not compared: string_equals/mean_2/Accuracy" in flat(cli("compare", b, c))


def test_python_programs_compare_results(runs, project, monkeypatch):
    monkeypatch.chdir(project.folder)
    runs(answers(60, lambda i: i % 2))
    first = assay.run("task.yaml", dataset="a.jsonl")
    project.write("b.jsonl", answers(60, lambda i: i % 2 or i < 40))
    second = assay.run("task.yaml", dataset="b.jsonl")
    found = assay.compare(first, second)
    assert found["Accuracy"].verdict == "better"
    assert not found.is_worse
    assert assay.compare(second.run, first.run, metric="Accuracy").is_worse
    assert json.loads(json.dumps(found.to_dict()))["comparisons"][0]["n"] == 60
    with pytest.raises(KeyError):
        found["zz"]
    assert "B is better by 33.3 points" in repr(found)
    with pytest.raises(assay.SpecError, match="two runs"):
        assay.compare(first)


HOSTILE = ["=1+1", "\x1b[31mred", "a\nb", "<script>", "..", "%s", "\u202egnp", "x" * 300, "[bold]b", "/"]


def test_hostile_ids_neither_break_the_table_nor_reach_the_terminal_as_commands(runs, cli):
    rows = [{"sample_id": name, "answer": "yes", "output": "yes"} for name in HOSTILE]
    a, b = runs(rows, [{**row, "output": "no"} for row in rows])
    said = cli("compare", a, b, "--flips", "20")
    assert said.code == 1
    assert "\x1b" not in said.out
    assert "\u202e" not in said.out
    assert "[bold]b" in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    assert [flip["sample_id"] for flip in cli("compare", a, b, "--json").json["comparisons"][0]["flips"]] == HOSTILE


def test_a_rubric_has_a_table_of_its_criteria(project, cli):
    task = """
key: polite
display_name: Polite
definition:
  dataset: {source: {type: local, file_path: a.jsonl}}
  scorers:
    - type: rubric
      value: "{{ sample.text }}"
      rubric: |
        - {name: polite, requirement: Is polite.}
        - {name: short, requirement: Is short.}
      judges: [{model_key: scripted/judge.jsonl, id: one}]
"""
    project.write("task.yaml", task)
    met, unmet = ({"explanation": "e", "criterion_status": word} for word in ("MET", "UNMET"))
    replies = [{"match": "Is short.", "reply": met}, {"match": "rude", "reply": unmet}, {"match": "kind", "reply": met}]
    project.write("judge.jsonl", replies)
    made = []
    for name, tone in (("a", "rude"), ("b", "kind")):
        rows = [{"sample_id": f"t{i}", "text": f"{i} {tone if i % 2 else 'kind'}"} for i in range(30)]
        project.write(f"{name}.jsonl", rows)
        made.append(cli("run", "task.yaml", "--dataset", f"{name}.jsonl", "-q", "--json").json["run"])
    found = cli("compare", *made, "--json").json["comparisons"][0]
    assert (found["metric"], found["verdict"]) == ("rubric/mean/score", "better")
    assert (found["criteria"]["polite"]["wins"], found["criteria"]["short"]["wins"]) == (15, 0)
    assert "criterion" in cli("compare", *made).out


def test_long_reading_is_announced(runs, cli, monkeypatch):
    monkeypatch.setattr("assay.cli.options.MANY_SAMPLES", 10)
    (a,) = runs(answers(6, bool))
    assert "reading 12 samples ..." in cli("compare", a, a).err
    assert "reading" not in cli("gate", a, "--require", "Accuracy >= 0").err


def test_a_scorer_that_changed_between_the_runs_is_noted(runs, cli):
    rows = answers(20, lambda i: i % 2)
    (a,) = runs(rows)
    (b,) = runs(rows, task=TASK.replace("type: string_equals", "type: string_equals\n      normalize: [lower]"))
    said = cli("compare", a, b)
    assert "note: string_equals is not the same scorer in A and B: normalize differs" in flat(said)
    (c,) = runs(rows, task=TASK.replace("type: string_equals", "type: string_equals\n      display_name: Same"))
    assert cli("compare", a, c, "--json").json["notes"] == []


def test_a_run_beside_itself_is_noted(runs, cli):
    (a,) = runs(answers(20, lambda i: i % 2))
    assert f"note: A and B are the same run, {a}" in cli("compare", a, a).out


@pytest.mark.parametrize("command", [["compare", "A", "B"], ["gate", "B", "--baseline", "A"]])
def test_a_column_to_ignore_that_no_sample_has_is_refused_with_the_nearest_name(runs, cli, command):
    made = dict(zip("AB", runs(answers(20, lambda i: i % 2), answers(20, lambda i: i % 3)), strict=True))
    said = cli(*(made.get(word, word) for word in command), "--ignore", "qestion", "--ignore", "answer")
    assert said.code == 2
    assert 'no sample has a column "qestion" to ignore' in said.err
    assert 'did you mean "question"?' in said.err


CLASSES = """
key: quiz
display_name: Quiz
definition:
  dataset: {source: {type: local, file_path: a.jsonl}}
  scorers:
    - type: string_equals
      value: "{{ sample.output }}"
      ground_truth: "{{ sample.answer }}"
      metrics:
        - {type: mean, field: is_correct, name: accuracy}
        - {type: std_dev, field: is_correct, name: spread}
"""


@pytest.mark.parametrize("command", [["compare", "A", "B"], ["gate", "B", "--baseline", "A"], ["power", "A", "B"]])
def test_a_metric_that_cannot_be_compared_is_named_with_those_that_can(runs, cli, command):
    recorded = answers(20, lambda i: i % 2), answers(20, lambda i: i % 3)
    made = dict(zip("AB", runs(*recorded, task=CLASSES), strict=True))
    said = cli(*(made.get(word, word) for word in command), "--metric", "spread")
    assert said.code == 2
    words = " ".join(said.err.split())
    assert '"spread" exists (string_equals/std_dev/spread), but not in every run as a metric that can be' in words
    assert "string_equals/mean/accuracy" in words


def test_equivalence_shows_the_interval_that_decided_and_keeps_a_clear_difference(runs, cli):
    a, b = runs(answers(400, lambda i: i % 2), answers(400, lambda i: i % 2 or i % 8 == 0))
    said = cli("compare", a, b, "--margin", "0.2")
    assert (
        "A and B are equivalent within ±20 points (90 % interval [10.0, 15.5]), yet B is clearly better: "
        "B - A is +12.5 points [9.6, 16.1]"
    ) in flat(said)
    found = cli("compare", a, b, "--margin", "0.2", "--json").json["comparisons"][0]
    assert (found["verdict"], found["apart"], found["equivalence"]["level"]) == ("equivalent", "better", 0.9)
    assert found["difference"]["low"] < found["equivalence"]["low"] < found["equivalence"]["high"] < 0.16
    assert "apart" not in cli("compare", a, b, "--json").json["comparisons"][0]
    back = cli("compare", b, a, "--margin", "0.2")
    assert back.code == 0
    assert "yet B is clearly worse" in flat(back)


def test_flipped_samples_are_shown_with_both_answers(runs, cli):
    a, b = runs(answers(40, lambda i: i % 4), answers(40, lambda i: i % 4 != 1))
    said = cli("compare", a, b, "--show-flips", "2")
    text = flat(said)
    assert "sample q1 1.000 → 0.000 string_equals/mean/Accuracy, B against A" in text
    assert "question: Q1? subject: b" in text
    assert "A → yes B → no" in text
    assert text.count("sample q") == 2, "losses come first, and no more than asked for"
    document = cli("compare", a, b, "--show-flips", "11", "--json").json["flipped_samples"]
    assert len(document) == 11
    assert [each["answers"] for each in document[-2:]] == [{"A": ["yes"], "B": ["no"]}, {"A": ["no"], "B": ["yes"]}]
    same = cli("compare", a, a, "--show-flips", "3")
    assert "no sample changed" in same.out


MOVIES = """
key: movies
display_name: Movies
definition:
  dataset: {source: {type: local, file_path: a.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics:
        - type: binary-classification
          field_gt: answer_gt
          field_pred: answer_pred
          positive_answer: "yes"
          negative_answer: "no"
        - {type: cohens_kappa, field_gt: answer_gt, field_pred: answer_pred}
        - {type: matthews_corrcoef, field_gt: answer_gt, field_pred: answer_pred}
        - {type: multiclass-classification, field_gt: answer_gt, field_pred: answer_pred}
"""


def reviews(n, right):
    """n questions, every third with the answer no; those whose number `right` accepts are answered right."""
    other = {"yes": "no", "no": "yes"}
    rows = [{"sample_id": f"q{i}", "question": f"Q{i}?", "answer": "no" if i % 3 == 0 else "yes"} for i in range(n)]
    return [row | {"output": row["answer"] if right(i) else other[row["answer"]]} for i, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("metric", "oracle"),
    [
        ("f1_score", lambda gt, pred: sklearn_metrics.f1_score(gt, pred, pos_label="yes")),
        (
            "binary-classification/precision",
            lambda gt, pred: sklearn_metrics.precision_score(gt, pred, pos_label="yes"),
        ),
        ("cohens_kappa", sklearn_metrics.cohen_kappa_score),
        ("matthews_corrcoef", sklearn_metrics.matthews_corrcoef),
        ("macro_f1", lambda gt, pred: sklearn_metrics.f1_score(gt, pred, average="macro")),
        ("no_recall", lambda gt, pred: sklearn_metrics.recall_score(gt, pred, pos_label="no")),
    ],
)
def test_metrics_that_are_no_means_are_compared_pair_by_pair(runs, cli, metric, oracle):
    recorded = reviews(300, lambda i: i % 4), reviews(300, lambda i: i % 4 or i % 8 == 0)
    a, b = runs(*recorded, task=MOVIES)
    compared = cli("compare", a, b, "--metric", metric, "--json").json["comparisons"][0]
    values = [oracle([row["answer"] for row in rows], [row["output"] for row in rows]) for rows in recorded]
    assert compared["before"]["value"] == pytest.approx(values[0], abs=1e-12)
    assert compared["after"]["value"] == pytest.approx(values[1], abs=1e-12)
    assert compared["difference"]["value"] == pytest.approx(values[1] - values[0], abs=1e-12)
    assert compared["difference"]["method"] == "bayesian_bootstrap"
    assert (compared["verdict"], compared["test"]) == ("better", "swap_permutation")
    assert compared["difference"]["low"] > 0
    itself = cli("compare", a, a, "--metric", metric, "--json").json["comparisons"][0]
    assert (itself["difference"]["value"], itself["p"], itself["verdict"]) == (0.0, 1.0, "no clear difference")


def test_a_gate_bounds_the_drop_of_a_metric_that_is_no_mean(runs, cli):
    a, b = runs(reviews(300, lambda i: i % 4 or i % 8 == 0), reviews(300, lambda i: i % 4), task=MOVIES)
    dropped = cli("gate", b, "--baseline", a, "--max-drop", "0.05", "--metric", "cohens_kappa")
    assert dropped.code == 1
    assert cli("gate", a, "--baseline", b, "--max-drop", "0.05", "--metric", "cohens_kappa").code == 0


def test_all_pairs_are_one_family_without_a_baseline(runs, cli):
    recorded = [answers(200, lambda i, step=step: i % step) for step in (2, 3, 10)]
    names = runs(*recorded)
    comparison = cli("compare", *names, "--all-pairs", "--json")
    pairs = [(each["against"], each["name"]) for each in comparison.json["comparisons"]]
    assert pairs == [("A", "B"), ("A", "C"), ("B", "C")]
    assert comparison.json["family"] == 3
    alone = cli("compare", names[1], names[2], "--json").json["comparisons"][0]
    in_family = comparison.json["comparisons"][2]
    assert in_family["difference"]["value"] == alone["difference"]["value"]
    assert in_family["p"] == alone["p"] <= in_family["p_adjusted"]
    table = cli("compare", *reversed(names), "--all-pairs")
    assert table.code == 0, "no run is the baseline, so none is worse than it"
    assert "C is worse than B by" in flat(table)
    assert cli("compare", *reversed(names)).code == 1


def test_a_difference_beyond_the_margin_asks_for_samples_that_show_it(runs, cli):
    a, b = runs(answers(5, lambda i: False), answers(5, lambda i: True))
    compared = cli("compare", a, b, "--margin", "0.02", "--json").json["comparisons"][0]
    assert compared["verdict"] == "undecided"
    assert compared["n_to_decide"] is None or compared["n_to_decide"] < 50


def test_macro_averages_are_compared_group_by_group(runs, cli):
    """Subject a has 10 samples, b has 190: five samples of a are a quarter of the macro average."""

    def recorded(right):
        return [row | {"subject": "a" if i < 10 else "b"} for i, row in enumerate(answers(200, right))]

    sides = recorded(lambda i: i % 2), recorded(lambda i: i % 2 or i < 10)
    a, b = runs(*sides, extra=', macro_by: "{{ sample.subject }}"')
    found = cli("compare", a, b, "--json").json["comparisons"][0]
    assert found["before"]["value"] == pytest.approx(0.5)
    assert found["after"]["value"] == pytest.approx(0.75)
    assert found["difference"]["value"] == pytest.approx(0.25)
    assert found["difference"]["method"] == "guarded_macro"
    assert (found["wins"], found["losses"], found["n"]) == (5, 0, 200)
    (plain,) = runs(sides[1])
    refused = cli("compare", a, plain)
    assert refused.code == 2
    assert "no metric of the same name" in refused.err

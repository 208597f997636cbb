"""`assay gate`: rules and baselines as exit codes, JUnit and Markdown."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

TASK = """
key: quiz
display_name: Quiz | <b>one</b>
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics:
        - {type: mean, field: is_correct, name: accuracy}
        - {type: binary-classification, field_gt: answer_gt, field_pred: answer_pred,
           positive_answer: never, negative_answer: "no"}
"""


@pytest.fixture
def ran(project, cli):
    """A run in which a share of 100 answers is right."""
    project.write("task.yaml", TASK)

    def run(right):
        rows = [{"sample_id": f"q{i}", "answer": "yes", "output": "yes" if i < right else "no"} for i in range(100)]
        project.write(f"{right}.jsonl", rows)
        said = cli("run", "task.yaml", "--dataset", f"{right}.jsonl", "-q", "--json")
        assert said.code == 0, said.err
        return said.json["run"]

    return run


@pytest.mark.parametrize(
    ("rules", "on", "code"),
    [
        (["mean/accuracy >= 0.8"], "point", 0),
        (["mean/accuracy >= 0.8"], "bound", 1),
        (["mean/accuracy >= 0.7"], "bound", 0),
        (["mean/accuracy < 0.9", "mean/accuracy > 0.8"], "point", 1),
        (["mean/accuracy < 0.9"], "bound", 0),
        (["mean/accuracy < 0.86"], "bound", 1),
        (["string_equals/mean/accuracy = 0.8"], "point", 0),
        (["precision >= 0"], "point", 1),
    ],
)
def test_every_rule_must_hold_on_the_point_or_on_the_worse_bound(ran, cli, rules, on, code):
    ran(80)
    given = [word for rule in rules for word in ("--require", rule)]
    said = cli("gate", *given, "--on", on)
    assert said.code == code, said.out
    assert ("PASS" if code == 0 else "FAIL") in said.out
    assert cli("gate", "latest", *given, "--on", on, "--json").json["passed"] is (code == 0)


def test_an_undefined_number_fails_with_its_reason(ran, cli):
    ran(80)
    said = cli("gate", "--require", "precision >= 0", "--json")
    (check,) = said.json["checks"]
    assert (said.code, check["passed"]) == (1, False)
    assert check["reason"].startswith("undefined: ")
    assert check["value"]["value"] is None


def test_an_ambiguous_name_is_an_error_with_the_candidates(ran, cli):
    ran(80)
    said = cli("gate", "--require", "accuracy >= 0.8")
    assert said.code == 2
    assert "string_equals/mean/accuracy, string_equals/binary-classification/accuracy" in said.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a gate needs a rule"),
        (("--require", "accuracy"), "is not a rule"),
        (("--require", "mean/acuracy > 0"), 'did you mean "mean/accuracy"?'),
        (("--max-drop", "0.1", "--require", "mean/accuracy > 0"), "--baseline"),
        (("--require", "mean/accuracy > 0", "--json", "--markdown", "-"), "stdout"),
        (("--require", "mean/accuracy > 0", "--junit", "no/such/folder.xml"), "cannot write"),
    ],
)
def test_mistakes_are_sentences(ran, cli, arguments, message):
    ran(80)
    said = cli("gate", "latest", *arguments)
    assert said.code == 2
    assert message in said.err


def test_a_run_may_fall_behind_its_baseline_by_so_much_and_no_more(ran, cli):
    before, after = ran(80), ran(78)
    base = ("gate", after, "--baseline", before, "--metric", "mean/accuracy")
    assert cli(*base, "--max-drop", "0.02").code == 0
    assert cli(*base, "--max-drop", "0.01").code == 1
    assert cli(*base, "--max-drop", "0.02", "--on", "bound").code == 1
    assert cli(*base, "--max-drop", "0.1", "--on", "bound").code == 0
    assert cli("gate", before, "--baseline", before, "--metric", "mean/accuracy").code == 0
    said = cli(*base, "--max-drop", "0.01", "--json").json
    assert said["baseline"] == before
    assert said["checks"][0]["reason"].startswith("-2.0 points [-7.0, 1.8] on 100 samples")
    # without --metric every mean that both runs have may not drop
    assert len(cli("gate", after, "--baseline", before, "--json").json["checks"]) == 2


def test_junit_has_a_case_a_rule(ran, cli, project):
    ran(80)
    said = cli("gate", "--require", "mean/accuracy >= 0.9", "--require", "mean/accuracy > 0", "--junit", "gate.xml")
    assert said.code == 1
    root = ElementTree.parse(project.folder / "gate.xml").getroot()
    suite = root[0]
    assert (root.tag, suite.get("tests"), suite.get("failures")) == ("testsuites", "2", "1")
    wrong, right = suite.iter("testcase")
    assert wrong[0].get("message") == "0.800 is not >= 0.9"
    assert right.find("failure") is None
    assert [case.find("system-out").text for case in (wrong, right)] == ["n 100, failed 0, excluded 0"] * 2


def test_markdown_shows_rules_and_numbers_and_no_foreign_markup(ran, cli, project):
    ran(80)
    said = cli("gate", "--require", "mean/accuracy >= 0.9", "--markdown", "-")
    assert said.code == 1
    assert "### ❌ FAIL: Quiz \\| &lt;b&gt;one&lt;/b&gt;" in said.out
    assert "| ❌ | mean/accuracy &gt;= 0.9 | 0.800 is not &gt;= 0.9 |" in said.out
    assert "| string\\_equals/mean/accuracy | 0.800 | 0.711 to 0.867 | 100 |" in said.out
    kept = cli("gate", "--require", "mean/accuracy > 0.7", "--markdown", "summary.md")
    assert "PASS" in kept.out
    assert "### ✅ PASS" in (project.folder / "summary.md").read_text(encoding="utf-8")


@pytest.fixture
def failing(project, cli):
    """A run of 100 answers of which some are missing, and so many of the others right."""
    project.write("task.yaml", TASK.split("        - {type: binary")[0])

    def run(missing, right):
        rows = [{"sample_id": f"q{i}", "answer": "yes", "output": "yes" if i < right else "no"} for i in range(100)]
        for row in rows[100 - missing :]:
            del row["output"]
        project.write("rows.jsonl", rows)
        said = cli("run", "task.yaml", "--dataset", "rows.jsonl", "-q", "--json", "--max-failures", "1")
        assert said.code == 0, said.err
        return said.json["run"]

    return run


@pytest.mark.parametrize("on", ["point", "bound"])
@pytest.mark.parametrize(
    ("missing", "arguments", "code"),
    [
        (80, (), 1),
        (80, ("--max-failures", "0.8"), 0),
        (80, ("--failures", "worst"), 1),
        (80, ("--failures", "ignore"), 0),
        (5, (), 0),
        (6, (), 1),
        (6, ("--failures", "worst"), 0),
        (0, ("--failures", "worst"), 0),
    ],
)
def test_failed_samples_reach_the_verdict(failing, cli, on, missing, arguments, code):
    failing(missing, 100)
    said = cli("gate", "--require", "accuracy >= 0.8", "--on", on, *arguments)
    assert said.code == code, said.out
    assert f"n {100 - missing}, failed {missing}, excluded 0" in said.out
    assert ("failed samples are ignored" in " ".join(said.out.split())) is ("ignore" in arguments)
    counts = {"n": 100 - missing, "failed": missing, "excluded": 0, "invalid": None}
    assert cli("gate", "--require", "accuracy >= 0.8", *arguments, "--json").json["checks"][0]["counts"] == counts


def test_the_worst_case_puts_failed_samples_at_the_end_that_is_worse_for_the_rule(failing, cli):
    failing(20, 60)
    for rule, on, reason in [
        ("accuracy >= 0.7", "point", "0.600 is not >= 0.7 with 20 failed samples at 0"),
        ("accuracy <= 0.75", "point", "0.800 is not <= 0.75 with 20 failed samples at 1"),
        ("accuracy = 0.75", "point", "0.600 is not = 0.75 with 20 failed samples at 0"),
        # the interval is that of all 100 samples, not of the 80 that were scored
        ("accuracy >= 0.6", "bound", "0.502 (low end of 0.600) is not >= 0.6 with 20 failed samples at 0"),
    ]:
        said = cli("gate", "--require", rule, "--on", on, "--failures", "worst", "--json")
        assert (said.code, said.json["checks"][0]["reason"]) == (1, reason)


def test_without_a_declared_range_there_is_no_worst_case_to_pass(project, cli, failing):
    failing(20, 80)
    task = (project.folder / "task.yaml").read_text(encoding="utf-8")
    project.write("task.yaml", f"{task}        - {{type: min, field: is_correct, name: least}}\n")
    assert cli("run", "task.yaml", "--dataset", "rows.jsonl", "-q", "--max-failures", "1").code == 0
    said = cli("gate", "--require", "least >= 0", "--failures", "worst")
    assert said.code == 1
    assert "their worst case is unknown" in " ".join(said.out.split())


def test_a_drop_counts_the_failed_samples_of_both_runs(failing, cli):
    before, after = failing(0, 100), failing(60, 100)
    base = ("gate", after, "--baseline", before, "--max-drop", "0.1")
    said = cli(*base)
    assert said.code == 1
    assert "60 of 100 samples failed, more than --max-failures 0.05" in " ".join(said.out.split())
    assert "n 40, failed 60, excluded 0; baseline: n 100, failed 0, excluded 0" in " ".join(said.out.split())
    assert cli(*base, "--failures", "ignore").code == 0
    assert cli(*base, "--failures", "worst").code == 1
    assert cli(*base[:-1], "0.6", "--failures", "worst").code == 0
    worst = cli(*base, "--failures", "worst", "--json").json["checks"][0]
    assert worst["reason"].endswith("-0.600 is not >= -0.1 with 0 + 60 failed samples at their worst")
    assert worst["counts"] == {"n": 40, "failed": 60, "excluded": 0, "invalid": None}
    turned = cli("gate", before, "--baseline", after, "--json").json["checks"][0]
    assert "60 of 100 samples failed in the baseline" in turned["reason"]
    assert turned["baseline_counts"]["failed"] == 60


def test_markdown_and_junit_count_failed_samples(failing, cli, project):
    failing(80, 100)
    said = cli("gate", "--require", "accuracy > 0.5", "--failures", "ignore", "--markdown", "-", "--junit", "gate.xml")
    assert said.code == 0
    assert "| 20 | 80 | 0 |  |" in said.out
    assert "failed samples are ignored" in said.out
    text = (project.folder / "gate.xml").read_text(encoding="utf-8")
    assert "<system-out>n 20, failed 80, excluded 0</system-out>" in text
    assert "failed samples are ignored" in text


def test_a_gate_notes_other_scorers_and_other_samples_than_the_baseline(failing, cli, project):
    before = failing(0, 90)
    task = (project.folder / "task.yaml").read_text(encoding="utf-8")
    project.write("task.yaml", task.replace("      metrics:", "      normalize: [lower]\n      metrics:"))
    project.write("rows.jsonl", (project.folder / "rows.jsonl").read_text(encoding="utf-8").replace("q99", "q100"))
    run = cli("run", "task.yaml", "--dataset", "rows.jsonl", "-q", "--json")
    after = run.json["run"]
    notes = cli("gate", after, "--baseline", before, "--max-drop", "1", "--json").json["notes"]
    assert any("string_equals is not the same scorer in the baseline and this run" in note for note in notes)
    expected = "the datasets of the baseline and this run differ: samples 1 only in the baseline, 1 only in this run"
    assert expected in notes


def test_a_share_for_failures_needs_the_limit(failing, cli):
    failing(0, 100)
    said = cli("gate", "--require", "accuracy > 0", "--failures", "worst", "--max-failures", "0.5")
    assert said.code == 2
    assert "--max-failures needs --failures limit" in said.err


def test_the_worst_case_of_a_macro_average_keeps_failed_samples_in_their_group(project, cli):
    rows = [{"sample_id": f"s{i}", "subject": "b", "answer": "yes", "output": "yes"} for i in range(90)]
    rows += [
        {"sample_id": f"t{i}", "subject": "a", "answer": "yes" if i < 8 else "", "output": "yes"} for i in range(10)
    ]
    project.write("rows.jsonl", rows)
    project.write(
        "task.yaml",
        """
key: quiz
display_name: Quiz
definition:
  dataset: {source: {type: local, file_path: rows.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics: [{type: mean, field: is_correct, name: macro, macro_by: "{{ sample.subject }}"}]
""",
    )
    assert cli("run", "task.yaml", "-q", "--max-failures", "1").code == 0
    said = cli("gate", "--require", "macro >= 0.95", "--failures", "worst", "--json")
    assert (said.code, said.json["checks"][0]["reason"]) == (1, "0.900 is not >= 0.95 with 2 failed samples at 0")

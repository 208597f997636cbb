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
    assert len(right) == 0


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

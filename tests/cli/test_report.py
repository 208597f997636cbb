"""`assay report`: one file without scripts, with everything that the run has."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

TASK = """
key: t
display_name: Yes & no
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: said}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics: [{type: mean, field: is_correct, name: accuracy}]
"""
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x07"


@pytest.fixture
def project_with_runs(project):
    for name, right in (("v1", 12), ("v2", 20)):
        rows = [
            {"sample_id": f"q{i}", "question": f"{HOSTILE} {i}", "answer": "yes", "said": "yes" if i < right else "no"}
            for i in range(24)
        ]
        project.write("data.jsonl", rows)
        project.write("task.yaml", TASK)
        outcome = project.assay("run", "task.yaml", "--name", name)
        assert outcome.code == 0, outcome.err
    return project


def test_a_report_is_one_file_without_scripts_or_requests(project_with_runs):
    outcome = project_with_runs.assay("report", "v2")
    assert outcome.code == 0, outcome.err
    text = (project_with_runs.folder / "report.html").read_text()
    assert "script" not in re.sub(r"&lt;/?script", "", text)
    tags = re.findall(r"<[a-z][^>]*>", text)
    assert not [tag for tag in tags if re.search(r"\s(?:src|href|action|style|on\w+)=", tag)]
    assert "default-src 'none'; style-src 'sha256-" in text.replace("&#39;", "'")
    assert "⟦U+202E⟧" in text
    assert "\u202e" not in text
    assert "0.833" in text
    assert "wilson" in text


def test_two_runs_are_compared_with_the_verdict_and_the_samples_that_changed(project_with_runs):
    assert project_with_runs.assay("report", "v1", "v2", "-o", "two.html", "--figures", "figs").code == 0
    text = (project_with_runs.folder / "two.html").read_text()
    assert "v2 is better than v1 by" in text
    assert "wrong → right" in text
    figures = sorted((project_with_runs.folder / "figs").glob("*.svg"))
    assert len(figures) >= 3
    for figure in figures:
        ElementTree.parse(figure)


def test_markdown_and_latex_have_the_same_numbers(project_with_runs):
    markdown = project_with_runs.assay("report", "v2", "--format", "md", "-o", "-").out
    assert "| accuracy | 0.833 |" in markdown
    assert project_with_runs.assay("report", "v2", "-o", "t.tex").code == 0
    assert "0.833 &" in (project_with_runs.folder / "t.tex").read_text()


def test_mistakes_get_a_sentence(project_with_runs):
    assert "no run" in project_with_runs.assay("report", "v3").err
    outcome = project_with_runs.assay("report", "v1", "-o", "r.docx")
    assert outcome.code == 2
    assert "--format" in outcome.err
    assert project_with_runs.assay("report", "v1", "-o", "no/such/folder/r.html").code == 2


@pytest.mark.sqlite
def test_python_writes_the_same_report_and_notebooks_show_charts(project_with_runs, monkeypatch):
    import assay

    monkeypatch.chdir(project_with_runs.folder)
    path = assay.write_report("v1", "v2", to="p.html")
    assert "v2 is better than v1 by" in path.read_text()
    shown = assay.compare("v1", "v2")._repr_html_()
    assert "<svg" in shown
    assert "style=" not in shown
    result = assay.run("task.yaml")
    assert "0.833" in result._repr_html_()
    assert "<script" not in result._repr_html_()


EVALUATION = """
tasks:
  - key: facts
    display_name: Facts
    config_spec: [{type: dataset, key: rows, display_name: Rows, default_value: first}]
    definition:
      dataset: {key: "<< config.rows >>"}
      solver: {type: pass_through_solver, trace_column: said}
      scorers:
        - type: string_equals
          ground_truth: "{{ sample.answer }}"
          metrics: [{type: mean, field: is_correct, name: accuracy}]
datasets:
  - {key: first, display_name: First, source: {type: local, file_path: first.jsonl}}
  - {key: second, display_name: Second, source: {type: local, file_path: second.jsonl}}
evaluation:
  key: nightly
  display_name: Nightly
  task_specifications:
    - {key: one, task_key: facts, task_config: {rows: first}}
    - {key: two, task_key: facts, task_config: {rows: second}}
"""


def test_the_name_of_an_evaluation_stands_for_its_specifications(project):
    for name, right in (("first", 6), ("second", 9)):
        rows = [{"sample_id": f"{i}", "answer": "yes", "said": "yes" if i < right else "no"} for i in range(12)]
        project.write(f"{name}.jsonl", rows)
    project.write("run.yaml", EVALUATION)
    outcome = project.assay("run", "run.yaml")
    assert outcome.code == 0, outcome.err
    assert project.assay("report", "nightly", "-o", "e.html").code == 0
    text = (project.folder / "e.html").read_text()
    for words in ("Specifications", ">one<", ">two<", "0.500", "0.750", "Runs by"):
        assert words in text


def test_a_graded_rubric_is_reported_with_its_panel(project):
    assert project.assay("init", ".", "--starter", "rubric").code == 0
    assert project.assay("run", "task.yaml", "--name", "panel").code == 0
    assert project.assay("report", "panel", "--figures", "figs").code == 0
    text = (project.folder / "report.html").read_text()
    assert "items by criterion" in text
    assert "share of equal votes between judges" in text
    assert "It takes a second" in text
    assert any("panel-rubric" in path.name for path in (project.folder / "figs").iterdir())

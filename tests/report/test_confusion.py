"""Confusion matrices on a terminal of 80 columns, in Markdown and in JSON."""

import pytest

TASK = """
key: signals
display_name: Signals
definition:
  dataset: {source: {type: local, file_path: rows.csv}}
  scorers:
    - type: python
      compute_scores_snippet: |
        def compute_scores(sample):
            return {"truth": sample["truth"], "seen": sample["seen"]}
      metrics:
        - {type: binary-classification, field_gt: truth, field_pred: seen, positive_answer: buoy, negative_answer: rock}
        - {type: multiclass-classification, field_gt: truth, field_pred: seen}
"""
ROWS = [("buoy", "buoy")] * 4 + [("buoy", "rock")] * 2 + [("rock", "buoy")] + [("rock", "rock")] * 3


@pytest.fixture
def signals(project):
    def written(pairs):
        project.write("task.yaml", TASK)
        project.write("rows.csv", "truth,seen\n" + "".join(f"{truth},{seen}\n" for truth, seen in pairs))
        return project

    return written


def run(project, *options):
    shown = project.assay("run", "task.yaml", "--allow-code", *options)
    assert shown.code == 0, shown.err
    return shown


def test_the_matrix_stands_below_the_values(signals):
    lines = run(signals(ROWS)).out.splitlines()
    places = [i for i, line in enumerate(lines) if "confusion matrix (rows: ground truth)" in line]
    assert [lines[i].split(":")[0].strip() for i in places] == ["binary-classification", "multiclass-classification"]
    for i in places:
        matrix = [["buoy", "rock"], ["buoy", "4", "2"], ["rock", "1", "3"]]
        assert [line.split() for line in lines[i + 1 : i + 4]] == matrix
    assert max(map(len, lines)) <= 80


def test_json_holds_the_counts_and_the_names(signals):
    binary, multiclass = run(signals(ROWS), "--json").json["scorers"][0]["metrics"]
    assert binary["detail"]["confusion"] == {"tp": 4, "fp": 1, "tn": 3, "fn": 2}
    assert binary["detail"]["answers"] == {"positive": "buoy", "negative": "rock"}
    assert multiclass["detail"]["confusion"] == {"buoy": {"buoy": 4, "rock": 2}, "rock": {"buoy": 1, "rock": 3}}


def test_many_classes_give_their_commonest_mistakes(signals):
    pairs = [(f"vessel number {i}", f"vessel number {i}") for i in range(30)] + [
        ("vessel number 1", "vessel number 2")
    ] * 3
    shown = run(signals([("buoy", "buoy"), ("rock", "rock"), *pairs])).out
    told = "32 classes; most frequent mistakes: vessel number 1 predicted as vessel number 2 (3)"
    assert told in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


def test_classes_with_long_names_are_numbered(signals):
    names = [f"vessel of the harbour number {i}" for i in range(8)]
    pairs = [(name, name) for name in names] + [(names[1], names[6])] * 3
    lines = run(signals([("buoy", "buoy"), ("rock", "rock"), *pairs])).out.splitlines()
    (title,) = [i for i, line in enumerate(lines) if "multiclass-classification: confusion matrix" in line]
    assert lines[title + 1].split() == [str(number) for number in range(1, 11)]
    (row,) = [line.split() for line in lines[title + 2 : title + 12] if line.split()[0] == "4"]
    assert row[:7] == ["4", *names[1].split()]
    assert row[7:] == ["0", "0", "0", "1", "0", "0", "0", "0", "3", "0"]
    assert max(map(len, lines)) <= 80


def test_markdown_has_the_matrix(signals):
    project = signals(ROWS)
    run(project)
    shown = project.assay("gate", "--require", "binary-classification/accuracy >= 0.5", "--markdown", "gate.md")
    assert shown.code == 0, shown.err
    text = (project.folder / "gate.md").read_text()
    assert "| | buoy | rock |\n|---|---:|---:|\n| buoy | 4 | 2 |\n| rock | 1 | 3 |" in text

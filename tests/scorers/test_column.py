from __future__ import annotations

import pytest

from assay.scorers.column import KIND, ColumnScorer

SETTINGS = ColumnScorer(type="column", column="quality")


@pytest.mark.parametrize(
    ("value", "number"), [(3, 3.0), (0.5, 0.5), (True, 1.0), ("0.25", 0.25), ("-1e3", -1000.0), (0, 0.0)]
)
def test_the_number_of_the_column_is_the_score(make_rows, value, number):
    scored = KIND.score(SETTINGS, make_rows(None, {"quality": [value]}))
    assert (scored.values, scored.failures) == ({"value": [number]}, {})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "missing_field"),
        ("", "missing_field"),
        ("good", "parse"),
        ("nan", "parse"),
        ([1], "parse"),
        (10**400, "parse"),
    ],
)
def test_a_row_without_a_number_fails_alone(make_rows, value, kind):
    scored = KIND.score(SETTINGS, make_rows(None, {"quality": [1, value]}))
    assert scored.values == {"value": [1.0, None]}
    assert scored.failures[1].kind == kind
    assert '"quality" is ' in scored.failures[1].detail


def test_a_row_without_the_column_fails(make_rows):
    scored = KIND.score(SETTINGS, make_rows(None, {"other": [1]}))
    assert (scored.failures[0].kind, scored.failures[0].detail) == (
        "missing_field",
        'the sample has no column "quality"',
    )


def test_a_run_takes_the_mean_and_check_knows_the_columns(project):
    task = """
key: t
display_name: T
definition:
  dataset: {source: {type: inline_samples, samples: [{quality: 1}, {quality: 0.5}, {quality: null}]}}
  scorers: [{type: column, column: COLUMN}]
"""
    project.write("task.yaml", task.replace("COLUMN", "quality"))
    assert project.assay("run", "task.yaml", "--max-failures", "1").code == 0
    (scorer,) = project.assay("show", "--json").json["scorers"]
    assert scorer["metrics"][0]["values"]["quality"]["value"] == 0.75
    assert (scorer["n_scored"], scorer["n_failed"]) == (2, 1)
    project.write("task.yaml", task.replace("COLUMN", "qualty"))
    checked = project.assay("check", "task.yaml")
    assert 'did you mean "quality"?' in " ".join((checked.out + checked.err).split())

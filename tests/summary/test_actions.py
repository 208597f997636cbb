"""Actions: what leaves the metrics, what stays, and what a wrong rule says."""

import json

import pytest

TASK = """
key: quality
display_name: Quality
definition:
  dataset: {{source: {{type: inline_samples, samples: [
    {{q: one, said: x, truth: x, note: fine}}, {{q: two, said: y, truth: x, note: broken}},
    {{q: three, said: x, truth: x, note: fine}}, {{q: four, said: z, truth: x, note: broken}}]}}}}
  scorers:
    - {{type: string_equals, key: right, value: "{{{{ sample.said }}}}", ground_truth: "{{{{ sample.truth }}}}"}}
    - {{type: contains, key: broken, purpose: qa, value: "{{{{ sample.note }}}}", substring: broken}}
  actions: {actions}
"""


def write(project, actions):
    project.write("task.yaml", TASK.format(actions=json.dumps(actions)))


def rule(condition, key="bad"):
    return {"key": key, "action": "exclude_from_metrics", "filter": condition}


@pytest.mark.parametrize(
    "condition",
    [
        {"op": "equals", "expression": "{{ scores.broken.is_correct }}", "value": 1.0},
        {"op": "greater_than", "expression": "scores.broken.is_correct", "value": 0},
        {"op": "equals", "expression": 'scores["broken"].is_correct', "value": 1},
        [{"op": "equals", "expression": "scores.broken.is_correct", "value": 1}],
        {"op": "equals", "expression": "sample.note", "value": "broken"},
        "{{ scores.broken.is_correct == 1 }}",
        "scores.broken.is_correct == 1",
    ],
    ids=str,
)
def test_a_matching_sample_leaves_the_metrics_and_stays_in_the_evidence(project, condition):
    write(project, [rule(condition)])
    report = project.assay("run", "task.yaml", "--json").json
    right = report["scorers"][0]
    assert right["metrics"][0]["values"]["accuracy"]["value"] == 1.0
    assert right["metrics"][0]["values"]["accuracy"]["n"] == 2
    assert (right["n_scored"], right["n_excluded"]) == (2, 2)
    assert report["excluded"] == {"bad": 2}
    assert len(project.assay("samples", report["run"], "--json").lines) == 4


def test_any_rule_excludes_and_each_is_counted(project):
    first = rule({"op": "equals", "expression": "sample.q", "value": "one"}, "first")
    second = rule({"op": "in", "expression": "sample.q", "values": ["one", "two"]}, "second")
    write(project, [first, second])
    shown = project.assay("run", "task.yaml")
    assert "excluded by first 1, second 2" in shown.out
    assert "2 scored, 2 excluded" in shown.out


def test_what_a_scorer_did_not_say_matches_nothing(project):
    write(project, [rule("scores.broken.is_correct == 1 and scores.right.nothing == 2")])
    report = project.assay("run", "task.yaml", "--json").json
    assert report["excluded"] == {"bad": 0}
    assert report["scorers"][0]["n_excluded"] == 0


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"op": "is_true", "expression": "scores.brocken.is_correct"}, 'there is no scorer "brocken"'),
        ({"op": "is_true", "expression": "scores.broken.is_corect"}, 'contains produces no field "is_corect"'),
        ({"op": "equals", "expression": "scores.broken.is_correct"}, '"equals" needs "value"'),
        ({"opp": "equals", "expression": "sample.q", "value": 1}, 'unknown field "opp"'),
        ([3], "expected a filter, such as {op, expression, value}, got"),
        ("{{ scores.broken. }}", "filter: "),
    ],
    ids=str,
)
def test_a_wrong_filter_is_found_before_the_run_at_its_place(project, condition, words):
    write(project, [rule(condition)])
    found = project.assay("run", "task.yaml")
    assert found.code == 2
    assert words in found.err
    assert "task.yaml:11:" in found.err


def test_a_filter_that_is_no_condition_is_an_error(project):
    write(project, [rule("{{ sample.q }}")])
    found = project.assay("run", "task.yaml")
    assert found.code == 2
    assert "the filter gives" in found.err
    assert "not true or false" in found.err

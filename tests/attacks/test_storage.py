"""A value that the store will not hold costs one sample, never the group that it was to be committed with."""

import sqlite3

import pytest

TASK = """
key: stored
display_name: Stored
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages: [{role: user, content: "{{ sample.question }}"}]
    sampling: {temperature: 0, max_tokens: 5}
  scorers:
    - {type: string_equals, key: exact, ground_truth: "A"}
    - {type: contains, key: contained, substring: "A"}
"""
N = 40
BAD = 3
REJECTIONS = [
    ("samples", f"instr(NEW.input, 'number {BAD}?') AND NEW.output IS NOT NULL", "solve"),
    ("scores", f"(NEW.id & 127) = 2 AND ((NEW.id >> 7) & 68719476735) = {BAD}", "score"),
    ("calls", f"instr(CAST(NEW.request AS TEXT), 'number {BAD}?') AND instr(NEW.reply, 'text\":\"A')", None),
]
"""A table, the rows of it that a trigger rejects, and the stage of the failure that takes their place."""


@pytest.mark.parametrize(("table", "rejected", "stage"), REJECTIONS, ids=[row[0] for row in REJECTIONS])
def test_what_the_store_rejects_is_the_failure_of_one_sample(live, loopback, table, rejected, stage):
    project = live(1, task=TASK)
    project.write("data.jsonl", [{"question": f"number {n}? [[reply: A]]"} for n in range(N)])
    first = project.assay("run", "task.yaml", "--model", "stub", "--limit", "1")
    assert first.code == 0, first.err
    with sqlite3.connect(project.folder / ".assay" / "assay.db") as connection:
        body = "SELECT RAISE(ABORT, 'this value is rejected');"
        connection.execute(f"CREATE TRIGGER picky BEFORE INSERT ON {table} WHEN {rejected} BEGIN {body} END")
    connection.close()
    outcome = project.assay("run", "task.yaml", "--model", "stub", "--json", "--max-failures", "0.1")
    assert outcome.code == 0, outcome.err
    assert loopback.stats()["served"] == N
    assert outcome.json["n_samples"] == N
    assert outcome.json["n_failed"] == (stage is not None)
    scored = [next(iter(scorer["metrics"][0]["values"].values()))["n"] for scorer in outcome.json["scorers"]]
    assert scored == [N - (stage == "solve"), N - (stage is not None)]
    failures = [failure for sample in project.assay("samples", "--json").lines for failure in sample["failures"]]
    assert [(failure["stage"], failure["kind"]) for failure in failures] == (
        [] if stage is None else [(stage, "store")]
    )
    assert all("this value is rejected" in failure["detail"] for failure in failures)
    if stage is None:
        assert "a reply of stub is kept without its text" in outcome.err
    # whatever was rejected, it was paid for once
    assert outcome.json["spending"][0]["n_calls"] == N - 1
    again = project.assay("run", "task.yaml", "--model", "stub", "--json", "--max-failures", "0.1")
    assert again.json["n_failed"] == (stage is not None)
    assert loopback.stats()["served"] == N


def test_texts_that_are_not_unicode_fail_alone(project):
    import assay

    project.write("task.yaml", TASK)
    project.write("data.jsonl", [{"question": f"number {n}?"} for n in range(N)])
    half = "\ud800"
    result = assay.run(
        project.folder / "task.yaml",
        model=lambda messages, **parameters: half if f"number {BAD}?" in messages[-1]["content"] else "A",
        store=str(project.folder / "own.db"),
    )
    assert result.report.n_samples == N
    assert result.report.n_failed == 1
    (failure,) = [failure for sample in result.samples() for failure in sample["failures"]]
    assert "UTF-8" in failure["detail"]

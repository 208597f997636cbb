"""A server that fails in every way: each sample ends as a score or a named failure, and nothing is asked too often."""

import pytest

MAX_TRIES = 6


def run(project, *more):
    return project.assay("run", "task.yaml", "--model", "stub", "--json", "--max-failures", "1", *more)


def answers(project):
    return {row["sample_id"]: row for row in project.assay("samples", "--json").lines}


def test_a_fifth_of_the_replies_failing_changes_no_score(live, loopback):
    n = 5_000
    project = live(n, timeout=2)
    undisturbed = run(project, "--store", "calm.db")
    assert undisturbed.code == 0, undisturbed.err
    calm = {row["sample_id"]: row["output"] for row in project.assay("samples", "--json", "--store", "calm.db").lines}
    loopback.reset()
    loopback.configure(
        body="mcq",
        fault_key="body",
        fail_429=0.06,
        retry_after=0.1,
        retry_after_share=0.5,
        fail_500=0.05,
        fail_malformed=0.04,
        fail_disconnect=0.04,
        fail_hang=0.01,
    )
    outcome = run(project)
    assert outcome.code == 0, outcome.err
    document = outcome.json
    found = answers(project)
    assert len(found) == document["n_samples"] == n
    for sample_id, row in found.items():
        if row["failures"]:
            assert row["failures"][0]["kind"] in ("http", "timeout", "connection", "parse"), row
            assert row["scores"] == {}
        else:
            assert row["output"] == calm[sample_id]
            assert set(row["scores"]) == {"string_equals_mcqa"}
    failed = sum(1 for row in found.values() if row["failures"])
    assert failed == document["n_failed"] == sum(document["failures"].values())
    assert failed < n * 0.01, "six tries each should get nearly everything through"
    scored = [
        row["scores"]["string_equals_mcqa"]["values"]["is_correct"] for row in found.values() if not row["failures"]
    ]
    value = document["scorers"][0]["metrics"][0]["values"]["accuracy"]
    assert (value["value"], value["n"]) == (pytest.approx(sum(scored) / len(scored)), len(scored))
    stats = loopback.stats()
    assert stats["max_repeats"] <= MAX_TRIES
    assert stats["by_status"]["429"] > 100


def test_a_wrong_key_stops_a_large_run_within_ten_calls(live, loopback):
    project = live(10_000)
    loopback.configure(api_key="the-right-one")
    outcome = run(project)
    assert outcome.code == 3
    assert loopback.stats()["served"] <= 10
    assert "STUB_KEY" in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    assert "sk-loopback" not in outcome.err


def test_an_unknown_model_stops_the_run_within_ten_calls(live, loopback):
    project = live(1_000)
    loopback.configure(models="another-model")
    outcome = run(project)
    assert outcome.code == 3
    assert loopback.stats()["served"] <= 10
    assert "404" in outcome.err


def test_a_server_that_is_not_there_ends_the_run_with_one_message(live):
    project = live(200)
    model = (project.folder / "model.yaml").read_text()
    project.write(
        "model.yaml", model.replace(model.split('"url": "')[1].split('"')[0], "http://127.0.0.1:9/v1/chat/completions")
    )
    outcome = run(project)
    assert outcome.code == 3
    assert "none of the first" in outcome.err
    assert "127.0.0.1:9" in outcome.err


def test_failed_samples_are_asked_again_and_finished_ones_never(live, loopback):
    project = live(60)
    rows = [{"question": f"[[status: 500]] {i}" if i % 3 == 0 else f"Question {i}", "answer": "A"} for i in range(60)]
    project.write("data.jsonl", rows)
    first = run(project, "--max-concurrency", "20")
    assert first.json["n_failed"] == 20
    assert first.json["failures"] == {"http": 20}
    loopback.reset()
    loopback.configure(body="mcq", markers=False)
    again = run(project)
    assert again.json["n_failed"] == 0
    assert again.json["n_cached"] == 40
    assert loopback.stats()["served"] == 20


def test_null_content_refusals_and_filters_are_failures_not_answers(live):
    project = live(1)
    kinds = {"[[null]]": "parse", "[[refusal]]": "refusal", "[[filter]]": "refusal", "[[reply: ]]": None}
    project.write("data.jsonl", [{"question": mark, "answer": "A"} for mark in kinds])
    outcome = run(project)
    assert outcome.json["n_failed"] == 3
    found = list(answers(project).values())
    assert [row["failures"][0]["kind"] if row["failures"] else None for row in found] == list(kinds.values())
    assert found[3]["scores"]["string_equals_mcqa"]["metadata"]["completion_validity"] == "INVALID"


def test_samples_that_always_fail_do_not_undo_those_that_did_not(live):
    project = live(1)
    rows = [{"question": f"[[status: 500]] {i}" if i < 12 else f"Question {i}", "answer": "A"} for i in range(52)]
    project.write("data.jsonl", rows)
    first = run(project, "--max-concurrency", "30")
    assert (first.code, first.json["n_failed"]) == (0, 12)
    again = run(project, "--max-concurrency", "30")
    assert (again.code, again.json["n_failed"], again.json["n_cached"]) == (0, 12, 40)
    assert again.json["scorers"] == first.json["scorers"]

"""What a user sees of the samples behind the numbers."""

from __future__ import annotations

import pytest


@pytest.fixture
def run(cli, recorded):
    assert cli("run", "task.yaml", "--max-failures", "1", "-q").code == 0
    return cli


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ([], ["first", "second", "third", "fourth"]),
        (["--wrong"], ["second"]),
        (["--failed"], ["fourth"]),
        (["--id", "third"], ["third"]),
        (["--id", "third", "--failed"], []),
        (["--limit", "2"], ["first", "second"]),
        (["--wrong", "--failed"], ["second", "fourth"]),
    ],
)
def test_filters(run, filters, ids):
    assert [row["sample_id"] for row in run("samples", "--json", *filters).lines] == ids
    shown = run("samples", *filters)
    assert shown.code == 0
    assert [line.split()[1] for line in shown.out.splitlines() if line.startswith("sample ")] == ids
    assert ("no samples match" in shown.out) == (not ids)


@pytest.mark.parametrize("extra", [[], ["--json"]])
@pytest.mark.parametrize(
    ("wanted", "words"), [("secnd", 'did you mean "second"?'), ("99", "its ids are first, second, third, fourth")]
)
def test_an_unknown_id_is_an_error_that_says_what_there_is(run, wanted, words, extra):
    said = run("samples", "--id", wanted, *extra)
    assert (said.code, said.out) == (2, "")
    assert f'has no sample "{wanted}"' in said.err
    assert words in said.err


def test_output_that_goes_elsewhere_is_not_cut(cli, recorded):
    recorded.write("data.jsonl", [{"answer": "x", "output": "x"}] * 30)
    cli("run", "task.yaml")
    shown = cli("samples").out
    assert shown.count("sample ") == 30
    assert "there are more samples" not in shown


def test_values_are_json_not_python(cli, recorded):
    row = {"sample_id": "a", "answer": "x", "output": "x", "list": ["A", None, True], "none": None, "ok": False}
    recorded.write("data.jsonl", [row])
    cli("run", "task.yaml")
    for shown in (cli("samples").out, cli("samples", "--id", "a").out):
        assert '  list: ["A",null,true]\n  none: null\n  ok: false\n' in shown


def test_one_sample_is_shown_with_its_conversation_and_line_breaks(cli, live):
    project = live(1)
    project.write("data.jsonl", [{"sample_id": "a", "question": "First line?\nSecond line?", "answer": "A"}])
    cli("run", "task.yaml", "--model", "stub")
    shown = cli("samples", "--id", "a").out
    assert "  question: First line?\n      Second line?\n" in shown
    assert "  [user] " in shown
    assert shown.count("Second line?") >= 2, "once in the sample, once in what was sent"
    assert "    is_correct: " in shown
    assert "[user]" not in cli("samples").out


def test_the_reason_of_a_failure_is_never_cut(cli, recorded):
    long = "x" * 300
    task = (recorded.folder / "task.yaml").read_text()
    recorded.write("task.yaml", task.replace("string_equals\n", "numeric_equals\n"))
    recorded.write("data.jsonl", [{"sample_id": "a", "answer": long, "output": "1"}])
    cli("run", "task.yaml", "--max-failures", "1")
    detail = cli("samples", "--json").lines[0]["failures"][0]["detail"]
    assert len(detail) > 80
    for how in (["--failed"], ["--id", "a"]):
        shown = cli("samples", *how).out
        assert "".join(detail.split()) in "".join(shown.split())
        failed = shown[shown.index("  failed (") :].splitlines()
        assert all(len(line) <= 80 for line in failed)
        assert all(line.startswith("      ") for line in failed[1:])


def test_lines_of_a_stack_stay_lines(cli, recorded):
    from assay.report.samples import _lines
    from assay.store.decoder import Sample
    from assay.store.run_spec import RunSpec
    from assay.types import Failure

    failure = Failure(stage="score", kind="code", detail="ValueError: no\n  line 3, in score\n  line 4, in more")
    entry = Sample(
        sample_id="a",
        trial=0,
        sample={"sample_id": "a", "reply": "yes"},
        output="yes",
        trace=None,
        calls=[],
        scores={},
        failures={"mine": failure},
    )
    spec = RunSpec(kind="run", task="t", definition={"solver": {"trace_column": "reply"}})
    assert [line for line, _ in _lines(entry, spec)] == [
        "sample a",
        "  → yes",
        "  failed (code) in mine: ValueError: no",
        "        line 3, in score",
        "        line 4, in more",
    ]


def test_the_votes_of_a_panel_are_a_table(cli, project):
    met = {"explanation": "It says please.", "criterion_status": "MET"}
    project.write("kind.jsonl", [{"reply": met}])
    project.write("mute.jsonl", [{"reply": "hm"}])
    project.write("rubric.yaml", "- {name: polite, requirement: Is polite.}")
    project.write("essays/one.txt", "Please come in.")
    cli("grade", "rubric.yaml", "essays", "--judge", "scripted/kind.jsonl", "--judge", "scripted/mute.jsonl")
    shown = cli("samples", "--id", "one.txt").out
    lines = shown[shown.index("    votes:") :].splitlines()
    assert lines[1].split() == ["criterion", "judge", "vote", "reason"]
    assert lines[2].split(maxsplit=3) == ["polite", "scripted…d.jsonl", "MET", "It says please."]
    assert "failed (parse)" in lines[3]
    assert "{" not in "".join(lines[1:4])
    assert all(len(line) <= 80 for line in lines[:5])


def test_a_line_of_json_has_the_documented_fields(run):
    row = run("samples", "--json", "--id", "second").lines[0]
    assert row["sample"]["question"] == "Is fire cold?"
    assert row["output"] == "yes"
    assert row["trial"] == 0
    assert row["scores"]["string_equals"]["values"]["is_correct"] == 0.0
    assert row["failures"] == []
    (failure,) = run("samples", "--json", "--failed").lines[0]["failures"]
    assert set(failure) == {"scorer", "stage", "kind", "detail", "retryable"}


def test_a_person_sees_input_answer_scores_and_failures(run):
    shown = run("samples").out
    assert "  question: Is fire cold?\n  answer: no\n" in shown
    assert "  → yes\n" in shown
    assert "  string_equals: is_correct 0.0" in shown
    assert "  failed (missing_field): " in shown
    assert "there are more samples" not in shown
    assert "... there are more samples: --limit N" in run("samples", "--limit", "1").out


def test_long_texts_are_cut_unless_one_sample_is_asked_for(cli, recorded):
    recorded.write("data.jsonl", [{"sample_id": "a", "answer": "x", "output": "word " * 100}])
    cli("run", "task.yaml")
    assert all(len(line) <= 80 for line in cli("samples").out.splitlines())
    assert "word " * 99 in cli("samples", "--id", "a").out


def test_hostile_text_stays_harmless(cli, recorded):
    evil = "\x1b]0;owned\x07\x1b[2Jyes\r\nfake line \u202e[red]x[/red]"
    recorded.write("data.jsonl", [{"sample_id": "\x1b[31m", "e\x1b[1mvil": evil, "answer": evil, "output": evil}])
    cli("run", "task.yaml")
    full = cli("samples", "--id", "\x1b[31m").out
    assert "\n      fake line" in full, "line breaks stay, but nothing begins where our lines do"
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(full)
    shown = cli("samples").out
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(shown)
    assert "[red]x[/red]" in shown, "text is not markup"
    assert "\nfake line" not in shown
    assert cli("samples", "--json").lines[0]["output"] == evil, "machines get what was there"


def test_a_failure_of_one_scorer_names_it_and_trials_are_numbered(cli, live):
    task = """
key: twice
display_name: Twice
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.question }}"}]}
  scorers:
    - {type: numeric_equals, ground_truth: "{{ sample.answer }}"}
  trials: {num_trials: 2}
"""
    live(1, task=task)
    cli("run", "task.yaml", "--model", "stub", "--max-failures", "1")
    shown = cli("samples").out
    assert "sample 0 (trial 1)" in shown
    assert "in numeric_equals: " in shown


def test_samples_are_sorted_and_the_worst_come_first(cli, project):
    project.write("task.yaml", SCORED)
    rows = [{"sample_id": f"s{i}", "lang": "de" if i % 2 else "en", "points": n} for i, n in enumerate([3, 1, 5, 2])]
    project.write("data.jsonl", [*rows, {"sample_id": "none", "lang": "fr", "points": "many"}])
    assert cli("run", "task.yaml", "-q", "--max-failures", "1").code == 0

    def ids(*arguments):
        said = cli("samples", "--json", *arguments)
        assert said.code == 0, said.err
        return [row["sample_id"] for row in said.lines]

    assert ids("--sort", "points") == ["s1", "s3", "s0", "s2", "none"]
    assert ids("--sort", "-points") == ["s2", "s0", "s3", "s1", "none"]
    assert ids("--sort", "points", "--worst", "2") == ["s1", "s3"]
    assert ids("--sort", "answer_pred", "--limit", "1") == ["s1"]
    assert ids("--where", "points < 3") == ["s1", "s3"]
    assert ids("--where", "points <= 3", "--where", "lang = en") == ["s0"]
    assert ids("--where", "sample/lang != de") == ["s0", "s2", "none"]
    assert len(ids("--worst", "3")) == 3


SCORED = """
key: points
display_name: Points
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: points}
  scorers:
    - {type: numeric_equals, ground_truth: "3"}
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--where", "nonsense"), "is not a condition"),
        (("--where", "is_correct < high"), "compares numbers"),
        (("--where", "is_corect < 1"), 'did you mean "is_correct"?'),
        (("--sort", "questoin"), 'did you mean "question"?'),
        (("--sort", "-is_correct", "--worst", "1"), "without a minus"),
    ],
)
def test_a_query_that_cannot_be_is_an_error_with_the_nearest_name(run, arguments, words):
    said = run("samples", *arguments)
    assert (said.code, said.out) == (2, "")
    assert words in said.err


def test_a_graded_run_has_wrong_samples(cli, project):
    unmet = {"explanation": "It is rude.", "criterion_status": "UNMET"}
    project.write("judge.jsonl", [{"reply": unmet}])
    project.write("rubric.yaml", "- {name: polite, requirement: Is polite.}")
    project.write("essays/one.txt", "Go away.")
    cli("grade", "rubric.yaml", "essays", "--judge", "scripted/judge.jsonl")
    assert [row["sample_id"] for row in cli("samples", "--wrong", "--json").lines] == ["one.txt"]


def test_only_right_scores_are_green(run, monkeypatch, recorded):
    from io import StringIO

    from rich.console import Console

    from assay.api.stored import find, read_project_store, read_samples
    from assay.report.samples import print_sample

    store = read_project_store(str(recorded.folder / ".assay" / "assay.db"))
    record = find(store, "latest")
    for full in (False, True):
        styles = {}
        for sample in read_samples(store, record):
            out = StringIO()
            print_sample(
                Console(file=out, force_terminal=True, color_system="standard"), sample, record.spec, full=full
            )
            scored = [line for line in out.getvalue().splitlines() if "string_equals" in line]
            styles[sample.sample_id] = scored[0][:5] if scored else None
        assert styles == {"first": "\x1b[32m", "second": "\x1b[31m", "third": "\x1b[32m", "fourth": None}
    store.close()

"""`assay audit`: planned, agreed to, made, and made again for nothing."""

from __future__ import annotations

import json

import pytest

RUBRIC = """
- {name: polite, requirement: Is polite.}
- name: quality
  requirement: How good is it?
  options: [{label: poor, value: 0}, {label: fair, value: 0.5}, {label: great, value: 1}]
"""
TASK = """
key: letters
display_name: Letters
definition:
  dataset: {source: {type: local, file_path: letters.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - type: rubric
      rubric: rubric.yaml
      prompt: "{{ sample.question }}"
      judges: [{model_key: first.yaml, id: first}]
"""
N = 40
CALLS = N * (2 * 2 + 2 + 2 + 2)


@pytest.fixture
def audited(project, loopback):
    """A rubric, forty texts, and a judge that always takes the first answer there is."""
    config = {"url": f"{loopback.url}/chat/completions", "api_key": "$STUB_KEY", "model_key": "stub"}
    prices = {"input_per_million": 1.0, "output_per_million": 2.0}
    project.write("first.yaml", json.dumps({"key": "first", "display_name": "F", "config": config, "prices": prices}))
    project.write(".env", "STUB_KEY=sk-loopback\n")
    project.write("rubric.yaml", RUBRIC)
    project.write("letters.jsonl", [{"question": f"Q{n}?", "reply": f"Letter {n}."} for n in range(N)])
    project.write("texts.jsonl", [{"text": f"Letter {n}."} for n in range(N)])
    return project


def _audit(project, *more, target="rubric.yaml"):
    texts = ("--submissions", "texts.jsonl", "--judge", "first.yaml") if target == "rubric.yaml" else ()
    return project.assay("audit", target, *texts, *more)


def test_the_plan_comes_first_and_nothing_is_spent_before_somebody_agreed(audited, loopback):
    planned = _audit(audited, "--plan", "--json")
    assert planned.code == 0, planned.err
    assert (planned.json["calls"], planned.json["cached"]) == (CALLS, 0)
    assert planned.json["cost_usd"]["expected"] > 0
    refused = _audit(audited)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert f"{CALLS} calls to make" in refused.err
    assert loopback.stats()["arrived"] == 0


def test_a_judge_that_always_takes_the_first_option_fails_and_a_second_audit_is_free(audited, loopback):
    outcome = _audit(audited, "--yes")
    assert outcome.code == 1, outcome.err
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert "FAIL" in next(line for line in outcome.out.splitlines() if line.startswith("position"))
    # a shuffle may be the order of the rubric, which was asked already
    made = loopback.stats()["arrived"]
    assert 0.8 * CALLS < made <= CALLS
    # no money, so nobody is asked to agree
    again = _audit(audited, "--json")
    assert (again.code, again.json["plan"]["calls"], again.json["cost_usd"]) == (1, 0, 0.0)
    assert "nothing left to ask or pay for" in again.err
    assert audited.assay("runs", "--json").out == "", "probes are no runs that anybody means"
    assert loopback.stats()["arrived"] == made
    verdicts = {name: probe["verdict"] for name, probe in again.json["judges"]["first.yaml"].items()}
    assert verdicts == {"position": "FAIL", "noise": "PASS", "verbosity": "INCONCLUSIVE", "injection": "INCONCLUSIVE"}
    assert again.json["judges"]["first.yaml"]["verbosity"]["n_to_decide"] > N


def test_a_looser_threshold_and_fewer_probes(audited):
    outcome = _audit(audited, "--yes", "--probe", "verbosity", "--threshold", "0.2", "--limit", "30", "--json")
    assert outcome.code == 0, outcome.err
    assert set(outcome.json["judges"]["first.yaml"]) == {"verbosity"}
    assert outcome.json["n_items"] == 30


def test_a_spending_limit_is_kept_and_the_audit_is_partial(audited):
    outcome = _audit(audited, "--max-cost", "0.02", "--json", "--max-concurrency", "2")
    assert outcome.code == 3
    assert outcome.json["status"] == "partial"
    assert 0 < outcome.json["cost_usd"] <= 0.02


def test_a_task_brings_its_texts_and_judges(audited, loopback):
    audited.write("task.yaml", TASK)
    outcome = _audit(audited, "--yes", "--json", "--probe", "position", target="task.yaml")
    assert outcome.code == 1, outcome.err
    assert outcome.json["judges"]["first"]["position"]["effect"]["value"] == 1.0
    assert "Q0?" in json.dumps(loopback.requests()[0])
    other = _audit(audited, "--yes", "--json", "--limit", "2", "--judge", "first.yaml", target="task.yaml")
    assert list(other.json["judges"]) == ["first.yaml"]


def test_answers_of_a_model_come_from_a_run_in_the_store(audited, loopback):
    live = TASK.replace(
        "solver: {type: pass_through_solver, trace_column: reply}",
        "solver: {type: single_turn_solver, input_builder: {type: chat_completion, input_messages: "
        '[{role: user, content: "{{ sample.question }}"}]}}',
    )
    audited.write("task.yaml", live)
    early = _audit(audited, "--yes", target="task.yaml")
    assert early.code == 2
    assert "run it first" in early.err
    assert audited.assay("run", "task.yaml", "--model", "first.yaml", "--limit", "6", "-q").code == 0
    outcome = _audit(audited, "--yes", "--json", "--probe", "noise", target="task.yaml")
    assert outcome.code in (0, 1), outcome.err
    assert outcome.json["n_items"] == 6
    named = _audit(audited, "--yes", "--json", "--probe", "noise", "--run", "latest", target="task.yaml")
    assert named.code == 2 or named.json["n_items"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rubric.yaml", "--judge", "first.yaml"), "give the texts to judge by it with --submissions"),
        (("rubric.yaml", "--submissions", "texts.jsonl"), "name a judge with --judge"),
        (("task.yaml", "--submissions", "texts.jsonl"), "a task, which has texts of its own"),
        (("task.yaml", "--scorer", "tone"), 'the task has no scorer "tone"; audit can take rubric'),
        (("task.yaml", "--scorer", "rubrik"), 'did you mean "rubric"?'),
        (("mixed.yaml", "--scorer", "string_equals"), '"string_equals" is string_equals (choose rubric)'),
        (("two.yaml",), "choose one with --scorer"),
        (("none.yaml",), "it has string_equals; audit takes rubric, model_as_a_judge_classifier or"),
        (("task.yaml", "--threshold", "2"), "threshold must be between 0 and 1"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(audited, arguments, said):
    audited.write("task.yaml", TASK)
    scorer = TASK[TASK.index("    - type: rubric") :]
    audited.write("two.yaml", TASK + scorer)
    audited.write("mixed.yaml", TASK + '    - {type: string_equals, ground_truth: "x"}\n')
    audited.write("none.yaml", TASK.replace(scorer, '    - {type: string_equals, ground_truth: "x"}\n'))
    outcome = audited.assay("audit", *arguments)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())


def test_a_refused_key_is_one_message(audited, loopback):
    loopback.configure(api_key="another")
    outcome = _audit(audited, "--yes")
    assert outcome.code == 3
    assert "refuses all calls" in outcome.err
    assert loopback.stats()["arrived"] <= 10


def test_a_free_judge_needs_no_agreement_and_the_help_shows_examples(audited):
    audited.write("free.jsonl", [{"match": "How good", "reply": "poor"}, {"reply": '{"criterion_status": "MET"}'}])
    outcome = audited.assay(
        "audit", "rubric.yaml", "--submissions", "texts.jsonl", "--judge", "scripted/free.jsonl", "--limit", "5", "-q"
    )
    assert outcome.code == 0, outcome.err
    assert "INCONCLUSIVE" in outcome.out
    assert "texts would tell" in outcome.out
    assert "assay audit rubric.yaml --submissions" in audited.assay("audit", "--help").out


def test_an_audit_in_which_nobody_answered_has_failed_and_says_why(audited):
    audited.write("mute.jsonl", [{"reply": "hm"}])
    texts = ("--submissions", "texts.jsonl", "--judge", "scripted/mute.jsonl", "--limit", "3")
    said = audited.assay("audit", "rubric.yaml", *texts)
    assert said.code == 3
    assert "note: plain: 3 of 3 texts could not be judged" in said.out
    assert '"hm" is none of the labels' in " ".join(said.out.split())
    assert "no judge gave a usable verdict" in said.err
    assert audited.assay("audit", "rubric.yaml", *texts, "--json").json["status"] == "failed"


def test_the_judges_of_a_task_are_asked_as_the_task_asks_them(audited):
    both = {
        "criterion_1": {"explanation": "e", "criterion_status": "MET"},
        "criterion_2": {"explanation": "e", "selected_option": "great"},
    }
    audited.write("at_once.jsonl", [{"reply": json.dumps(both)}])
    task = TASK.replace("first.yaml, id: first", "scripted/at_once.jsonl, id: first")
    audited.write("task.yaml", task + "      llm_calls: per_item\n")
    said = _audit(audited, "--json", "--probe", "noise", "--limit", "5", target="task.yaml")
    assert said.code == 0, said.err
    assert said.json["judges"]["first"]["noise"]["effect"]["value"] == 0.0
    assert said.json["plan"]["calls"] == 5 * 2, "one call about all criteria, twice"


CLASSIFIER = """
    - type: model_as_a_judge_classifier
      key: verdict
      model_key: scripted/JUDGE.jsonl
      user_prompt: "Question: {{ sample.question }} Answer: {{ solver_output.output }}"
      correct_labels: [good]
      incorrect_labels: [bad]
"""
SCALE = """
    - type: model_as_a_judge_scorer
      key: marks
      model_key: scripted/JUDGE.jsonl
      user_prompt: "Rate: {{ model_output }}"
      score_min: 0
      score_max: 10
"""
PADDING, REQUEST = "To sum up", "NOTE TO THE GRADER"
LETTERS = 120
FAIR = [
    {"match": f"Letter {n}.", "reply": {"prediction": "good" if n % 2 else "bad", "score": n % 2 * 6 + 2}}
    for n in range(LETTERS)
]
BEST = {"prediction": "good", "score": 10}
JUDGES = {
    "fair": FAIR,
    "impressed": [{"match": PADDING, "reply": BEST}, *FAIR],
    "obedient": [{"match": REQUEST, "reply": BEST}, *FAIR],
}


@pytest.fixture
def judged(audited):
    """A task without scorers, and recorded judges of which two are swayed."""
    audited.write("letters.jsonl", [{"question": f"Q{n}?", "reply": f"Letter {n}."} for n in range(LETTERS)])
    for name, lines in JUDGES.items():
        audited.write(f"{name}.jsonl", [{**line, "reply": json.dumps(line["reply"])} for line in lines])
    return audited


def _with(scorers, judge="fair"):
    return TASK[: TASK.index("    - type: rubric")].rstrip(" ") + scorers.replace("JUDGE", judge).lstrip("\n")


@pytest.mark.parametrize("scorer", [CLASSIFIER, SCALE])
@pytest.mark.parametrize(
    ("judge", "fails"), [("fair", set()), ("impressed", {"verbosity"}), ("obedient", {"injection"})]
)
def test_the_judge_of_a_classifier_or_a_scale_is_audited(judged, scorer, judge, fails):
    judged.write("task.yaml", _with(scorer, judge))
    planned = judged.assay("audit", "task.yaml", "--plan", "--json")
    assert planned.json["calls"] == LETTERS * 4, "as it is, again, padded, and with a request"
    said = judged.assay("audit", "task.yaml", "--json")
    assert said.code == (1 if fails else 0), said.err
    probes = said.json["judges"][f"scripted/{judge}.jsonl"]
    assert probes.pop("position")["verdict"] is None
    assert {name: probe["verdict"] for name, probe in probes.items()} == {
        name: "FAIL" if name in fails else "PASS" for name in ("noise", "verbosity", "injection")
    }
    for name in fails:
        # half of the answers rise from bad to good, or all of them from 2 or 8 to 10
        expected = 0.5 if scorer is CLASSIFIER else (0.8 + 0.2) / 2
        assert probes[name]["effect"]["value"] == pytest.approx(expected)
    again = judged.assay("audit", "task.yaml", "--json")
    assert (again.code, again.json["plan"]["calls"]) == (said.code, 0)
    assert judged.assay("runs", "--json").out == "", "probes are no runs that anybody means"


def test_a_classifier_has_no_places_to_prefer_and_the_table_says_why(judged):
    judged.write("task.yaml", _with(CLASSIFIER))
    table = judged.assay("audit", "task.yaml", "--limit", "5")
    assert max(map(len, table.out.splitlines())) <= 80
    assert "not made" in next(line for line in table.out.splitlines() if line.startswith("position"))
    assert "the task's prompt fixes the order in which labels are listed" in " ".join(table.out.split())
    alone = judged.assay("audit", "task.yaml", "--probe", "position")
    assert alone.code == 2
    assert "position does not apply to model_as_a_judge_classifier" in " ".join(alone.err.split())


def test_one_of_several_judges_is_chosen_by_its_scorer_and_another_model_may_stand_in(judged):
    judged.write("task.yaml", _with(CLASSIFIER) + SCALE.replace("JUDGE", "impressed").lstrip("\n"))
    many = judged.assay("audit", "task.yaml")
    assert many.code == 2
    assert "choose one with --scorer (verdict, marks)" in many.err
    marks = judged.assay("audit", "task.yaml", "--scorer", "marks", "--probe", "verbosity", "--json")
    assert marks.json["judges"]["scripted/impressed.jsonl"]["verbosity"]["verdict"] == "FAIL"
    judges = ("--judge", "scripted/fair.jsonl", "--judge", "scripted/obedient.jsonl")
    others = judged.assay("audit", "task.yaml", "--scorer", "verdict", "--probe", "injection", *judges, "--json")
    verdicts = {judge: probes["injection"]["verdict"] for judge, probes in others.json["judges"].items()}
    assert verdicts == {"scripted/fair.jsonl": "PASS", "scripted/obedient.jsonl": "FAIL"}


def test_replies_of_an_earlier_run_are_used_and_live_answers_come_from_it(judged, loopback):
    live = _with(CLASSIFIER.replace("scripted/JUDGE.jsonl", "first.yaml")).replace(
        "solver: {type: pass_through_solver, trace_column: reply}",
        "solver: {type: single_turn_solver, input_builder: {type: chat_completion, input_messages: "
        '[{role: user, content: "{{ sample.question }}"}]}}',
    )
    judged.write(
        "task.yaml",
        live.replace("correct_labels: [good]", "use_structured_outputs: true\n      correct_labels: [good]"),
    )
    early = judged.assay("audit", "task.yaml", "--plan")
    assert early.code == 2
    assert "run it first" in early.err
    assert judged.assay("run", "task.yaml", "--model", "first.yaml", "--limit", "6", "-q").code == 0
    planned = judged.assay("audit", "task.yaml", "--plan", "--json").json
    assert (planned["n_items"], planned["calls"] + planned["cached"]) == (6, 24)
    assert planned["cached"] == 6, "the run asked about the answers as they are"
    before = loopback.stats()["arrived"]
    assert judged.assay("audit", "task.yaml", "--yes", "-q").code in (0, 1)
    assert loopback.stats()["arrived"] - before == planned["calls"]


def test_without_a_solver_the_column_of_the_answer_must_be_named(judged):
    task = _with(CLASSIFIER, "impressed").replace("  solver: {type: pass_through_solver, trace_column: reply}\n", "")
    judged.write("task.yaml", task.replace("solver_output.output", "sample.reply"))
    unnamed = judged.assay("audit", "task.yaml")
    assert unnamed.code == 2
    assert "name its column with --column (the prompt of verdict shows question, reply)" in " ".join(
        unnamed.err.split()
    )
    typo = judged.assay("audit", "task.yaml", "--column", "repyl")
    assert 'did you mean "reply"?' in typo.err
    named = judged.assay("audit", "task.yaml", "--column", "reply", "--probe", "verbosity", "--json")
    assert named.json["judges"]["scripted/impressed.jsonl"]["verbosity"]["verdict"] == "FAIL", named.err


def test_a_prompt_that_does_not_show_the_answer_cannot_be_audited(judged):
    judged.write("task.yaml", _with(CLASSIFIER).replace(" Answer: {{ solver_output.output }}", ""))
    said = judged.assay("audit", "task.yaml")
    assert said.code == 2
    assert "the prompts of verdict do not show the answer" in " ".join(said.err.split())


def test_questions_without_a_verdict_are_left_out_and_counted(judged):
    lines = [line if number else {"match": "Letter 0.", "reply": "hm"} for number, line in enumerate(FAIR)]
    judged.write("fair.jsonl", [{**line, "reply": json.dumps(line["reply"])} for line in lines])
    judged.write("task.yaml", _with(CLASSIFIER))
    said = judged.assay("audit", "task.yaml", "--json").json
    assert {name: probe["left_out"] for name, probe in said["judges"]["scripted/fair.jsonl"].items()} == {
        "position": 0,
        "noise": 1,
        "verbosity": 1,
        "injection": 1,
    }
    assert said["notes"][0].startswith("plain: 2 of 240 questions got no verdict")
    judged.write("fair.jsonl", [{"reply": "hm"}])
    silent = judged.assay("audit", "task.yaml", "--limit", "3")
    assert silent.code == 3
    assert "no judge gave a usable verdict" in silent.err

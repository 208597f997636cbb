"""Evaluations and run files as a user has them: one command, one table, exit codes by policy."""

import signal
import time

import pytest

MODEL = """
  - key: {key}
    display_name: {key}
    max_concurrent_requests: 4
    config: {{url: "{url}/chat/completions", model_key: {key}, api_key: $MODEL_KEY}}
"""

TASKS = """
tasks:
  - key: capitals
    display_name: Capitals
    definition:
      dataset: {key: questions}
      solver: &ask
        type: single_turn_solver
        input_builder:
          type: chat_completion
          input_messages: [{role: user, content: "{{ sample.q }} [[reply: {{ sample.a }}]]"}]
      scorers:
        - {type: string_equals, ground_truth: "{{ sample.a }}"}
  - key: wrong
    display_name: Wrong
    config_spec: [{type: string, key: truth, display_name: Truth}]
    definition:
      dataset: {key: questions}
      solver: *ask
      scorers: [{type: string_equals, ground_truth: "<< config.truth >>"}]
  - key: long
    display_name: Long
    definition:
      dataset: {key: questions}
      solver: *ask
      scorers: [{type: contains, substring: o}]
datasets:
  - key: questions
    display_name: Questions
    source: {type: local, file_path: questions.jsonl}
"""

EVALUATION = """
evaluation:
  key: everything
  display_name: Everything at once
  config_spec: [{type: string, key: truth, display_name: The truth}]
  task_specifications:
    - {task_key: capitals, model_key: one}
    - {task_key: capitals, model_key: two}
    - {task_key: wrong, model_key: one, task_config: {truth: << config.truth >>}}
    - {task_key: wrong, model_key: two, task_config: {truth: << config.truth >>}}
    - {task_key: long, model_key: one, key: long-one}
    - {task_key: long, model_key: two, key: long-two}
config: {truth: Oslo}
"""

POLICIES = """
policies:
  - key: quality
    rules:
      - key: capitals-right
        definition: {{type: threshold, metric: accuracy, operator: ">=", threshold: {threshold}}}
        scope: {{task_specification_keys: [capitals, capitals_1]}}
      - {{key: there, definition: {{type: exists, metric: accuracy}}, scope: all_latest}}
"""

QUESTIONS = [{"q": "Norway?", "a": "Oslo"}, {"q": "Peru?", "a": "Lima"}, {"q": "Italy?", "a": "Rome"}]


@pytest.fixture
def evaluation(project, loopback):
    """A run file with three tasks on two models, and a way to run it."""
    project.write("questions.jsonl", QUESTIONS)

    def write(*more, threshold=0.9, evaluation=EVALUATION):
        models = "models:" + "".join(MODEL.format(key=key, url=loopback.url) for key in ("one", "two"))
        text = "\n".join([models, TASKS, evaluation, POLICIES.format(threshold=threshold), *more])
        project.write("run.yaml", text)

    def run(*arguments):
        return project.assay("run", "run.yaml", *arguments, MODEL_KEY="k")

    def plan(*arguments):
        return project.assay("plan", "run.yaml", *arguments, MODEL_KEY="k")

    run.write, run.plan = write, plan
    write()
    return run


def test_three_tasks_on_two_models_are_one_command_and_one_table(evaluation):
    shown = evaluation("--gate")
    assert shown.code == 0, shown.err
    assert "Everything at once" in shown.out
    for key in ("capitals", "capitals_1", "wrong", "wrong_1", "long-one", "long-two"):
        assert key in shown.out
    assert shown.out.count("PASS") == 2
    assert max(map(len, shown.out.splitlines())) <= 80


def test_the_json_has_a_result_for_every_specification(evaluation):
    document = evaluation("--json").json
    assert document["evaluation"] == "everything"
    found = {
        r["specification"]: r["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] for r in document["results"]
    }
    third, most = pytest.approx(1 / 3), pytest.approx(2 / 3)
    assert found == {
        "capitals": 1,
        "capitals_1": 1,
        "wrong": third,
        "wrong_1": third,
        "long-one": most,
        "long-two": most,
    }
    assert [r["model"] for r in document["results"]] == ["one", "two"] * 3
    assert [p["passed"] for p in document["policies"]] == [True, True]


@pytest.mark.parametrize(("flag", "code"), [((), 0), (("--gate",), 1)])
def test_a_policy_that_fails_decides_the_exit_code_only_when_asked(evaluation, flag, code):
    evaluation.write(threshold=1.1)
    shown = evaluation(*flag)
    assert shown.code == code
    assert "FAIL quality/capitals-right" in shown.out
    assert "1.000 is not >= 1.1" in shown.out


def test_running_it_again_pays_nothing(evaluation, loopback):
    evaluation()
    before = loopback.stats()["served"]
    document = evaluation("--json").json
    assert loopback.stats()["served"] == before
    assert all(result["cost_usd"] in (0, None) for result in document["results"])


def test_the_command_line_beats_the_run_file(evaluation):
    evaluation.write("run_config: {num_samples: 2, seed: 5}")
    assert {r["n_samples"] for r in evaluation("--json").json["results"]} == {2}
    assert {r["n_samples"] for r in evaluation("--json", "--limit", "1").json["results"]} == {1}


def test_config_on_the_command_line_beats_the_run_file(evaluation):
    document = evaluation("--json", "--config", "truth=nowhere").json
    wrong = next(r for r in document["results"] if r["specification"] == "wrong")
    assert wrong["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 0


def test_one_rejected_model_leaves_the_others_their_numbers(evaluation, project, loopback):
    models = "models:" + MODEL.format(key="one", url=loopback.url)
    models += MODEL.format(key="two", url=loopback.url).replace("/chat/completions", "/nowhere")
    project.write("run.yaml", "\n".join([models, TASKS, EVALUATION]))
    shown = evaluation("--json")
    assert shown.code == 3
    by_key = {r["specification"]: r for r in shown.json["results"]}
    assert by_key["capitals"]["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 1
    assert by_key["capitals_1"]["status"] == "failed"
    assert "404" in by_key["capitals_1"]["error"]
    assert "failed capitals_1" in evaluation().out


REPEATED = """
evaluation:
  key: everything
  display_name: Again
  task_specifications:
    - {task_key: capitals, model_key: one, repeatability: {num_runs: 3}}
    - {type: repeatability, key: twice, repeatability_config: {num_runs: 2},
       inputs: [{evaluation_key: everything, task_specification_key: capitals}]}
"""


def test_repeatability_asks_again_and_shows_the_spread(evaluation, loopback):
    evaluation.write(evaluation=REPEATED)
    document = evaluation("--json").json
    capitals, twice = document["results"]
    spread = capitals["repeatability"]["values"]["string_equals/mean/accuracy"]
    assert spread == {"mean": 1.0, "std_dev": 0.0, "min": 1.0, "max": 1.0, "n": 3}
    assert capitals["repeatability"]["agreement"]["string_equals"]["value"] == 1.0
    assert len(set(capitals["repeatability"]["runs"])) == 3
    assert len(twice["repeatability"]["runs"]) == 2
    assert loopback.stats()["served"] == 3 * len(QUESTIONS)
    assert "3 runs" in evaluation().out


def test_a_plan_counts_every_specification_and_every_repetition(evaluation, loopback):
    evaluation.write(evaluation=REPEATED)
    plans = evaluation.plan("--json").json["specifications"]
    assert [plan["specification"] for plan in plans] == [
        "capitals, run 1",
        "capitals, run 2",
        "capitals, run 3",
        "twice, run 2",
    ]
    assert [plan["models"][0]["calls"] for plan in plans] == [3, 3, 3, 3]
    shown = evaluation.plan()
    assert "Total: unknown, for a model has no price" in shown.out
    assert loopback.stats()["served"] == 0


RESULTS = """
tasks:
  - key: answer
    display_name: Answer
    definition:
      dataset: {source: {type: inline_samples, samples: [{q: a, a: Oslo}, {q: b, a: Lima}]}}
      solver:
        type: single_turn_solver
        input_builder:
          type: chat_completion
          input_messages: [{role: user, content: "{{ sample.q }} [[reply: Oslo]]"}]
      scorers: [{type: string_equals, key: exact, ground_truth: "{{ sample.a }}"}]
  - key: review
    display_name: Review
    config_spec: [{type: task_result, key: of, display_name: Of}]
    definition:
      dataset: {source: task_result, key: << config.of >>}
      scorers:
        - {type: string_equals, key: was, value: "{{ sample.scores.exact.values.is_correct }}", ground_truth: "1.0"}
        - {type: string_equals, key: said, value: "{{ sample.output }}", ground_truth: "{{ sample.sample.a }}"}
evaluation:
  key: chain
  display_name: Chain
  task_specifications:
    - {task_key: review, task_config: {of: answer}}
    - {task_key: answer, model_key: one}
"""


def test_the_result_of_one_task_is_the_dataset_of_another(project, loopback):
    models = "models:" + MODEL.format(key="one", url=loopback.url)
    project.write("run.yaml", models + RESULTS)
    shown = project.assay("run", "run.yaml", "--json", MODEL_KEY="k")
    assert shown.code == 0, shown.err
    review, answer = shown.json["results"]
    assert answer["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 0.5
    for scorer in review["scorers"]:
        assert scorer["metrics"][0]["values"]["accuracy"]["value"] == 0.5
    assert project.assay("run", "run.yaml", MODEL_KEY="k").code == 0


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("task_key: capitals, model_key: one", "task_key: capitols, model_key: one", 'no task has the key "capitols"'),
        ("task_key: capitals, model_key: one", "task_key: capitals, model_key: onne", 'no model has the key "onne"'),
        ("model_key: one, key: long-one", "modle_key: one, key: long-one", 'unknown field "modle_key"'),
        ("task_config: {truth", "task_config: {thruth", 'has no config parameter "thruth"'),
        ("config: {truth: Oslo}", "", 'the config parameter "truth" has no value'),
        (
            "task_specification_keys: [capitals, capitals_1]",
            "task_specification_keys: [capital]",
            'has the key "capital"',
        ),
        ("- key: capitals\n", "- key: long\n", 'there is already a task with the key "long"'),
    ],
)
def test_a_wrong_run_file_says_where_before_anything_is_asked(evaluation, project, loopback, before, after, words):
    path = project.folder / "run.yaml"
    text = path.read_text()
    assert before in text
    project.write("run.yaml", text.replace(before, after))
    shown = evaluation()
    assert shown.code == 2
    assert words in shown.err
    assert "run.yaml:" in shown.err
    assert loopback.stats()["served"] == 0


def test_a_file_that_only_defines_things_is_checked_and_lists_them(project, loopback):
    project.write("run.yaml", TASKS)
    project.write("questions.jsonl", [{"q": "?", "a": "A"}])
    shown = project.assay("run", "run.yaml")
    assert shown.code == 0, shown.err
    assert "run.yaml has no evaluation to run; it defines:" in shown.out
    gated = project.assay("run", "run.yaml", "--gate")
    assert gated.code == 2
    assert "--gate needs policies, but run.yaml has no evaluation to run" in gated.err
    project.write("run.yaml", TASKS.replace("scorers:", "scorrers:"))
    assert project.assay("run", "run.yaml").code == 2


def test_an_evaluation_file_finds_its_parts_in_the_project(evaluation, project, loopback):
    models = "models:" + "".join(MODEL.format(key=key, url=loopback.url) for key in ("one", "two"))
    (project.folder / "run.yaml").unlink()
    project.write("parts/definitions.yaml", models + TASKS.replace("questions.jsonl", "../questions.jsonl"))
    lines = EVALUATION.strip().splitlines()
    project.write("evaluation.yaml", "\n".join(line.removeprefix("  ") for line in lines[1:-1]))
    shown = project.assay("run", "evaluation.yaml", "--config", "truth=Lima", "--json", MODEL_KEY="k")
    assert shown.code == 0, shown.err
    assert len(shown.json["results"]) == 6


def test_a_misspelt_model_is_found_by_check_without_a_key(evaluation, project):
    path = project.folder / "run.yaml"
    project.write(
        "run.yaml", path.read_text().replace("task_key: long, model_key: one", "task_key: long, model_key: onne")
    )
    shown = project.assay("check", "run.yaml")
    assert shown.code == 2
    assert 'no model has the key "onne"' in shown.out
    assert 'did you mean "one"?' in shown.out


def test_a_policy_about_a_value_that_nobody_has_names_the_nearest(evaluation, project):
    path = project.folder / "run.yaml"
    project.write("run.yaml", path.read_text().replace("metric: accuracy, operator", "metric: acuracy, operator"))
    shown = evaluation("--gate")
    assert shown.code == 1
    assert 'no value "acuracy" is in scope; did you mean "accuracy"?' in " ".join(shown.out.split())


def test_gate_needs_policies(project):
    project.write(
        "task.yaml",
        "key: t\ndisplay_name: T\ndefinition: {dataset: {source: {type: inline_samples, samples: [{a: 1}]}}}\n",
    )
    shown = project.assay("run", "task.yaml", "--gate")
    assert shown.code == 2
    assert "assay gate" in shown.err


MANY = """
evaluation:
  key: many
  display_name: Many
  task_specifications:
    - {task_key: capitals, model_key: one}
    - {task_key: long, model_key: two}
"""


@pytest.fixture
def slow(evaluation, project, loopback):
    """Two specifications on two models, two hundred samples each, at a server that takes its time."""
    project.write("questions.jsonl", [{"q": f"Question {i}", "a": f"a{i}"} for i in range(200)])
    evaluation.write(evaluation=MANY)
    loopback.configure(latency_ms=50)
    return evaluation


def test_stopped_by_hand_it_goes_on_where_it_was(slow, project, loopback):
    process = project.start("run", "run.yaml", MODEL_KEY="k")
    while loopback.stats()["served"] < 40:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "the same command goes on from there" in err
    asked = loopback.stats()["served"]
    assert asked < 400
    loopback.configure(latency_ms=0)
    assert {r["n_samples"] for r in slow("--json").json["results"]} == {200}
    # what was in flight when it stopped (4 a model) may be asked again, nothing else
    assert loopback.stats()["served"] <= 400 + 8


def test_killed_it_pays_only_for_what_was_in_flight(slow, project, loopback):
    process = project.start("run", "run.yaml", MODEL_KEY="k")
    while loopback.stats()["served"] < 60:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=60)
    loopback.configure(latency_ms=0)
    shown = slow("--json")
    assert shown.code == 0, shown.err
    assert {r["n_samples"] for r in shown.json["results"]} == {200}
    # besides those in flight, the replies of the last commit interval are lost with the process
    assert loopback.stats()["served"] <= 400 + 2 * (4 + 8)


def test_one_limit_holds_for_all_specifications_together(evaluation, project, loopback):
    prices = "prices: {input_per_million: 100, output_per_million: 100}\n    config"
    project.write("questions.jsonl", [{"q": f"Question {i}", "a": f"a{i}"} for i in range(50)])
    evaluation.write(evaluation=MANY)
    path = project.folder / "run.yaml"
    project.write("run.yaml", path.read_text().replace("config: {url", f"{prices}: {{url"))
    shown = evaluation("--json", "--max-cost", "0.45")
    assert shown.code == 3
    spent = sum(result["cost_usd"] for result in shown.json["results"])
    assert 0 < spent <= 0.45
    assert "partial" in {result["status"] for result in shown.json["results"]}


def test_a_task_and_an_evaluation_may_be_run_by_their_keys(project):
    samples = "{source: {type: inline_samples, samples: [{a: x}]}}"
    scorer = '[{type: contains, value: "{{ sample.a }}", substring: x}]'
    task = f"key: mine\ndisplay_name: Mine\ndefinition: {{dataset: {samples}, scorers: {scorer}}}\n"
    project.write("tasks/task.yaml", task)
    project.write("e.yaml", "key: ours\ndisplay_name: Ours\ntask_specifications: [{task_key: mine}]\n")
    assert project.assay("run", "mine", "--json").json["task"] == "mine"
    assert project.assay("run", "ours", "--json").json["evaluation"] == "ours"
    assert project.assay("plan", "ours").code == 0
    shown = project.assay("run", "yours")
    assert shown.code == 2
    assert "there is no file yours" in shown.err


def test_a_plan_goes_on_where_rows_are_not_generated_yet(project):
    project.write(
        "run.yaml",
        """
dataset_generators:
  - key: g
    display_name: G
    definition: {dataset: {type: empty, num_samples: 2}, synthesizers: [{type: template, template: x}]}
datasets: [{key: d, display_name: D, generator_specification: {dataset_generator_key: g, num_samples: 2}}]
tasks:
  - key: t
    display_name: T
    definition: {dataset: {key: d}, scorers: [{type: contains, value: "{{ sample.text }}", substring: x}]}
evaluation: {key: e, display_name: E, task_specifications: [{task_key: t}]}
""",
    )
    shown = project.assay("plan", "run.yaml")
    assert shown.code == 0, shown.err
    assert "rows to be" in shown.out
    assert project.assay("run", "run.yaml").code == 0
    assert "asks no model" in project.assay("plan", "run.yaml").out

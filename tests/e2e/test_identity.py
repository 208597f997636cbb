"""A number belongs to what produced it: whatever can change an answer or a score is never reused, the rest is.

Every table below mutates one field of one file. The observation is what a user sees: whether the command says that it
reuses the first run, and how many requests reach the model server.
"""

from __future__ import annotations

import copy
import json
import sys
from dataclasses import dataclass

import pytest

from assay.builtin import registry
from assay.cli.main import main
from assay.judging.criteria import Criterion, CriterionOption
from assay.scorers.rubric import JudgeSettings
from assay.spec.model import CustomConnection, ModelFile, PriceSettings
from assay.spec.sampling import SamplingSpec
from assay.spec.task import Action, Definition, Task, Trials
from assay.store import runs
from assay.store.store import open_for_reading

N = 3
RUBRIC = [
    {"name": "polite", "requirement": "Is polite.", "weight": 2},
    {
        "name": "clear",
        "requirement": "Is clear.",
        "scale_type": "ordinal",
        "aggregation": "mean",
        "options": [{"label": "no", "value": 0}, {"label": "yes", "value": 1}, {"label": "NA", "na": True}],
    },
]


def _model(key, url):
    return {
        "key": key,
        "display_name": "Model",
        "description": "A model.",
        "task": "chat_completion",
        "rate_limit": 6000,
        "max_concurrent_requests": 4,
        "tokens_per_minute": 1_000_000,
        "timeout": 30,
        "prices": {"input_per_million": 1, "output_per_million": 2},
        "sampling": {
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 64,
            "seed": 3,
            "stop": ["###"],
            "reasoning_effort": "low",
        },
        "config": {
            "connection_type": "custom_connection",
            "url": f"{url}/chat/completions",
            "api_key": "$MODEL_KEY",
            "model_key": key,
            "custom_headers": {"X-Route": "blue", "X-Token": "$HEADER_TOKEN"},
        },
    }


TASK = {
    "key": "graded",
    "display_name": "Graded",
    "description": "A task.",
    "long_description": "A longer text.",
    "tags": ["a"],
    "tasks": ["chat_completion"],
    "config_spec": [{"type": "string", "key": "tone", "display_name": "Tone", "default_value": "kind"}],
    "definition": {
        "type": "benchmark_task",
        "dataset": {"source": {"type": "local", "file_path": "data.jsonl", "id_column": "id"}},
        "solver": {
            "type": "single_turn_solver",
            "input_builder": {
                "type": "chat_completion",
                "input_messages": [{"role": "user", "content": "Be << config.tone >>. {{ sample.question }}"}],
            },
        },
        "scorers": [
            {
                "key": "exact",
                "type": "string_equals",
                "display_name": "Exact",
                "ground_truth": "{{ sample.answer }}",
                "normalize": ["strip"],
                "allow_empty": False,
                "metrics": [{"type": "mean", "field": "is_correct", "name": "accuracy"}],
            },
            {
                "type": "rubric",
                "rubric": "rubric.yaml",
                "judges": [{"model_key": "judge", "id": "j", "weight": 1, "sampling": {"temperature": 0}}],
                "llm_calls": "per_item",
            },
        ],
        "actions": [
            {"key": "drop", "action": "exclude_from_metrics", "filter": "scores.exact.is_correct > 1"},
        ],
    },
}
SOLVER = ("definition", "solver")
EXACT = ("definition", "scorers", 0)
PANEL = ("definition", "scorers", 1)


@dataclass(frozen=True)
class Change:
    """One mutated field: whether the first run is `reused` as a whole, and how many requests are `asked`."""

    path: tuple
    value: object
    reused: bool
    asked: int = 0

    def __str__(self) -> str:
        return ".".join(str(step) for step in self.path)


OF_A_MODEL = [
    Change(("display_name",), "Other", reused=True),
    Change(("description",), "Another text.", reused=True),
    Change(("rate_limit",), 1200, reused=True),
    Change(("max_concurrent_requests",), 2, reused=True),
    Change(("tokens_per_minute",), 500_000, reused=True),
    Change(("timeout",), 20, reused=True),
    Change(("max_reply_mb",), 8, reused=True),
    Change(("resources",), {"num_cpus": 2}, reused=True),
    Change(("prices", "input_per_million"), 9, reused=True),
    Change(("prices", "output_per_million"), 9, reused=True),
    Change(("sampling", "temperature"), 0.6, reused=False, asked=N),
    Change(("sampling", "top_p"), 0.8, reused=False, asked=N),
    Change(("sampling", "max_tokens"), 63, reused=False, asked=N),
    Change(("sampling", "seed"), 4, reused=False, asked=N),
    Change(("sampling", "stop"), ["##"], reused=False, asked=N),
    Change(("sampling", "reasoning_effort"), "high", reused=False, asked=N),
    Change(("config", "url"), "{url}/other/chat/completions", reused=False, asked=N),
    Change(("config", "model_key"), "newer", reused=False, asked=N),
    Change(("config", "api_key"), "$OTHER_KEY", reused=True),
    Change(("config", "custom_headers", "X-Route"), "green", reused=False, asked=N),
    Change(("config", "custom_headers", "X-New"), "1", reused=False, asked=N),
    Change(("config", "custom_headers", "X-Token"), "$OTHER_TOKEN", reused=True),
]
OF_A_TASK = [
    Change(("display_name",), "Other", reused=True),
    Change(("description",), "Another text.", reused=True),
    Change(("long_description",), "Another text.", reused=True),
    Change(("tags",), ["b"], reused=True),
    Change(("env",), ["HOME"], reused=True),
    Change(("key",), "other", reused=False),
    Change(("config_spec", 0, "default_value"), "rude", reused=False, asked=N),
    Change(("config_spec", 0, "display_name"), "Other", reused=True),
    Change(("definition", "dataset", "source", "id_column"), "number", reused=False),
    Change(("definition", "dataset", "source", "file_path"), "copy.jsonl", reused=True),
    Change(
        (*SOLVER, "input_builder", "input_messages", 0, "content"), "Hi. {{ sample.question }}", reused=False, asked=N
    ),
    Change((*SOLVER, "input_builder", "input_messages", 0, "role"), "system", reused=False, asked=N),
    Change((*SOLVER, "sampling"), {"temperature": 0.9}, reused=False, asked=N),
    Change((*EXACT, "key"), "same", reused=False),
    Change((*EXACT, "display_name"), "Other", reused=True),
    Change((*EXACT, "ground_truth"), "{{ sample.id }}", reused=False),
    Change((*EXACT, "normalize"), [], reused=False),
    Change((*EXACT, "allow_empty"), True, reused=False),
    Change((*EXACT, "purpose"), "qa", reused=False),
    Change((*EXACT, "metrics"), [{"type": "mean", "field": "is_correct", "name": "other"}], reused=False),
    Change((*PANEL, "rubric"), "same-rubric.yaml", reused=True),
    Change((*PANEL, "judges", 0, "model_key"), "stub", reused=False, asked=N),
    Change((*PANEL, "judges", 0, "id"), "other", reused=False, asked=None),
    Change((*PANEL, "judges", 0, "weight"), 2, reused=False),
    Change((*PANEL, "judges", 0, "sampling", "temperature"), 0.1, reused=False, asked=N),
    Change((*PANEL, "llm_calls"), "per_criterion", reused=False, asked=2 * N),
    Change((*PANEL, "seed"), 7, reused=False, asked=None),
    Change((*PANEL, "repeats"), 2, reused=False, asked=N),
    Change(
        (*PANEL, "escalation"),
        {"judges": [{"model_key": "stub", "id": "strong"}], "threshold": 1.0},
        reused=False,
        asked=None,
    ),
    Change((*PANEL, "prompt"), "Write {{ sample.id }}.", reused=False, asked=N),
    *(
        Change((*PANEL, name), value, reused=False, asked=None)
        for name, value in {
            "aggregation": "any",
            "ordinal_aggregation": "median",
            "nominal_aggregation": "worst",
            "shuffle": False,
            "auto_na_option": False,
            "cannot_assess": "zero",
            "partial_credit": 0.4,
            "min_coverage": 0.1,
            "score_value": "continuous",
            "on_failed_criterion": "skip",
            "reference": "{{ sample.answer }}",
            "ground_truth": "{{ sample.labels }}",
        }.items()
    ),
    Change(("definition", "trials"), {"num_trials": 2}, reused=False, asked=None),
    Change(("definition", "actions", 0, "filter"), "scores.exact.is_correct > 2", reused=False),
    Change(("definition", "actions", 0, "key"), "other", reused=False),
]
OF_A_RUBRIC = [
    Change((0, "name"), "courteous", reused=False, asked=None),
    Change((0, "requirement"), "Is very polite.", reused=False, asked=N),
    Change((0, "weight"), 3, reused=False),
    Change((0, "scale_type"), "nominal", reused=False, asked=None),
    Change((1, "aggregation"), "median", reused=False),
    Change((1, "options", 0, "label"), "never", reused=False, asked=N),
    Change((1, "options", 0, "value"), 0.1, reused=False),
    Change((1, "options", 2), {"label": "NA", "value": 0.5, "na": False}, reused=False, asked=None),
]


class Laboratory:
    """A project with its first runs, and the commands run in this process."""

    def __init__(self, project, loopback, monkeypatch, capsys):
        self.project, self.loopback, self._patch, self._capture = project, loopback, monkeypatch, capsys
        loopback.configure(body="auto")
        self.documents = {
            "model.yaml": _model("stub", loopback.url),
            "judge.yaml": _model("judge", loopback.url),
            "task.yaml": TASK,
            "rubric.yaml": RUBRIC,
            "same-rubric.yaml": RUBRIC,
        }
        for name, document in self.documents.items():
            project.write(name, json.dumps(document))
        rows = [
            {
                "id": f"s{i}",
                "number": i,
                "question": f"Question {i}? [[reply: answer {i}]]",
                "answer": f"answer {i}",
                "labels": ["MET", "yes"],
            }
            for i in range(N)
        ]
        project.write("data.jsonl", rows)
        project.write("copy.jsonl", rows)
        for row in rows:
            project.write(f"texts/{row['id']}.txt", row["answer"])
        project.write(".env", "MODEL_KEY=k1\nOTHER_KEY=k2\nHEADER_TOKEN=t1\nOTHER_TOKEN=t2\n")
        monkeypatch.chdir(project.folder)

    def change(self, name, change):
        document = copy.deepcopy(self.documents[name])
        *steps, last = change.path
        node = document
        for step in steps:
            node = node[step]
        value = change.value
        node[last] = value.format(url=self.loopback.url) if isinstance(value, str) and "{url}" in value else value
        self.project.write(name, json.dumps(document))

    def assay(self, *arguments):
        """Run a command in this process; its JSON and the number of requests it cost."""
        before = self.loopback.stats()["served"]
        self._patch.setattr(sys, "argv", ["assay", *arguments, "--json"])
        with pytest.raises(SystemExit) as left:
            main()
        shown = self._capture.readouterr()
        # an audit ends with 1 when a judge does not pass
        assert left.value.code in ((0, 1) if arguments[0] == "audit" else (0,)), shown.err
        return json.loads(shown.out), self.loopback.stats()["served"] - before

    def identity(self, run):
        store = open_for_reading(str(self.project.folder / ".assay" / "assay.db"))
        try:
            return runs.find(store, run).identity
        finally:
            store.close()

    def assert_reuse(self, arguments, change):
        """The command after the change: reuses the first run or not, and asks as often as the table says."""
        first, _ = self.first
        after, asked = self.assay(*arguments)
        same = self.identity(after["run"]) == self.identity(first["run"])
        assert same is change.reused, after
        if change.asked is not None:
            assert asked == change.asked
        if change.reused:
            assert after["reused_from"] == [first["run"]]
        if asked == 0:
            assert after["n_cached"] == N

    def begin(self, *arguments):
        self.first = self.assay(*arguments)
        again, asked = self.assay(*arguments)
        assert (asked, again["reused_from"], again["n_cached"]) == (0, [self.first[0]["run"]], N)


@pytest.fixture
def laboratory(project, loopback, monkeypatch, capsys):
    return Laboratory(project, loopback, monkeypatch, capsys)


RUN = ("run", "task.yaml", "--model", "stub", "-q")
PLAN = ("plan", "task.yaml", "--model", "stub")
GRADE = ("grade", "rubric.yaml", "texts", "--judge", "judge", "-q")
AUDIT = ("audit", "rubric.yaml", "--submissions", "texts", "--judge", "judge", "--yes", "-q")


def _ids(changes):
    return [str(change) for change in changes]


def _plan_agrees(laboratory, change):
    """What `plan` announces before `run` does it: the cells that are done, the calls that are left, and from where."""
    plan, asked = laboratory.assay(*PLAN)
    assert asked == 0
    assert (plan["n_done"] == plan["n_cells"]) is change.reused
    calls = sum(model["calls"] for model in plan["models"])
    if change.asked is not None:
        assert (calls == 0) is (change.asked == 0)
    if change.reused:
        assert plan["reused_from"] == [laboratory.first[0]["run"]]


@pytest.mark.parametrize("change", OF_A_MODEL, ids=_ids(OF_A_MODEL))
def test_a_changed_model_file_and_what_run_and_plan_make_of_it(laboratory, change):
    laboratory.begin(*RUN)
    laboratory.change("model.yaml", change)
    _plan_agrees(laboratory, change)
    # the judge sees the same answer again, at temperature 0
    laboratory.assert_reuse(RUN, change)


@pytest.mark.parametrize("change", OF_A_MODEL, ids=_ids(OF_A_MODEL))
def test_a_changed_judge_and_what_grade_and_audit_make_of_it(laboratory, change):
    laboratory.begin(*GRADE)
    probes, _ = laboratory.assay(*AUDIT)
    laboratory.change("judge.yaml", change)
    # judges answer at temperature 0 whatever the model file says: another run, the same requests
    overridden = change.path == ("sampling", "temperature")
    asked = 0 if overridden else 2 * change.asked
    laboratory.assert_reuse(GRADE, Change(change.path, change.value, change.reused, asked))
    again, asked = laboratory.assay(*AUDIT)
    assert (asked == 0) is (change.reused or overridden)
    same = {
        name: laboratory.identity(run) == laboratory.identity(probes["runs"][name])
        for name, run in again["runs"].items()
    }
    assert set(same.values()) == {change.reused}


@pytest.mark.parametrize("change", OF_A_RUBRIC, ids=_ids(OF_A_RUBRIC))
def test_a_changed_rubric_and_what_run_plan_and_grade_make_of_it(laboratory, change):
    graded, _ = laboratory.assay(*GRADE)
    laboratory.begin(*RUN)
    laboratory.change("rubric.yaml", change)
    _plan_agrees(laboratory, change)
    laboratory.assert_reuse(RUN, change)
    after, _ = laboratory.assay(*GRADE)
    assert laboratory.identity(after["run"]) != laboratory.identity(graded["run"])


@pytest.mark.parametrize("change", OF_A_TASK, ids=_ids(OF_A_TASK))
def test_a_changed_task_and_what_run_and_plan_make_of_it(laboratory, change):
    laboratory.begin(*RUN)
    laboratory.change("task.yaml", change)
    if change.path != ("definition", "trials"):
        _plan_agrees(laboratory, change)
    laboratory.assert_reuse(RUN, change)


OF_SCORERS = [change for change in OF_A_TASK if change.path[:3] == EXACT]


@pytest.mark.parametrize("change", OF_SCORERS, ids=_ids(OF_SCORERS))
def test_a_changed_scorer_and_what_rescore_makes_of_it(laboratory, change):
    answered, _ = laboratory.assay(*RUN)
    rescore = ("rescore", answered["run"], "task.yaml")
    first, asked = laboratory.assay(*rescore)
    assert (asked, first["reused_from"]) == (0, [answered["run"]])
    laboratory.change("task.yaml", change)
    after, asked = laboratory.assay(*rescore)
    assert (asked, after["reused_from"]) == (0, [answered["run"]])
    assert (laboratory.identity(after["run"]) == laboratory.identity(first["run"])) is change.reused


@pytest.mark.parametrize(
    ("option", "same", "asked"),
    [
        (("--seed", "5"), False, 0),
        (("--limit", "2"), False, 0),
        (("--config", "tone=rude"), False, N),
        (("--config", "tone=kind"), True, 0),
        (("--name", "mine"), True, 0),
        (("--tag", "nightly"), True, 0),
        (("--max-concurrency", "2"), True, 0),
        (("--max-cost", "5"), True, 0),
        (("--max-failures", "0.5"), True, 0),
        (("--fresh",), True, 2 * N),
    ],
    ids=str,
)
def test_the_options_of_a_run(laboratory, option, same, asked):
    laboratory.begin(*RUN)
    after, requests = laboratory.assay(*RUN, *option)
    assert requests == asked
    assert (laboratory.identity(after["run"]) == laboratory.identity(laboratory.first[0]["run"])) is same
    assert ("reused_from" in after) is (option != ("--fresh",))


def _first_row(laboratory, **changes):
    lines = (laboratory.project.folder / "data.jsonl").read_text(encoding="utf-8").splitlines()
    laboratory.project.write("data.jsonl", [{**json.loads(lines[0]), **changes}, *map(json.loads, lines[1:])])


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"question": "Really? [[reply: answer 0]]"}, 1),
        ({"answer": "answer 7"}, 0),
        ({"id": "other"}, 0),
        ({"unused": 1}, 0),
    ],
    ids=str,
)
def test_a_changed_sample_is_another_dataset_and_only_new_questions_are_asked(laboratory, changes, asked):
    laboratory.begin(*RUN)
    _first_row(laboratory, **changes)
    laboratory.assert_reuse(RUN, Change((), None, reused=False, asked=asked))


GENERATOR = {
    "dataset_generators": [
        {
            "key": "harder",
            "display_name": "Harder",
            "description": "Harder questions",
            "definition": {
                "dataset": {"type": "dataset_samples", "key": "facts"},
                "synthesizers": [
                    {
                        "type": "llm",
                        "model_key": "stub",
                        "user_prompt_template": "Harder than {{ source.question }}",
                        "sample_properties": {"harder": "one sentence"},
                    }
                ],
            },
        }
    ],
    "datasets": [
        {"key": "facts", "display_name": "Facts", "source": {"type": "local", "file_path": "facts.jsonl"}},
        {
            "key": "questions",
            "display_name": "Questions",
            "generator_specification": {"dataset_generator_key": "harder", "num_samples": N},
        },
    ],
    "evaluation": {"key": "e", "display_name": "E", "task_specifications": []},
}
SYNTHESIZER = ("dataset_generators", 0, "definition", "synthesizers", 0)
OF_A_GENERATOR = [
    Change(("dataset_generators", 0, "display_name"), "Other", reused=True),
    Change(("dataset_generators", 0, "description"), "Other", reused=True),
    Change(("datasets", 1, "display_name"), "Other", reused=True),
    Change((*SYNTHESIZER, "user_prompt_template"), "Easier than {{ source.question }}", reused=False, asked=N),
    Change((*SYNTHESIZER, "system_prompt"), "Be brief.", reused=False, asked=N),
    Change((*SYNTHESIZER, "sampling"), {"temperature": 0.1}, reused=False, asked=N),
    Change((*SYNTHESIZER, "model_key"), "judge", reused=False, asked=N),
    Change((*SYNTHESIZER, "sample_properties"), {"harder": "two sentences"}, reused=False, asked=N),
    Change(("datasets", 1, "generator_specification", "num_samples"), 2, reused=False, asked=0),
]


@pytest.fixture
def generator(laboratory):
    laboratory.loopback.configure(json_fallback='{"harder": "Why?"}', text='{"harder": "Why?"}')
    laboratory.documents["run.yaml"] = GENERATOR
    laboratory.project.write("run.yaml", json.dumps(GENERATOR))
    laboratory.project.write("facts.jsonl", [{"question": f"Question {i}?"} for i in range(N)])
    laboratory.made = laboratory.assay(*GENERATE)
    assert laboratory.made[1] == N
    assert laboratory.assay(*GENERATE)[1] == 0
    return laboratory


GENERATE = ("generate", "run.yaml", "--dataset", "questions", "-q")


def _is_the_same_dataset(generator, change):
    again, asked = generator.assay(*GENERATE)
    assert asked == change.asked
    assert (again["file"] == generator.made[0]["file"]) is change.reused


@pytest.mark.parametrize("change", OF_A_GENERATOR, ids=_ids(OF_A_GENERATOR))
def test_a_changed_generator_and_what_generate_makes_of_it(generator, change):
    generator.change("run.yaml", change)
    _is_the_same_dataset(generator, change)


@pytest.mark.parametrize("change", OF_A_MODEL, ids=_ids(OF_A_MODEL))
def test_a_changed_model_file_and_what_generate_makes_of_it(generator, change):
    generator.change("model.yaml", change)
    _is_the_same_dataset(generator, change)


PLUGIN = """
import assay
import helper

LENGTH = 1

@assay.scorer(range=(0, 1))
def short(answer: str) -> float:
    return float(len(answer) < helper.LIMIT + LENGTH)
"""


@pytest.mark.parametrize(
    ("file", "old", "new", "reused"),
    [
        ("mine.py", "return float(", "return 1 - float(", False),
        ("mine.py", "LENGTH = 1", "LENGTH = -99", False),
        ("helper.py", "LIMIT = 99", "LIMIT = 0", False),
        ("unused.py", "x = 1", "x = 2", True),
    ],
)
def test_the_source_of_a_plug_in(live, file, old, new, reused):
    task = {
        **TASK,
        "config_spec": [],
        "definition": {**TASK["definition"], "actions": [], "scorers": [{"type": "short"}]},
    }
    task["definition"]["solver"] = {
        "type": "single_turn_solver",
        "input_builder": {
            "type": "chat_completion",
            "input_messages": [{"role": "user", "content": "{{ sample.question }}"}],
        },
    }
    task["definition"]["dataset"] = {"source": {"type": "local", "file_path": "data.jsonl"}}
    project = live(N, task=json.dumps(task))
    for name, text in {"mine.py": PLUGIN, "helper.py": "LIMIT = 99\n", "unused.py": "x = 1\n"}.items():
        project.write(name, text)
    command = ("run", "task.yaml", "--model", "model.yaml", "--plugin", "mine", "--json", "-q")
    first = project.assay(*command).json
    project.write(file, (project.folder / file).read_text(encoding="utf-8").replace(old, new))
    plan = project.assay("plan", "task.yaml", "--model", "model.yaml", "--plugin", "mine", "--json").json
    after = project.assay(*command).json
    assert (plan["n_done"] == N) is reused
    assert sum(model["calls"] for model in plan["models"]) == 0, "replies are reused in any case"
    values = [run["scorers"][0]["metrics"][0]["values"] for run in (first, after)]
    assert (values[0] == values[1]) is reused


def _fields(*kinds):
    return {name for kind in kinds for name in kind.model_fields}


ELSEWHERE = {
    "secrets": "values of << secrets.NAME >>, which are never stored",
    "config": "its fields are in the table one by one",
    "adapter": "part of the endpoint's identity: tests/models/test_cache_key.py",
    "tls_context": "how the connection is made; it changes no reply",
    "connection_type": "another type is another file",
    "type": "another type has other settings",
    "task": "models of other kinds are not asked by this task",
    "tasks": "what a task may be used for",
    "definition": "its fields are in the table one by one",
    "dataset": "its fields are in the table one by one",
    "solver": "its fields are in the table one by one",
    "scorers": "their fields are in the table one by one",
    "evaluated_entity_type": "a word for people",
    "message_format": "the format of recorded traces: tests/solvers",
    "postprocessor": "code: tests/e2e/test_code_kinds.py",
    "input_builder": "its fields are in the table one by one",
    "value": "the same as ground_truth",
    "min_votes": "more than one judge: tests/scorers/test_rubric.py",
    "action": "there is one kind of action",
    "filters": "tests/datasets",
    "score_aggregators": "part of trials",
    "num_trials": "part of trials",
    "options": "in the table one by one",
}


def test_the_tables_have_every_field():
    kinds = registry()
    model = _fields(ModelFile, CustomConnection, SamplingSpec, PriceSettings) - {"key"}
    task = _fields(
        Task,
        Definition,
        Trials,
        Action,
        JudgeSettings,
        kinds.solvers["single_turn_solver"].settings,
        kinds.scorers["string_equals"].settings,
        kinds.scorers["rubric"].settings,
        kinds.sources["local"].settings,
    )
    rubric = _fields(Criterion, CriterionOption) - {"na"}
    for fields, changes in ((model, OF_A_MODEL), (task, OF_A_TASK), (rubric, OF_A_RUBRIC)):
        in_the_table = {step for change in changes for step in change.path}
        assert not fields - in_the_table - ELSEWHERE.keys()


def test_replies_of_a_python_callable_are_never_reused_for_another(laboratory):
    import assay

    def model(answer):
        return lambda messages, **parameters: answer

    results = [assay.run("task.yaml", model=model(answer)) for answer in ("answer 0", "answer 1", "answer 0")]
    correct = [result.metrics["accuracy"].value for result in results]
    assert correct == [pytest.approx(1 / 3)] * 3
    assert results[1].run != results[0].run
    assert [result.report.n_cached for result in results] == [0, 0, N]

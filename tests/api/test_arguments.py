"""Every public function refuses wrong names and values in words of its own, before it reads or pays anything."""

from __future__ import annotations

import asyncio
import inspect
from decimal import Decimal

import pytest

import assay

FUNCTIONS = {
    name: getattr(assay, name)
    for name in assay.__all__
    if inspect.isfunction(getattr(assay, name)) or inspect.iscoroutinefunction(getattr(assay, name))
}
SUBJECT = {
    "arun": ("no-such.yaml",),
    "check": ("no-such.yaml",),
    "compare": ("a", "b"),
    "metric": (),
    "run": ("no-such.yaml",),
    "run_evaluation": ("no-such.yaml",),
    "scorer": (),
    "write_report": ("a",),
}
RUNNING = ("run", "arun", "run_evaluation")
WRONG = [
    *((name, {"name": 3}, "text") for name in (*RUNNING, "scorer", "metric")),
    *((name, {"seed": "q"}, "a whole number") for name in RUNNING),
    *((name, {"seed": True}, "a whole number") for name in RUNNING),
    *((name, {"limit": 0}, "at least 1") for name in RUNNING),
    *((name, {"limit": 2.5}, "at least 1") for name in RUNNING),
    *((name, {"tags": 3}, "text or a list of texts") for name in RUNNING),
    *((name, {"tags": ["a", 3]}, "text or a list of texts") for name in RUNNING),
    *((name, {"model": 3}, "the name of a model") for name in RUNNING),
    *((name, {"store": 3}, "text") for name in (*RUNNING, "compare")),
    *((name, {"config": ["a"]}, "a mapping") for name in (*RUNNING, "check")),
    *((name, {"fresh": "yes"}, "True or False") for name in RUNNING),
    *((name, {"allow_code": 1}, "True or False") for name in RUNNING),
    *((name, {"max_cost": -1}, "at least 0") for name in RUNNING),
    *((name, {"max_cost": "free"}, "at least 0") for name in RUNNING),
    *((name, {"max_cost": float("nan")}, "at least 0") for name in RUNNING),
    *((name, {"max_concurrency": 0}, "at least 1") for name in RUNNING),
    *((name, {"cache_policy": "never"}, "one of reuse, update, no-cache") for name in RUNNING),
    *((name, {"subsampling": "tail"}, "one of head, random") for name in RUNNING),
    *((name, {"code_timeout": 0}, "above 0") for name in RUNNING),
    *((name, {"dataset": 3}, "a path") for name in ("run", "arun")),
    ("run_evaluation", {"failures": "worse"}, "one of limit, worst, ignore"),
    ("run_evaluation", {"max_failures": 5}, "from 0 to 1"),
    ("compare", {"metric": 3}, "text or a list of texts"),
    ("compare", {"level": 95}, "between 0 and 1"),
    ("compare", {"margin": -1}, "at least 0"),
    ("compare", {"lower_is_better": 3}, "text or a list of texts"),
    ("compare", {"ignored": [None]}, "text or a list of texts"),
    ("compare", {"all_pairs": "yes"}, "True or False"),
    ("write_report", {"to": 3}, "a path"),
    ("write_report", {"format": "pdf"}, "one of html, md, latex"),
    ("write_report", {"figures": 3}, "a path"),
    ("write_report", {"store": 3}, "text"),
    ("scorer", {"range": 3}, "two numbers"),
    ("scorer", {"fields": "abc"}, "a list of texts"),
    ("metric", {"per_sample": 1}, "True or False"),
    ("metric", {"range": (0, "1")}, "two numbers"),
]
MISSPELLED = {
    "arun": ("modle", "model"),
    "check": ("confg", "config"),
    "compare": ("metrc", "metric"),
    "metric": ("persample", "per_sample"),
    "run": ("max_costs", "max_cost"),
    "run_evaluation": ("max_failurs", "max_failures"),
    "scorer": ("feilds", "fields"),
    "write_report": ("figure", "figures"),
}


def call(name, /, *subject, **options):
    returned = FUNCTIONS[name](*subject, **options)
    if inspect.iscoroutine(returned):
        asyncio.run(returned)


def test_every_public_function_is_in_the_tables():
    assert set(FUNCTIONS) == set(SUBJECT) == set(MISSPELLED)
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters.values()
        keywords = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
        tested = {option for other, options, _ in WRONG if other == name for option in options}
        assert keywords <= tested, name


@pytest.mark.parametrize(("name", "options", "expected"), WRONG)
def test_a_wrong_value_names_the_parameter_and_what_was_expected(name, options, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ((option, value),) = options.items()
    with pytest.raises(assay.SpecError) as raised:
        call(name, *SUBJECT[name], **options)
    message = str(raised.value)
    assert message.startswith(f"{name}({option}=...): expected ")
    assert expected in message
    assert message.endswith(f"got {value!r}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_misspelled_keyword_names_the_nearest(name):
    wrong, meant = MISSPELLED[name]
    with pytest.raises(assay.SpecError, match=f'^{name} has no option "{wrong}"; did you mean "{meant}"\\?$'):
        call(name, *SUBJECT[name], **{wrong: 1})


@pytest.mark.parametrize(
    ("name", "subject", "said"),
    [
        ("run", (3,), r"run\(path=...\): expected a path, got 3"),
        ("run", (), "run: missing a required argument: 'path'"),
        ("run", ("a.yaml", "b.yaml"), "run: too many positional arguments"),
        ("check", ("a.yaml", 3), r"check\(paths=...\): expected a path, got 3"),
        ("compare", (3, "b"), r"compare\(baseline=...\): expected the name of a run or a result, got 3"),
        ("compare", ("a", 3), r"compare\(others=...\): expected the name of a run or a result, got 3"),
        ("scorer", (3,), r"scorer\(function=...\): expected a function, got 3"),
    ],
)
def test_a_wrong_subject_is_refused(name, subject, said):
    with pytest.raises(assay.SpecError, match=said):
        call(name, *subject)


def test_trials_are_the_tasks_own():
    with pytest.raises(assay.SpecError, match='run has no option "trials"'):
        assay.run("no-such.yaml", trials=0)


@pytest.mark.parametrize("most", [0, 1, 0.1, Decimal("0.1")])
def test_any_number_is_a_spending_limit(project, most):
    project.write("data.jsonl", [{"a": "x"}])
    scorer = '{type: string_equals, value: "{{ sample.a }}", ground_truth: x}'
    dataset = "{source: {type: local, file_path: data.jsonl}}"
    path = project.write(
        "task.yaml", f"key: t\ndisplay_name: T\ndefinition:\n  dataset: {dataset}\n  scorers: [{scorer}]\n"
    )
    assert assay.run(path, max_cost=most, tags="one").metrics["string_equals/mean/accuracy"].value == 1.0

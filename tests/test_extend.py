"""Scorers and metrics from functions: settings from parameters, failures that stay failures."""

import re
from pathlib import Path

import click
import pytest

import assay
from assay.cli.main import COMMANDS, cli
from assay.errors import SpecError
from assay.registry import ScorerKind

PLUGIN = """
import assay

@assay.scorer(range=(0, 1))
def closer(answer: str, truth: str, weight: float = 1.0) -> float:
    "Does the reply begin like the truth?"
    if answer == "broken":
        raise ValueError("cannot read this")
    return weight * float(answer[:1] == truth[:1])

@assay.scorer(fields=("words", "letters"))
def size(sample: dict) -> dict:
    "How long the row is."
    return {"words": len(sample["reply"].split()), "letters": len(sample["reply"])}

@assay.metric
def width(values: list[float], power: int = 1) -> float:
    "The greatest value minus the least."
    return (max(values) - min(values)) ** power
"""

TASK = """
key: t
display_name: T
definition:
  dataset: {source: {type: inline_samples, samples: [
    {reply: yes sir, truth: yes}, {reply: no, truth: yes}, {reply: broken, truth: b}]}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - {type: closer, truth: "{{ sample.truth }}", weight: 0.5}
    - {type: size, metrics: [{type: width, field: letters, power: 2}, {type: mean, field: words}]}
"""


@pytest.fixture
def plugged(project):
    project.write("mine.py", PLUGIN)
    project.write("task.yaml", TASK.replace("truth: yes", 'truth: "yes"').replace("reply: no", 'reply: "no"'))
    return project


def test_functions_become_scorers_and_metrics_that_files_can_name(plugged):
    shown = plugged.assay("run", "task.yaml", "--plugin", "mine", "--json", "--max-failures", "1")
    assert shown.code == 0, shown.err
    closer, size = shown.json["scorers"]
    mean = closer["metrics"][0]["values"]["closer"]
    assert (mean["value"], mean["n"]) == (0.25, 2)
    assert mean["method"] == "guarded"
    width, words = size["metrics"]
    assert width["values"]["letters_width"]["value"] == (len("yes sir") - len("no")) ** 2
    assert "no interval" in width["values"]["letters_width"]["caveat"]
    assert words["values"]["words_mean"]["value"] == pytest.approx(4 / 3)


def test_what_a_function_raises_is_a_failure_of_its_sample(plugged):
    shown = plugged.assay("run", "task.yaml", "--plugin", "mine", "--json")
    assert shown.code == 3
    assert shown.json["failures"] == {"code": 1}
    found = plugged.assay("samples", "--failed", "--json", ASSAY_PLUGINS="mine").lines
    assert found[0]["failures"][0]["detail"] == "ValueError: cannot read this"


def test_a_plug_in_by_variable_and_in_the_schema(plugged):
    assert plugged.assay("check", "task.yaml", ASSAY_PLUGINS="mine").code == 0
    assert '"closer"' in plugged.assay("schema", "--plugin", "mine").out


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("nowhere", 'the plug-in "nowhere" could not be loaded: No module named'),
        ("json", 'the plug-in "json" could not be loaded: it holds no scorer'),
    ],
)
def test_a_plug_in_that_is_none_is_named(plugged, module, words):
    shown = plugged.assay("run", "task.yaml", "--plugin", module)
    assert shown.code == 2
    assert words in shown.err


def test_a_missing_or_unknown_setting_is_found_before_the_run(plugged):
    plugged.write("task.yaml", TASK.replace('truth: "{{ sample.truth }}"', "thruth: x"))
    shown = plugged.assay("run", "task.yaml", "--plugin", "mine")
    assert shown.code == 2
    assert 'unknown field "thruth" in closer; did you mean "truth"?' in shown.err


def test_a_name_of_ones_own():
    kind = assay.scorer(name="loud")(lambda answer: 1.0)
    assert isinstance(kind, ScorerKind)
    assert (kind.name, kind.summary) == ("loud", "A scorer of your own.")
    assert assay.metric(name="most")(lambda values: max(values)).name == "most"


def test_a_parameter_that_every_scorer_has_is_refused():
    with pytest.raises(SpecError, match='a parameter cannot be called "purpose"'):
        assay.scorer(lambda answer, purpose: 1.0)


def test_a_metric_needs_values():
    with pytest.raises(SpecError, match="takes no values"):
        assay.metric(lambda: 1.0)


def test_a_value_outside_the_declared_range_is_a_failure_that_names_it(plugged):
    plugged.write("task.yaml", (plugged.folder / "task.yaml").read_text().replace("weight: 0.5", "weight: 5"))
    shown = plugged.assay("run", "task.yaml", "--plugin", "mine", "--json", "--max-failures", "1")
    closer = shown.json["scorers"][0]
    assert (closer["n_scored"], closer["n_failed"]) == (1, 2)
    assert "no declared range" not in shown.out
    outside, _ = plugged.assay("samples", "--failed", "--json").lines
    detail = 'ValueError: the value "closer" is 5, outside its range from 0 to 1'
    assert outside["failures"][0]["detail"] == detail


def test_a_range_that_is_none_is_refused():
    with pytest.raises(SpecError, match="from the least value to the greatest"):
        assay.scorer(range=(1, 1))(lambda answer: 1.0)


MIXED = """
import assay

@assay.scorer(name="mixed")
def mixed(answer: str):
    return "many" if answer == "broken" else len(answer)
"""


def test_text_of_one_sample_leaves_its_metric_undefined_and_all_other_numbers_stand(plugged):
    plugged.write("odd.py", MIXED)
    task = (plugged.folder / "task.yaml").read_text() + "    - {type: mixed}\n"
    plugged.write("task.yaml", task)
    shown = plugged.assay("run", "task.yaml", "--plugin", "mine", "--plugin", "odd", "--json", "--max-failures", "1")
    assert shown.code == 0, shown.err
    closer, _, odd = shown.json["scorers"]
    assert closer["metrics"][0]["values"]["closer"]["value"] == 0.25
    value = odd["metrics"][0]["values"]["mixed"]
    assert value["value"] is None
    assert value["reason"] == 'the field "mixed" must be a number, but in sample 2 it is the text "many"'
    again = plugged.assay("show", "--json")
    assert again.json["scorers"][2]["metrics"][0]["values"]["mixed"] == value


def test_a_metric_takes_a_range_only_of_single_samples_and_says_whether_it_has_them():
    with pytest.raises(SpecError, match="add per_sample=True"):
        assay.metric(range=(0, 1))(lambda values: 1.0)
    with pytest.raises(SpecError, match="per_sample=...\\): expected True or False"):
        assay.metric(per_sample=lambda value: value)(lambda values: 1.0)
    with pytest.raises(SpecError, match="from the least value to the greatest"):
        assay.metric(per_sample=True, range=(1, 0))(lambda value: 1.0)
    assert assay.metric(lambda values: 1.0).per_sample is None


PAGE = Path(__file__).parents[1] / "docs" / "extending.md"


@pytest.fixture
def lengths(project):
    """Two runs of the page's example of a metric that can be compared; gives their ids."""
    blocks = re.findall(r"^```(?:python|yaml)\n# (\S+)\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    for name, text in blocks:
        project.write(name, text)

    def run(long):
        replies = ["one two three four" if i < long else "one two" for i in range(40)]
        project.write("replies.jsonl", [{"sample_id": str(i), "reply": reply} for i, reply in enumerate(replies)])
        shown = project.assay("run", "task.yaml", "--plugin", "lengths", "--json", "-q")
        assert shown.code == 0, shown.err
        return shown.json

    return project, run(4), run(20)


def test_a_metric_of_single_samples_has_an_interval_and_can_be_compared_and_gated(lengths):
    project, before, after = lengths
    value = after["scorers"][0]["metrics"][0]["values"]["words_within"]
    assert (value["value"], value["n"], value["method"]) == (0.5, 40, "wilson")
    assert 0.3 < value["low"] < 0.5 < value["high"] < 0.7
    runs = before["run"], after["run"]
    compared = project.assay("compare", *runs, "--metric", "words_within", "--plugin", "lengths", "--json")
    assert compared.code == 1, compared.err
    (number,) = compared.json["comparisons"]
    assert (number["metric"], number["n"], number["verdict"]) == ("words/within/words_within", 40, "worse")
    assert (number["difference"]["value"], number["difference"]["method"]) == (pytest.approx(-0.4), "tango")
    baseline = ("--baseline", before["run"], "--metric", "words_within", "--plugin", "lengths")
    assert project.assay("gate", after["run"], *baseline, "--max-drop", "0.3").code == 1
    assert project.assay("gate", after["run"], *baseline, "--max-drop", "0.5").code == 0


def test_without_its_plug_in_a_metric_cannot_be_compared_and_its_stored_value_can_be_gated(lengths):
    project, before, after = lengths
    refused = project.assay("compare", before["run"], after["run"], "--metric", "words_within")
    assert refused.code == 2
    assert '"words_within" exists (words/within/words_within), but not in every run' in refused.err
    assert project.assay("gate", after["run"], "--require", "words_within >= 0.5").code == 0


def test_a_mean_over_the_field_of_an_absent_plug_in_scorer_can_be_compared(lengths):
    project, before, after = lengths
    compared = project.assay("compare", before["run"], after["run"], "--json")
    assert compared.code == 0, compared.err
    (number,) = compared.json["comparisons"]
    assert (number["metric"], number["difference"]["value"]) == ("words/mean/words_mean", pytest.approx(0.8))


@pytest.mark.parametrize(
    "name",
    ["run", "generate", "plan", "rescore", "check", "list", "compare", "gate", "calibrate", "audit", "power", "schema"],
)
def test_every_command_that_loads_kinds_takes_a_plug_in(name):
    assert name in COMMANDS
    command = cli.get_command(click.Context(cli), name)
    assert any("--plugin" in parameter.opts for parameter in command.params)

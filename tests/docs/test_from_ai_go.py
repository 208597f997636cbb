"""The table of AI GO!'s features is complete, and says of each what is so here."""

import re
from pathlib import Path

import pytest

from assay.builtin import registry
from assay.sandbox import shims
from assay.solvers.builders import MessageBuilder
from assay.spec import evaluation, generator, model, task

PAGE = (Path(__file__).parents[2] / "docs" / "from-ai-go.md").read_text()
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in PAGE.split("## Every feature")[1].split("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| object")
]
TYPES = {
    "solver": "single_turn_solver multi_turn_solver grouped_single_turn_solver pass_through_solver python",
    "scorer": "string_equals string_equals_mcqa model_as_a_judge_classifier model_as_a_judge_scorer labeler_via_model "
    "python python_all_samples bleu function_call_coverage rag_checker",
    "metric": "python binary-classification multiclass-classification mean max min std_dev frequency recall precision "
    "f1_score weighted_average",
    "source": "local folder url huggingface langsmith phoenix claude_code inspect_ai",
    "synthesizer": "empty llm template python drop_columns claim_extraction claim_labeling link_claim_quotes "
    "question_answering",
}
"""The types of AI GO! 3.17."""
SETTINGS = {
    "task": task.Task,
    "task definition": task.Definition,
    "system task": task.SystemDefinition,
    "action": task.Action,
    "dataset": task.DatasetFile,
    "generator specification": task.GeneratorSpecification,
    "generator": generator.GeneratorFile,
    "rows `empty`": generator.EmptyRows,
    "rows `dataset_samples`": generator.DatasetSamples,
    "rows `dataset_sample_combinations`": generator.DatasetSampleCombinations,
    "rows `inline_samples`": generator.InlineRows,
    "model": model.ModelFile,
    "model `custom_connection`": model.CustomConnection,
    "model `provider_connection`": model.ProviderConnection,
    "model `custom_inference`": model.CustomInference,
    "adapter": model.AdapterFile,
    "run file": evaluation.RunFile,
    "run_config": evaluation.RunConfig,
    "evaluation": evaluation.Evaluation,
    "specification": evaluation.Specification,
    "repeatability": evaluation.Specification,
    "policy": evaluation.Policy,
}


SORTS = ("solvers", "scorers", "metrics", "sources", "synthesizers")


def named(text):
    """The names in a cell, without those in parentheses, which are values or fields of a value."""
    return re.findall(r"`([^`]+)`", re.sub(r"\([^)]*\)", "", text))


def kinds(sort):
    return getattr(registry(), f"{sort}s")


def settings_of(name):
    if name in SETTINGS:
        return SETTINGS[name]
    sort, _, kind = name.partition(" ")
    return kinds(sort)[kind.strip("`")].settings if f"{sort}s" in SORTS else None


@pytest.mark.parametrize("sort", TYPES)
def test_every_type_of_theirs_has_a_row(sort):
    rows = {kind for name, _, _ in ROWS if name.startswith(sort) for kind in named(name)}
    assert rows == set(TYPES[sort].split())


def test_every_row_says_same_better_or_absent_or_where_to_look():
    for name, _, here in ROWS:
        assert re.match(r"same|better: .|absent: .|see \[", here), name


@pytest.mark.parametrize(("name", "fields", "here"), ROWS)
def test_every_field_of_a_row_is_accepted(name, fields, here):
    if here.startswith(("absent", "see ")):
        return
    settings = settings_of(name)
    if settings is None:
        assert name in (
            "filter",
            "trials",
            "dataset of a task",
            "every scorer",
            "model `placeholder`",
        ) or name.startswith(("rows `task_result`",)), name
        return
    assert set(named(fields)) <= set(settings.model_fields), name


@pytest.mark.parametrize("sort", ["solver", "scorer", "metric", "source", "synthesizer"])
def test_every_kind_of_ours_is_on_the_page(sort):
    missing = [kind for kind in kinds(sort) if f"`{kind}`" not in PAGE]
    assert not missing


def test_every_builder_is_on_the_page():
    union = MessageBuilder.__origin__
    for builder in union.__args__:
        (name,) = builder.model_fields["type"].annotation.__args__
        assert f"`{name}`" in PAGE


def test_the_classes_that_snippets_import_are_those_that_there_are():
    listed = re.search(r"assessment.dtypes`: (.*?)\. Any other name", PAGE, re.DOTALL)[1]
    assert set(re.split(r",\s+", listed)) <= set(shims.PUBLIC)

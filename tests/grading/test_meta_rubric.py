"""Rubrics that grade rubrics."""

from __future__ import annotations

import asyncio
import re

import pytest

from assay.errors import SpecError
from assay.grading.meta_rubric import flaws, written
from assay.rubric import (
    Criterion,
    CriterionOption,
    LLMConfig,
    Rubric,
    evaluate_rubric_in_context,
    evaluate_rubric_standalone,
    get_in_context_meta_rubric,
    get_standalone_meta_rubric,
)

POOR = Rubric(
    [
        Criterion(name="good", requirement="The answer is good and polite."),
        Criterion(
            name="depth",
            requirement="How deep is it?",
            weight=-2.5,
            options=[CriterionOption(label="Fairly", value=0.5), CriterionOption(label="Very", value=1.0)],
        ),
    ],
    "Read twice.",
)


def asked_about(text):
    """The criterion of the meta-rubric that a question is about."""
    meta = get_in_context_meta_rubric()
    return next(name for name, c in zip(meta.names, meta.criteria, strict=True) if c.requirement.strip() in text)


@pytest.fixture
def strict(judge):
    """A judge of rubrics that finds joined demands, and a lack of clarity."""

    def answer(text):
        name = asked_about(text)
        fault = next(c.weight < 0 for c in get_in_context_meta_rubric() if c.name == name)
        found = name in ("joined_demands", "clear")
        word = "MET" if found == fault else "UNMET"
        return f'{{"explanation": "criterion 1: {name}", "criterion_status": "{word}"}}'

    return judge(answer)


def test_a_rubric_is_graded_by_itself(strict):
    report = asyncio.run(evaluate_rubric_standalone(POOR, LLMConfig(strict)))
    meta = get_standalone_meta_rubric()
    positive = sum(c.weight for c in meta if c.weight > 0)
    assert report.score == pytest.approx((positive - 10 - 8) / positive)
    assert [each.criterion.name for each in flaws(report)] == ["clear", "joined_demands"]
    assert "criterion 1: clear" in report.report[0].reason
    assert len(strict.questions) == len(meta)
    assert all(written(POOR) in question for question in strict.questions)


def test_in_context_the_task_is_shown_and_the_fit_is_graded(strict):
    report = asyncio.run(evaluate_rubric_in_context(POOR, "Explain tides to a child.", LLMConfig(strict)))
    assert all("Explain tides to a child." in question for question in strict.questions)
    names = [each.criterion.name for each in report.report]
    assert {"covers_the_task", "invented_demand"} <= set(names)
    assert len(names) == len(get_in_context_meta_rubric()) > len(get_standalone_meta_rubric())
    assert set(report.sections) == {section.name for section in get_in_context_meta_rubric().sections}


def test_the_judge_sees_all_that_decides_the_quality_of_a_rubric():
    assert written(POOR).splitlines() == [
        "Guidelines for all criteria: Read twice.",
        "",
        "1. good (weight 10): The answer is good and polite.",
        "2. depth (weight -2.5): How deep is it?",
        "   ordinal options:",
        "   - Fairly (worth 0.5)",
        "   - Very (worth 1)",
    ]


def test_antipatterns_have_negative_weights_and_names_are_unique():
    meta = get_in_context_meta_rubric()
    assert len(set(meta.names)) == len(meta)
    for section in meta.sections:
        negative = [c.weight < 0 for c in meta.criteria[section.start : section.stop]]
        assert all(negative) if "antipatterns" in section.name else not any(negative)


def test_the_verdicts_can_be_printed_or_written_as_a_page(strict, folder, capsys):
    asyncio.run(evaluate_rubric_standalone(POOR, LLMConfig(strict), display="stdout"))
    printed = capsys.readouterr().out
    assert "joined_demands" in printed
    assert re.search(r"Rubric with 2 criteria · score \.?0?\.\d+", printed)
    page = folder / "quality.html"
    asyncio.run(evaluate_rubric_standalone(POOR, LLMConfig(strict), display="html", output_html_path=page))
    text = page.read_text()
    assert "joined_demands" in text
    assert "<script" not in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"display": "html"}, "output_html_path"),
        ({"display": "pdf"}, '"stdout", "html" or None'),
        ({"output_html_path": "nowhere/page.html"}, "no folder nowhere"),
    ],
)
def test_a_display_that_cannot_be_shown_is_refused_before_anybody_is_asked(strict, settings, message):
    with pytest.raises(SpecError, match=message):
        asyncio.run(evaluate_rubric_standalone(POOR, LLMConfig(strict), **settings))
    with pytest.raises(SpecError, match="task prompt is empty"):
        asyncio.run(evaluate_rubric_in_context(POOR, "  ", LLMConfig(strict)))
    assert strict.questions == []

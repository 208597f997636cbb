"""A real model as judge, end to end: SmolLM2 with its answers held to the schema."""

from __future__ import annotations

import pytest

from assay.models.local import PULLABLE, models_folder
from assay.rubric import CriterionGrader, LLMConfig, Rubric, RubricDataset, evaluate_sync

TEXTS = (
    "Paris is the capital of France.",
    "I do not know.",
    "The capital of France is Rome.",
    "Bananas are yellow.",
    "France's capital is Paris, on the Seine.",
)


@pytest.mark.slow
def test_a_real_model_grades_five_short_texts():
    pytest.importorskip("xllamacpp")
    if not (models_folder() / PULLABLE["smollm2"].file).is_file():
        pytest.skip("SmolLM2 is not here: assay pull smollm2")
    rubric = Rubric.from_dict(
        [
            {"name": "capital", "requirement": "Names Paris."},
            {
                "name": "quality",
                "requirement": "How good is the answer?",
                "options": [{"label": "poor", "value": 0.0}, {"label": "good", "value": 1.0}],
            },
        ]
    )
    dataset = RubricDataset("What is the capital of France?", rubric)
    for text in TEXTS:
        dataset.add_item(text)
    grader = CriterionGrader(llm_config=LLMConfig("local/smollm2", max_tokens=60), seed=42)
    result = evaluate_sync(dataset, grader)
    votes = [vote for item in result.get_reports() for report in item.report for vote in report.votes]
    assert result.total_items == 5
    # a model of this size seldom judges well, but what it says can be read
    assert len(votes) == 10
    assert sum(not vote.is_error for vote in votes) >= 8
    assert result.total_token_usage.completion_tokens > 0
    assert result.total_completion_cost == 0
    assert evaluate_sync(dataset, grader).get_scores() == result.get_scores()

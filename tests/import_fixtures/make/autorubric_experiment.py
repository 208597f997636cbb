"""Grade six texts with AutoRubric and two judges on the model server in SERVER; write all its files."""

import asyncio
import os
from pathlib import Path

from autorubric import Criterion, CriterionOption, CriterionVerdict, LLMConfig, Rubric, RubricDataset, evaluate
from autorubric.graders import CriterionGrader, JudgeSpec

LEVELS = [
    CriterionOption(label="poor", value=0.0),
    CriterionOption(label="fair", value=0.5),
    CriterionOption(label="good", value=1.0),
]
RUBRIC = Rubric(
    [
        Criterion(name="facts", weight=3.0, requirement="The facts are right."),
        Criterion(name="rude", weight=-1.0, requirement="The text is rude."),
        Criterion(name="style", weight=2.0, requirement="How good is the style?", options=LEVELS, scale_type="ordinal"),
    ]
)
MET, UNMET = CriterionVerdict.MET, CriterionVerdict.UNMET
TEXTS = {
    "Paris is the capital of France.": [MET, UNMET, "good"],
    "Lyon is the capital, you fool.": [UNMET, MET, "poor"],
    "The capital is Paris, I think.": [MET, UNMET, "fair"],
    "France has no capital.": [UNMET, UNMET, "fair"],
    "Paris!": [MET, UNMET, "poor"],
    "Look it up yourself.": [UNMET, MET, "fair"],
}


def judge(name):
    return JudgeSpec(LLMConfig(model=f"openai/{name}", api_base=os.environ["SERVER"], api_key="none"), judge_id=name)


async def main():
    dataset = RubricDataset(prompt="What is the capital of France?", rubric=RUBRIC, name="capitals")
    for number, (text, truth) in enumerate(TEXTS.items()):
        dataset.add_item(text, description=f"text {number}", ground_truth=truth)
    dataset.to_file("dataset.json")
    grader = CriterionGrader(judges=[judge("first"), judge("second")])
    result = await evaluate(
        dataset, grader, show_progress=False, experiment_name="experiment", experiments_dir=".", resume=False
    )
    metrics = result.compute_metrics(dataset, per_judge=True)
    metrics.to_file(Path("experiment") / "metrics.json")
    print(metrics.criterion_accuracy, metrics.score_rmse, metrics.score_pearson)


asyncio.run(main())

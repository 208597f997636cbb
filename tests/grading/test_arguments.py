"""Misspelled keywords of the public names for rubrics."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from assay import rubric
from assay.errors import SpecError

MISSPELLED = [
    ("Audit", "optoins", "options"),
    ("AuditOptions", "treshold", "threshold"),
    ("CannotAssessConfig", "stategy", "strategy"),
    ("CriterionGrader", "agregation", "aggregation"),
    ("CriterionGrader", "judgs", "judges"),
    ("EvalConfig", "max_costs", "max_cost"),
    ("EvalRunner", "datset", "dataset"),
    ("FewShotConfig", "n_exampels", "n_examples"),
    ("JudgeSpec", "wieght", "weight"),
    ("LLMConfig", "temprature", "temperature"),
    ("compute_metrics", "levl", "level"),
    ("evaluate", "stor", "store"),
    ("evaluate_sync", "experiment_nam", "experiment_name"),
]


@pytest.mark.parametrize(("name", "wrong", "meant"), MISSPELLED)
def test_a_misspelled_keyword_names_the_nearest(name, wrong, meant):
    def call():
        returned = getattr(rubric, name)(**{wrong: 1})
        if inspect.iscoroutine(returned):
            asyncio.run(returned)

    with pytest.raises(SpecError, match=f'^{name} has no option "{wrong}"; did you mean "{meant}"\\?$'):
        call()

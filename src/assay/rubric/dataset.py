"""Datasets of rubrics under the name of AutoRubric's module."""

from assay.grading.dataset import RubricDataset
from assay.grading.items import DataItem
from assay.judging.criteria import CriterionVerdict
from assay.judging.rubric import Rubric

__all__ = ["CriterionVerdict", "DataItem", "Rubric", "RubricDataset"]

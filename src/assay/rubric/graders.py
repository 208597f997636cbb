"""The path under which graders are imported."""

from assay.grading.config import JudgeSpec
from assay.grading.grader import CriterionGrader, Grader

__all__ = ["CriterionGrader", "Grader", "JudgeSpec"]

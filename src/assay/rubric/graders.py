"""The path under which graders are imported."""

from assay.rubric.config import JudgeSpec
from assay.rubric.grader import CriterionGrader

__all__ = ["CriterionGrader", "JudgeSpec"]

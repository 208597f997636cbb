"""The path under which graders are imported."""

from assay.grading.config import JudgeSpec
from assay.grading.escalation_config import EscalationConfig
from assay.grading.grader import CriterionGrader, Grader

__all__ = ["CriterionGrader", "EscalationConfig", "Grader", "JudgeSpec"]

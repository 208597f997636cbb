"""Models that answer a prompt under the name of AutoRubric's module."""

from assay.grading.config import LLMConfig, ThinkingConfig, ThinkingLevel
from assay.grading.judge_models import classify_grading_error
from assay.grading.llm import GenerateResult, LLMClient, RateLimitPool, T, generate

__all__ = [
    "GenerateResult",
    "LLMClient",
    "LLMConfig",
    "RateLimitPool",
    "T",
    "ThinkingConfig",
    "ThinkingLevel",
    "classify_grading_error",
    "generate",
]

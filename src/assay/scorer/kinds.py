"""The scorers that ship with assay."""

from __future__ import annotations

from assay.registry import Kinds

KINDS = Kinds(
    {
        "string_equals": "assay.scorer.exact",
        "string_equals_mcqa": "assay.scorer.choice",
        "contains": "assay.scorer.contains",
        "regex": "assay.scorer.regex",
        "numeric_equals": "assay.scorer.numeric",
        "json_schema": "assay.scorer.schema",
        "bleu": "assay.scorer.bleu",
        "function_call_coverage": "assay.scorer.function_calls",
        "model_as_a_judge_classifier": "assay.scorer.judge_classifier",
        "model_as_a_judge_scorer": "assay.scorer.judge_scorer",
        "labeler_via_model": "assay.scorer.labeler",
        "rubric": "assay.scorer.rubric",
        "python": "assay.scorer.snippet",
        "python_all_samples": "assay.scorer.snippet_all",
    }
)

"""The scorers that ship with assay."""

from __future__ import annotations

from assay.registry import LazyKinds, ScorerKind

KINDS: LazyKinds[ScorerKind] = LazyKinds(
    {
        "string_equals": "assay.scorers.exact",
        "string_equals_mcqa": "assay.scorers.choice",
        "contains": "assay.scorers.contains",
        "regex": "assay.scorers.regex",
        "numeric_equals": "assay.scorers.numeric",
        "json_schema": "assay.scorers.schema",
        "bleu": "assay.scorers.bleu",
        "column": "assay.scorers.column",
        "function_call_coverage": "assay.scorers.function_calls",
        "disallowed_function_calls": "assay.scorers.disallowed_calls",
        "function_call_output_contains": "assay.scorers.function_outputs:CONTAINS",
        "function_call_output_not_contains": "assay.scorers.function_outputs:NOT_CONTAINS",
        "embedding_similarity": "assay.scorers.embedding_similarity",
        "model_as_a_judge_classifier": "assay.scorers.judge_classifier",
        "model_as_a_judge_scorer": "assay.scorers.judge_scorer",
        "labeler_via_model": "assay.scorers.labeler",
        "rag_checker": "assay.scorers.rag_checker",
        "rubric": "assay.scorers.rubric",
        "python": "assay.scorers.snippet",
        "python_all_samples": "assay.scorers.snippet_all",
    }
)

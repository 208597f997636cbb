"""The scorers that ship with assay."""

from __future__ import annotations

from assay.scorer import (
    bleu,
    choice,
    contains,
    exact,
    function_calls,
    judge_classifier,
    judge_scorer,
    labeler,
    numeric,
    regex,
    rubric,
    schema,
)

KINDS = (
    exact.KIND,
    choice.KIND,
    contains.KIND,
    regex.KIND,
    numeric.KIND,
    schema.KIND,
    bleu.KIND,
    function_calls.KIND,
    judge_classifier.KIND,
    judge_scorer.KIND,
    labeler.KIND,
    rubric.KIND,
)

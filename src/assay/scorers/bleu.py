"""`bleu`: how many short word sequences the reply shares with a reference."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import model_validator

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, TextScorer, looked_at, row_by_row
from assay.scorers.ground_truth import check_not_empty, ground_truths
from assay.spec.fields import Template
from assay.types import Rows, ScoreColumns


class Bleu(TextScorer):
    """Sentence BLEU with effective order, from 0 to 1; identical text is 1."""

    type: Literal["bleu"]
    ground_truth: Template
    allow_empty: bool = False

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        check_not_empty(self.ground_truth, allow_empty=self.allow_empty)
        return self

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean over the samples."""
        return [{"type": "mean", "field": "bleu_score"}]


def bleu(settings: Bleu, rows: Rows) -> ScoreColumns:
    """Compute the BLEU score of each text against its ground truth."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)

    def one(truth: str, text: str) -> dict[str, Any]:
        score = 1.0 if text == truth else min(metric.sentence_score(text, [truth]).score / 100, 1.0)
        return {"bleu_score": score, "answer_gt": truth, "answer_pred": text}

    columns = [ground_truths(settings.ground_truth, rows, allow_empty=settings.allow_empty), looked_at(settings, rows)]
    return row_by_row(KIND, one, columns)


KIND = BatchScorerKind(
    settings=Bleu,
    score=bleu,
    version=2,
    values=("bleu_score",),
    metadata=("answer_gt", "answer_pred"),
    ranges={"bleu_score": SHARE},
)

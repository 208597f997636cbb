"""`bleu`: how many short word sequences the reply shares with a reference."""

from __future__ import annotations

from typing import Any, Literal

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, STAGE, TextScorer, looked_at, row_by_row
from assay.spec.fields import Template
from assay.templates import texts
from assay.types import Rows, ScoreColumns


class Bleu(TextScorer):
    """Sentence BLEU with effective order, from 0 to 1; identical text is 1."""

    type: Literal["bleu"]
    ground_truth: Template

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean over the samples."""
        return [{"type": "mean", "field": "bleu_score"}]


def bleu(settings: Bleu, rows: Rows) -> ScoreColumns:
    """The BLEU score of each text against its ground truth."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)

    def one(truth: str, text: str) -> dict[str, Any]:
        score = 1.0 if text == truth else min(metric.sentence_score(text, [truth]).score / 100, 1.0)
        return {"bleu_score": score, "answer_gt": truth, "answer_pred": text}

    columns = [texts(settings.ground_truth, rows, stage=STAGE), looked_at(settings, rows)]
    return row_by_row(KIND, one, columns)


KIND = BatchScorerKind(
    settings=Bleu,
    score=bleu,
    values=("bleu_score",),
    metadata=("answer_gt", "answer_pred"),
    ranges={"bleu_score": SHARE},
)

"""`embedding_similarity`: the cosine similarity between the embeddings of the reply and the ground truth."""

from __future__ import annotations

import asyncio
import math
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from assay.registry import JudgeScorerKind
from assay.scorers.common import SHARE, STAGE, TextScorer, looked_at, score_of
from assay.scorers.ground_truth import ground_truths
from assay.spec.fields import Located, Template
from assay.types import Ask, Failure, Request, Rows, Sampling, Score


class EmbeddingSimilarity(TextScorer):
    """The cosine of the embeddings of the text and the ground truth; a negative cosine scores 0."""

    type: Literal["embedding_similarity"]
    ground_truth: Template
    model_key: Annotated[Located, Field(min_length=1)]

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean score."""
        return [{"type": "mean", "field": "score", "name": "similarity"}]


async def embedding_similarity(settings: EmbeddingSimilarity, rows: Rows, ask: Ask) -> Score | Failure:
    """The score of one row; a text without a vector is a failure."""
    columns = (ground_truths(settings.ground_truth, rows), looked_at(settings, rows))
    for column in columns:
        if column.failures:
            return column.failures[0]
    texts = [str(column.values[0]) for column in columns]
    if not texts[1].strip():
        return Failure(stage=STAGE, kind="parse", detail="the text is empty: it has no embedding")
    requests = [
        Request(
            messages=({"type": "message", "role": "user", "content": text},),
            sampling=Sampling(temperature=0),
            purpose="judge",
        )
        for text in texts
    ]
    replies = await asyncio.gather(
        *(ask(request, str(settings.model_key)) for request in requests), return_exceptions=True
    )
    vectors: list[list[float]] = []
    for reply in replies:
        if isinstance(reply, BaseException):
            raise reply
        vector = _vector(reply.text)
        if vector is None:
            detail = f'"{settings.model_key}" returned no embedding: is it a model with `task: embeddings`?'
            return Failure(stage=STAGE, kind="parse", detail=detail)
        vectors.append(vector)
    value = cosine(*vectors)
    if value is None:
        lengths = " and ".join(str(len(vector)) for vector in vectors)
        return Failure(stage=STAGE, kind="parse", detail=f"no cosine of embeddings with {lengths} numbers")
    return score_of(KIND, {"score": max(0.0, value), "cosine": value})


def _vector(text: str | None) -> list[float] | None:
    try:
        vector = orjson.loads(text or "")
    except orjson.JSONDecodeError:
        return None
    return vector if isinstance(vector, list) and all(isinstance(x, int | float) for x in vector) else None


def cosine(one: list[float], other: list[float]) -> float | None:
    """The cosine of two vectors; None for different lengths and for a vector of zeros.

    >>> cosine([1.0, 0.0], [2.0, 2.0])
    0.7071067811865475
    """
    lengths = math.hypot(*one) * math.hypot(*other)
    if len(one) != len(other) or not lengths:
        return None
    product = math.fsum(x * y for x, y in zip(one, other, strict=True))
    return max(-1.0, min(1.0, product / lengths))


KIND = JudgeScorerKind(
    settings=EmbeddingSimilarity,
    score=embedding_similarity,
    values=("score",),
    metadata=("cosine",),
    ranges={"score": SHARE},
)

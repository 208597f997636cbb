"""`claim_extraction`, `claim_labeling`, `link_claim_quotes`: claims of an answer, their labels and their sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.datasets.synthesizers.common import Row, SynthesizedRows, SynthesizerSpec, failed
from assay.judging.claims import Claim, ClaimError, ClaimJudge, claims_of
from assay.registry import AskingSynthesizerKind
from assay.spec.fields import Settings
from assay.types import Ask, Failure

Key = Annotated[str, Field(min_length=1)]


class AnswerColumns(Settings):
    """The columns with a question and its answer."""

    question: Key = "question"
    answer: Key = "expected_answer"


class LabelColumns(AnswerColumns):
    """The columns with a question, its answer and the claims of the answer."""

    claims: Key = "claims"


class QuoteColumns(Settings):
    """The columns with claims and their source text."""

    claims: Key = "claims"
    source: Key = "text"


class ClaimSynthesizer(SynthesizerSpec):
    """The common settings of synthesizers of claims: the model, the output column and additional instructions."""

    model_key: Key
    instructions: str | None = None


class ClaimExtraction(ClaimSynthesizer):
    """The claims of an answer, as a list of subject, predicate and object."""

    type: Literal["claim_extraction"]
    output_field: Key = "claims"
    columns: AnswerColumns = AnswerColumns()


class ClaimLabeling(ClaimSynthesizer):
    """A label for each claim: REQUIRED if a good answer must make it, else OPTIONAL."""

    type: Literal["claim_labeling"]
    output_field: Key = "claims_labels"
    columns: LabelColumns = LabelColumns()


class LinkClaimQuotes(ClaimSynthesizer):
    """For each claim the passage of the source that supports it, word for word, or null."""

    type: Literal["link_claim_quotes"]
    output_field: Key = "claim_source_quotes"
    columns: QuoteColumns = QuoteColumns()


def _judge(settings: ClaimSynthesizer, ask: Ask) -> ClaimJudge:
    return ClaimJudge(ask=ask, model=settings.model_key, stage="generate", purpose="generate")


def _texts(row: Row, *columns: str) -> list[str] | Failure:
    """The texts of some columns; a Failure names the first that the row lacks."""
    for name in columns:
        if not isinstance(row.get(name), str) or not row[name].strip():
            state = "no column" if name not in row else "no text in the column"
            return failed(f'the row has {state} "{name}"', "missing_field")
    return [str(row[name]) for name in columns]


def _claims(row: Row, column: str) -> list[Claim] | Failure:
    if column not in row:
        return failed(f'the row has no column "{column}"', "missing_field")
    try:
        return claims_of(row[column])
    except ClaimError as error:
        return failed(f'"{column}": {error}', "parse")


def _with(
    row: Row, field: str, values: list[Any] | Failure, write: Callable[[Any], Any] = lambda value: value
) -> SynthesizedRows:
    return values if isinstance(values, Failure) else [{**row, field: [write(value) for value in values]}]


async def extracted(settings: ClaimExtraction, row: Row, ask: Ask) -> SynthesizedRows:
    """The row with the claims of its answer."""
    texts = _texts(row, settings.columns.question, settings.columns.answer)
    if isinstance(texts, Failure):
        return texts
    claims = await _judge(settings, ask).extract(texts[0], texts[1], settings.instructions)
    return _with(row, settings.output_field, claims, lambda claim: claim.document())


async def labelled(settings: ClaimLabeling, row: Row, ask: Ask) -> SynthesizedRows:
    """The row with a label for each of its claims."""
    texts = _texts(row, settings.columns.question, settings.columns.answer)
    claims = _claims(row, settings.columns.claims)
    if isinstance(texts, Failure):
        return texts
    if isinstance(claims, Failure):
        return claims
    labels = await _judge(settings, ask).label(texts[0], texts[1], claims, settings.instructions)
    return _with(row, settings.output_field, labels)


async def quoted(settings: LinkClaimQuotes, row: Row, ask: Ask) -> SynthesizedRows:
    """Return the row with a quote for each of its claims; a quote that is not in the source is requested once more."""
    texts = _texts(row, settings.columns.source)
    claims = _claims(row, settings.columns.claims)
    if isinstance(texts, Failure):
        return texts
    if isinstance(claims, Failure):
        return claims
    quotes = await _judge(settings, ask).quotes(claims, texts[0], settings.instructions)
    return _with(row, settings.output_field, quotes)


EXTRACTION = AskingSynthesizerKind(settings=ClaimExtraction, synthesize=extracted)
LABELING = AskingSynthesizerKind(settings=ClaimLabeling, synthesize=labelled)
QUOTES = AskingSynthesizerKind(settings=LinkClaimQuotes, synthesize=quoted)

"""`rag_checker`: a judge splits answer and target into claims and decides which text entails which claim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from assay.judging.claims import Claim, ClaimError, ClaimJudge, Entailment, Label, claims_of, gathered, labels_of
from assay.registry import JudgeScorerKind
from assay.scorers.common import SHARE, STAGE, ReplyScorer, replies, score_of
from assay.spec.fields import ColumnName, Located, Template
from assay.templates import lists
from assay.types import Ask, Failure, FailureKind, Item, Rows, Score, content_text

ScoreName = Literal[
    "precision",
    "recall",
    "f1_score",
    "claim_recall",
    "context_precision",
    "context_utilization",
    "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant",
    "hallucination",
    "self_knowledge",
    "faithfulness",
]
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)
WITHOUT_TARGET: tuple[ScoreName, ...] = ("faithfulness",)
WITHOUT_CONTEXT: tuple[ScoreName, ...] = ("precision", "recall", "f1_score")
_NOISE: tuple[ScoreName, ...] = ("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant")
_OF_TARGET_CLAIMS = frozenset(
    {"recall", "f1_score", "claim_recall", "context_precision", "context_utilization", *_NOISE}
)
REQUIRED_PREFIX = "required_"


class RagChecker(ReplyScorer):
    """How well an answer and its retrieved passages cover the claims of a target answer, claim by claim."""

    type: Literal["rag_checker"]
    judge_model_key: Annotated[Located, Field(min_length=1)]
    query_column: ColumnName = ColumnName("query")
    target_column: ColumnName | None = None
    scores_to_compute: list[ScoreName] | None = Field(default=None, min_length=1)
    target_claims_column: ColumnName | None = None
    response_claims_column: ColumnName | None = None
    claim_extraction_instructions: str | None = None
    mode: Literal["all_claims", "required_only", "required_and_optional"] = "all_claims"
    target_labels_column: ColumnName | None = None
    response_labels_column: ColumnName | None = None
    claim_labeling_instructions: str | None = None
    chunks: Template | None = None

    @property
    def has_target(self) -> bool:
        """Return whether the dataset has a target to compare the answer with."""
        return self.target_column is not None or self.target_claims_column is not None

    @property
    def computed(self) -> tuple[ScoreName, ...]:
        """The scores to compute: those that the file lists, else all that its columns allow."""
        allowed = SCORES if self.has_target else WITHOUT_TARGET
        selected = self.scores_to_compute
        return tuple(name for name in allowed if selected is None or name in selected)

    @model_validator(mode="after")
    def _has_what_its_scores_need(self) -> RagChecker:
        missing = [name for name in self.scores_to_compute or () if name not in self.computed]
        if missing:
            raise ValueError(f"{missing[0]} needs target_column or target_claims_column")
        labels = {
            "target_labels_column": self.target_labels_column,
            "response_labels_column": self.response_labels_column,
        }
        unused = [name for name, column in labels.items() if column is not None and self.mode == "all_claims"]
        if unused:
            raise ValueError(f"{unused[0]} is used only with mode required_only or required_and_optional")
        return self

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean of every score."""
        prefixes = ["", REQUIRED_PREFIX] if self.mode == "required_and_optional" else [""]
        return [{"type": "mean", "field": f"{prefix}{name}"} for prefix in prefixes for name in self.computed]


class _Stopped(Exception):
    """A step failed, and with it the sample."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSide:
    """The claims of the response or the target, with the judge's entailments.

    `by_other` holds whether the other side's text entails the claim, `by_chunk` the same for every chunk; None where
    the scores do not need it.
    """

    claims: Sequence[Claim]
    labels: Sequence[Label] | None = None
    by_other: Sequence[Entailment] | None = None
    by_chunk: Sequence[Sequence[Entailment]] | None = None

    def required(self) -> ClaimSide:
        """The claims that a good answer must make."""
        positions = [position for position, label in enumerate(self.labels or ()) if label == "REQUIRED"]
        return ClaimSide(
            claims=[self.claims[position] for position in positions],
            by_other=None if self.by_other is None else [self.by_other[position] for position in positions],
            by_chunk=None
            if self.by_chunk is None
            else [[chunk[position] for position in positions] for chunk in self.by_chunk],
        )

    def document(self) -> list[dict[str, Any]]:
        """Every claim with its label and its entailments, as the store keeps them."""
        entries: list[dict[str, Any]] = []
        for position, claim in enumerate(self.claims):
            entry: dict[str, Any] = {"claim": claim.document()}
            if self.labels is not None:
                entry["label"] = self.labels[position]
            if self.by_other is not None:
                entry |= {"entailed": self.by_other[position].entailed, "reason": self.by_other[position].reason}
            if self.by_chunk is not None:
                entry["chunks"] = [
                    {"entailed": chunk[position].entailed, "reason": chunk[position].reason} for chunk in self.by_chunk
                ]
            entries.append(entry)
        return entries


async def check_rag(settings: RagChecker, rows: Rows, ask: Ask) -> Score | Failure:
    """The scores of one answer; a score whose denominator is empty is undefined and left out."""
    judge = ClaimJudge(ask=ask, model=str(settings.judge_model_key), stage=STAGE)
    try:
        response_text = replies(settings, rows)[0]
        query = str(_column(rows.samples[0], settings.query_column))
        chunks = _chunks(settings, rows)
        response, target = await _claims(settings, judge, rows.samples[0], query, response_text)
        target_text = _text(settings, rows.samples[0]) or "\n".join(map(str, target.claims))
        response, target = await _entailed(settings, judge, response, target, (response_text, target_text), chunks)
    except _Stopped as stopped:
        return stopped.failure
    scores = {name: value for name, value in _values(settings, response, target).items() if value is not None}
    metadata = {
        "response_claims": response.document(),
        "target_claims": target.document() if settings.has_target else None,
        "retrieved_chunks": chunks,
    }
    return score_of(KIND, {**scores, **metadata})


async def _claims(
    settings: RagChecker, judge: ClaimJudge, sample: Mapping[str, Any], query: str, response: str
) -> tuple[ClaimSide, ClaimSide]:
    """The claims of both sides with their labels: from the dataset where it has them, else from the judge."""
    needs_claims = settings.target_column is None or not _OF_TARGET_CLAIMS.isdisjoint(settings.computed)
    wants_target = settings.has_target and needs_claims
    sides = await gathered(
        [
            _side(settings, judge, sample, query, response, "response"),
            *([_side(settings, judge, sample, query, _text(settings, sample), "target")] if wants_target else []),
        ]
    )
    for side in sides:
        if isinstance(side, Failure):
            raise _Stopped(side)
    return sides[0], sides[1] if wants_target else ClaimSide(claims=())


async def _side(
    settings: RagChecker, judge: ClaimJudge, sample: Mapping[str, Any], query: str, text: str, side: str
) -> ClaimSide | Failure:
    column: ColumnName | None = getattr(settings, f"{side}_claims_column")
    claims: list[Claim] | Failure
    if column is None:
        claims = await judge.extract(query, text, settings.claim_extraction_instructions)
    else:
        claims = _read(sample, column, claims_of)
    if isinstance(claims, Failure) or settings.mode == "all_claims":
        return claims if isinstance(claims, Failure) else ClaimSide(claims=claims)
    extracted = claims
    labelled: ColumnName | None = getattr(settings, f"{side}_labels_column")
    labels: list[Label] | Failure
    if labelled is None:
        context = text or "\n".join(map(str, extracted))
        labels = await judge.label(query, context, extracted, settings.claim_labeling_instructions)
    else:
        labels = _read(sample, labelled, lambda value: labels_of(value, extracted))
    return labels if isinstance(labels, Failure) else ClaimSide(claims=extracted, labels=labels)


async def _entailed(
    settings: RagChecker,
    judge: ClaimJudge,
    response: ClaimSide,
    target: ClaimSide,
    texts: tuple[str, str],
    chunks: Sequence[str] | None,
) -> tuple[ClaimSide, ClaimSide]:
    """Both sides with all entailments that the scores need: one question for each text."""
    needs = _Needs.of(settings.computed, has_chunks=chunks is not None)
    of_response = response.claims if needs.response_in_chunks else []
    of_target = target.claims if needs.target_in_chunks else []
    asked = [
        judge.entailments(response.claims if needs.response_in_target else [], texts[1]),
        judge.entailments(target.claims if needs.target_in_response else [], texts[0]),
        *(judge.entailments([*of_response, *of_target], chunk) for chunk in chunks or ()),
    ]
    answers = await gathered(asked)
    for answer in answers:
        if isinstance(answer, Failure):
            raise _Stopped(answer)
    in_target, in_response, *in_chunks = answers
    n = len(of_response)
    return (
        replace(
            response,
            by_other=in_target if needs.response_in_target else None,
            by_chunk=[chunk[:n] for chunk in in_chunks] if needs.response_in_chunks else None,
        ),
        replace(
            target,
            by_other=in_response if needs.target_in_response else None,
            by_chunk=[chunk[n:] for chunk in in_chunks] if needs.target_in_chunks else None,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Needs:
    """The claims and texts whose entailments the scores need."""

    response_in_target: bool
    target_in_response: bool
    response_in_chunks: bool
    target_in_chunks: bool

    @classmethod
    def of(cls, scores: Sequence[str], *, has_chunks: bool) -> _Needs:
        """Return the entailments that the scores need, with and without chunks."""
        selected = {name for name in scores if has_chunks or name in WITHOUT_CONTEXT}
        return cls(
            response_in_target=bool(selected & {"precision", "f1_score", "hallucination", "self_knowledge", *_NOISE}),
            target_in_response=bool(selected & {"recall", "f1_score", "context_utilization"}),
            response_in_chunks=bool(selected & {"hallucination", "self_knowledge", "faithfulness", *_NOISE}),
            target_in_chunks=bool(selected & {"claim_recall", "context_precision", "context_utilization", *_NOISE}),
        )


def _values(settings: RagChecker, response: ClaimSide, target: ClaimSide) -> dict[str, float | None]:
    """The scores of all claims, of the required ones, or of both."""
    names = settings.computed
    if settings.mode == "all_claims":
        return rag_scores(names, response, target)
    required = rag_scores(names, response.required(), target.required())
    if settings.mode == "required_only":
        return required
    every = rag_scores(names, response, target)
    return {**every, **{f"{REQUIRED_PREFIX}{name}": value for name, value in required.items()}}


def rag_scores(names: Sequence[str], response: ClaimSide, target: ClaimSide) -> dict[str, float | None]:
    """The scores by name; None where a denominator is empty or nothing was retrieved."""
    correct = None if response.by_other is None else [entry.entailed for entry in response.by_other]
    recalled = None if target.by_other is None else [entry.entailed for entry in target.by_other]
    r_in = None if response.by_chunk is None else [[e.entailed for e in chunk] for chunk in response.by_chunk]
    t_in = None if target.by_chunk is None else [[e.entailed for e in chunk] for chunk in target.by_chunk]
    values: dict[str, float | None] = dict.fromkeys(names)
    n_response, n_target = len(response.claims), len(target.claims)
    precision = None if correct is None else _share(sum(correct), n_response)
    recall = None if recalled is None else _share(sum(recalled), n_target)
    values |= {"precision": precision, "recall": recall, "f1_score": _f1(precision, recall)}
    t_covered = [any(chunk[place] for chunk in t_in) for place in range(n_target)] if t_in is not None else None
    r_covered = [any(chunk[place] for chunk in r_in) for place in range(n_response)] if r_in is not None else None
    if t_in is not None and t_covered is not None:
        values["claim_recall"] = _share(sum(t_covered), n_target)
        values["context_precision"] = _share(sum(map(any, t_in)), len(t_in))
        if recalled is not None:
            used = sum(covered and hit for covered, hit in zip(t_covered, recalled, strict=True))
            values["context_utilization"] = _share(used, sum(t_covered))
    if r_covered is not None:
        values["faithfulness"] = _share(sum(r_covered), n_response)
    if r_covered is not None and correct is not None:
        pairs = list(zip(r_covered, correct, strict=True))
        values["hallucination"] = _share(sum(not covered and not right for covered, right in pairs), n_response)
        values["self_knowledge"] = _share(sum(not covered and right for covered, right in pairs), n_response)
    if r_in is not None and t_in is not None and correct is not None:
        relevant = [any(chunk) for chunk in t_in]
        for name, relevance in zip(_NOISE, (True, False), strict=True):
            noisy = sum(
                not correct[place]
                and any(
                    chunk[place] for chunk, is_relevant in zip(r_in, relevant, strict=True) if is_relevant is relevance
                )
                for place in range(n_response)
            )
            values[name] = _share(noisy, n_response)
    return {name: values[name] for name in names}


def _share(count: int, total: int) -> float | None:
    return count / total if total else None


def _f1(precision: float | None, recall: float | None) -> float | None:
    """The harmonic mean; 0 where nothing of either side is right."""
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _chunks(settings: RagChecker, rows: Rows) -> list[str] | None:
    """Return the retrieved passages; None if retrieval was not recorded, unlike an empty list."""
    if settings.chunks is not None:
        column = lists(settings.chunks, rows, stage=STAGE)
        if column.failures:
            raise _Stopped(column.failures[0])
        return [_passage(entry, number) for number, entry in enumerate(column.values[0], start=1)]
    messages = rows.traces[0].assistant_messages if rows.traces is not None else ()
    return None if not messages else retrieved(messages[-1])


def retrieved(message: Item) -> list[str] | None:
    """The passages that a reply names in `references` or in text citations; None when it has neither field.

    >>> retrieved({"role": "assistant", "content": "Bern.", "references": [{"content": "Bern is the capital."}]})
    ['Bern is the capital.']
    """
    references = message.get("references")
    if isinstance(references, list):
        return [_passage(entry, number) for number, entry in enumerate(references, start=1)]
    parts = message.get("content")
    annotated = (
        [part["annotations"] for part in parts if isinstance(part, Mapping) and "annotations" in part]
        if (isinstance(parts, list))
        else []
    )
    if not annotated:
        return None
    citations = [entry for entries in annotated for entry in entries if entry.get("type") == "text_citation"]
    return [_passage(entry, number) for number, entry in enumerate(citations, start=1)]


def _passage(entry: Any, number: int) -> str:
    content = entry.get("content") if isinstance(entry, Mapping) else entry
    text = content if isinstance(content, str) else content_text(content)
    if not text.strip():
        raise _Stopped(_failure(f"chunk {number} has no text"))
    return text


def _text(settings: RagChecker, sample: Mapping[str, Any]) -> str:
    """The target as text; empty where the dataset has only its claims."""
    return "" if settings.target_column is None else str(_column(sample, settings.target_column))


def _column(sample: Mapping[str, Any], column: ColumnName) -> Any:
    """The value of a column; a sample without it fails."""
    value = sample.get(str(column))
    if value is None or (isinstance(value, str) and not value.strip()):
        state = "empty" if isinstance(value, str) else "null" if str(column) in sample else None
        detail = f'the sample has no column "{column}"' if state is None else f'"{column}" is {state}'
        raise _Stopped(_failure(detail, "missing_field"))
    if isinstance(value, float) and not math.isfinite(value):
        raise _Stopped(_failure(f'"{column}" is {value}'))
    return value


def _read(sample: Mapping[str, Any], column: ColumnName, read: Any) -> Any:
    """The claims or labels of a column; a Failure that names the column where they cannot be read."""
    try:
        return read(_column(sample, column))
    except ClaimError as error:
        return _failure(f'"{column}": {error}')
    except _Stopped as stopped:
        return stopped.failure


def _failure(detail: str, kind: FailureKind = "parse") -> Failure:
    return Failure(stage=STAGE, kind=kind, detail=detail)


NAMES = (*SCORES, *(f"{REQUIRED_PREFIX}{name}" for name in SCORES))
KIND = JudgeScorerKind(
    settings=RagChecker,
    score=check_rag,
    values=NAMES,
    metadata=("response_claims", "target_claims", "retrieved_chunks"),
    ranges=dict.fromkeys(NAMES, SHARE),
)

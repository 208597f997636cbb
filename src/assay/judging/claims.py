"""Claims: single facts that a text states, taken out of it, labelled, and looked for in other texts by a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from assay.judging.ask import ask_judge
from assay.judging.json_extraction import Unreadable, objects_in
from assay.judging.parse import ParsedReply, field_of, spoken
from assay.judging.prompts import wording
from assay.judging.question import fenced
from assay.types import Ask, CallPurpose, Failure, Item, Request, Sampling

BATCH = 20
"""The number of claims checked against a text in one call: with more, judges become careless."""
Label = Literal["REQUIRED", "OPTIONAL"]
LABELS: tuple[Label, ...] = ("REQUIRED", "OPTIONAL")
_PARTS = ("subject", "predicate", "object")
_DETERMINISTIC = Sampling(temperature=0)
Value = TypeVar("Value")


class ClaimError(ValueError):
    """A value is not a valid list of claims or of their labels; the message explains the problem."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact."""

    subject: str
    predicate: str
    object: str

    def __str__(self) -> str:
        return " ".join(part for part in (self.subject, self.predicate, self.object) if part)

    def document(self) -> dict[str, str]:
        """Return the claim in the form that datasets use."""
        return {"subject": self.subject, "predicate": self.predicate, "object": self.object}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entailment:
    """Whether a text entails a claim, with the judge's reason."""

    entailed: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimJudge:
    """The model that works with claims, how it is reached, and what its failures are called."""

    ask: Ask
    model: str
    stage: str = "score"
    purpose: CallPurpose = "judge"

    async def extract(self, question: str | None, text: str, instructions: str | None = None) -> list[Claim] | Failure:
        """The claims of a text that answers a question."""
        parts = ([f"Question:\n{fenced('QUESTION', question)}"] if question else []) + [
            f"Text:\n{fenced('TEXT', text)}"
        ]
        system = wording("claims_extract", instructions=_paragraph(instructions))
        return await self._asked(system, "\n\n".join(parts), _read_extracted)

    async def label(
        self, question: str, answer: str, claims: Sequence[Claim], instructions: str | None = None
    ) -> list[Label] | Failure:
        """Label each claim of an answer as required by the question or optional."""
        if not claims:
            return []
        system = wording("claims_label", count=str(len(claims)), instructions=_paragraph(instructions))
        sections = [
            f"Question:\n{fenced('QUESTION', question)}",
            f"Answer:\n{fenced('ANSWER', answer)}",
            _listed(claims),
        ]
        return await self._asked(system, "\n\n".join(sections), lambda text: _read_entries(text, len(claims), _label))

    async def quotes(
        self, claims: Sequence[Claim], source: str, instructions: str | None = None
    ) -> list[str | None] | Failure:
        """Return the supporting passage of the source for each claim, None where there is none.

        A quote that does not occur in the source makes the reply unusable.
        """
        if not claims:
            return []
        system = wording("claims_quote", count=str(len(claims)), instructions=_paragraph(instructions))
        user = f"Source:\n{fenced('SOURCE', source)}\n\n{_listed(claims)}"

        def quote(entry: Mapping[str, Any], name: str) -> str | None:
            passage = field_of(entry, "quote")
            if passage is not None and (not isinstance(passage, str) or not passage or passage not in source):
                raise Unreadable(f'the quote of "{name}" does not occur in the source')
            return passage

        return await self._asked(system, user, lambda text: _read_entries(text, len(claims), quote))

    async def entailments(self, claims: Sequence[Claim], text: str) -> list[Entailment] | Failure:
        """For each claim whether the text entails it; long lists are asked about in several calls."""
        batches = [claims[start : start + BATCH] for start in range(0, len(claims), BATCH)]
        answers = await gathered([self._entailed(batch, text) for batch in batches])
        entailments: list[Entailment] = []
        for answer in answers:
            if isinstance(answer, Failure):
                return answer
            entailments += answer
        return entailments

    async def _entailed(self, claims: Sequence[Claim], text: str) -> list[Entailment] | Failure:
        system = wording("claims_entail", count=str(len(claims)))
        user = f"Text:\n{fenced('TEXT', text)}\n\n{_listed(claims)}"
        return await self._asked(system, user, lambda reply: _read_entries(reply, len(claims), _entailment))

    async def _asked(self, system: str, user: str, read: Callable[[str], Value]) -> Value | Failure:
        messages: tuple[Item, ...] = (
            {"type": "message", "role": "system", "content": system},
            {"type": "message", "role": "user", "content": user},
        )
        request = Request(messages=messages, sampling=_DETERMINISTIC)
        verdict = await ask_judge(
            self.ask,
            request,
            model=self.model,
            read=lambda text: ParsedReply(value=read(text), written=text),
            stage=self.stage,
            purpose=self.purpose,
        )
        return verdict if isinstance(verdict, Failure) else verdict.value


async def gathered(questions: Sequence[Any]) -> list[Any]:
    """The answers to all questions; every one is put before the first error is raised, so that a plan counts them."""
    answers = await asyncio.gather(*questions, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return list(answers)


def claims_of(value: Any) -> list[Claim]:
    """The claims in a column: mappings with a subject, a predicate and an object, also nested under `claim`.

    >>> [str(claim) for claim in claims_of([{"claim": {"subject": "Bern", "predicate": "is", "object": "a city"}}])]
    ['Bern is a city']
    """
    if not isinstance(value, list):
        raise ClaimError(f"expected a list of claims, got {type(value).__name__}")
    return [_claim(entry, number) for number, entry in enumerate(value, start=1)]


def labels_of(value: Any, claims: Sequence[Claim]) -> list[Label]:
    """The labels in a column, one for each claim."""
    if not isinstance(value, list):
        raise ClaimError(f"expected a list of labels, got {type(value).__name__}")
    if len(value) != len(claims):
        raise ClaimError(f"there are {len(value)} labels for {len(claims)} claims")
    return [_read_label(entry, number) for number, entry in enumerate(value, start=1)]


def _claim(entry: Any, number: int) -> Claim:
    if isinstance(entry, Mapping) and isinstance(entry.get("claim"), Mapping):
        entry = entry["claim"]
    if not isinstance(entry, Mapping):
        raise ClaimError(f"claim {number} is not a mapping with subject, predicate and object")
    for part in _PARTS:
        if not isinstance(entry.get(part), str) or (part != "object" and not entry[part].strip()):
            raise ClaimError(f"claim {number} has no {part}")
    return Claim(*(str(entry[part]).strip() for part in _PARTS))


def _read_label(entry: Any, number: int) -> Label:
    for label in LABELS:
        if isinstance(entry, str) and entry.strip().upper() == label:
            return label
    raise ClaimError(f"label {number} is {entry!r}; expected REQUIRED or OPTIONAL")


def _paragraph(instructions: str | None) -> str:
    return f"\n{instructions.strip()}\n" if instructions and instructions.strip() else ""


def _listed(claims: Sequence[Claim]) -> str:
    lines = "\n".join(f"claim_{number}: {claim}" for number, claim in enumerate(claims, start=1))
    return f"Claims:\n{fenced('CLAIMS', lines)}"


def _read_extracted(text: str) -> list[Claim]:
    for document in reversed(objects_in(spoken(text))):
        listed = field_of(document, "claims")
        if isinstance(listed, list):
            try:
                return claims_of(listed)
            except ClaimError as error:
                raise Unreadable(str(error)) from error
    raise Unreadable('the reply holds no JSON object with a list "claims"')


def _read_entries(text: str, count: int, read: Callable[[Mapping[str, Any], str], Value]) -> list[Value]:
    """Read the entry for each claim by name; raise Unreadable if one is missing."""
    named = [document for document in objects_in(spoken(text)) if field_of(document, "claim_1") is not None]
    if not named:
        raise Unreadable('the reply holds no JSON object with the field "claim_1"')
    values = []
    for number in range(1, count + 1):
        name = f"claim_{number}"
        entry = field_of(named[-1], name)
        if not isinstance(entry, Mapping):
            raise Unreadable(f'the reply says nothing of "{name}"')
        values.append(read(entry, name))
    return values


def _entailment(entry: Mapping[str, Any], name: str) -> Entailment:
    entailed = field_of(entry, "entailed")
    if not isinstance(entailed, bool):
        raise Unreadable(f'"entailed" of "{name}" is neither true nor false')
    return Entailment(entailed=entailed, reason=str(field_of(entry, "reason") or ""))


def _label(entry: Mapping[str, Any], name: str) -> Label:
    try:
        return _read_label(field_of(entry, "label"), 0)
    except ClaimError as error:
        raise Unreadable(f'the label of "{name}" is neither REQUIRED nor OPTIONAL') from error

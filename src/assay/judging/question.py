"""One criterion of one submission as a question to a judge, and the reading of the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from assay.judging.answers import Labels, bare, listed, number_of, plain, shown
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.examples import Judged
from assay.judging.json_extraction import Unreadable
from assay.judging.parse import Answers, ParsedReply, read_reply
from assay.judging.prompts import wording
from assay.judging.shuffle import digest
from assay.types import Item, Request, Sampling

STATUS = "criterion_status"
CHOICE = "selected_option"
_MARK = 32
"""The number of hexadecimal digits of the digest in a marker line: a text cannot contain its own digest."""
_LETTERED = re.compile(
    r"(?:option\s+)?(?P<letter>[A-Z]{1,2})(?:\s*[).:\]-]+\s*(?P<label>.*))?", re.IGNORECASE | re.DOTALL
)
_ALONE = re.compile(r"(?<!\w)[B-HJ-Z](?!\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """The text to judge, the prompt that it answers, and a reference; `row` is its position in the dataset.

    `thinking` is what the author thought aloud: it counts for the length, and no judge sees it.
    """

    text: str
    prompt: str | None = None
    reference: str | None = None
    guidelines: str | None = None
    row: int = 0
    thinking: str = ""


class Statuses:
    """MET, UNMET or CANNOT_ASSESS, in any case and with any space between words."""

    def __init__(self) -> None:
        self._labels = Labels([verdict.value for verdict in CriterionVerdict])

    def read(self, value: Any) -> CriterionVerdict:
        """The verdict; raises Unreadable for anything else."""
        text = plain(value)
        return CriterionVerdict(self._labels.read(re.sub(r"(?i)\bcannot[ -]+assess\b", "CANNOT_ASSESS", text)))

    def named_in(self, text: str) -> frozenset[CriterionVerdict]:
        """The verdicts that a text mentions."""
        return frozenset(CriterionVerdict(label) for label in self._labels.named_in(text))


class Lettered:
    """One of the shown options: recognised by letter, exact label, label in any case, or number.

    `order[place]` is the option that was shown at a place; what is read is the option's own index.
    """

    def __init__(self, labels: Sequence[str], order: Sequence[int]) -> None:
        self._order = tuple(order)
        self._shown = [labels[index] for index in order]
        self._labels = Labels(self._shown)
        self._letters = {letter(place): place for place in range(len(order))}
        self._numbered = all(number_of(label) is None for label in labels)

    def read(self, value: Any) -> int:
        """The option's index; raises Unreadable when it is none of them."""
        text = plain(value).strip()
        return self._order[self._place(text)]

    def _place(self, text: str) -> int:
        undecorated = bare(text)
        for candidate in (text, undecorated):
            if candidate in self._letters:
                return self._letters[candidate]
        if text in self._shown:
            return self._shown.index(text)
        if undecorated.upper() in self._letters:
            return self._letters[undecorated.upper()]
        try:
            return self._shown.index(self._labels.read(text))
        except Unreadable as problem:
            return self._otherwise(text, undecorated, problem)

    def _otherwise(self, text: str, undecorated: str, problem: Unreadable) -> int:
        """Recognise a letter followed by its label, or a number from 1 if no label is a number."""
        match = _LETTERED.fullmatch(undecorated)
        place = self._letters.get(match["letter"].upper()) if match else None
        if (
            match
            and place is not None
            and bare(match["label"] or "").casefold() in ("", bare(self._shown[place]).casefold())
        ):
            return place
        number = number_of(text)
        if self._numbered and number is not None and number.is_integer() and 1 <= number <= len(self._shown):
            return int(number) - 1
        options = listed([f"{name}) {label}" for name, label in zip(self._letters, self._shown, strict=True)])
        raise Unreadable(f"{shown(text)} is none of the options {options}") from problem

    def named_in(self, text: str) -> frozenset[int]:
        """The options that a text mentions, by their labels or by letters that are no words."""
        by_label = {self._order[self._shown.index(label)] for label in self._labels.named_in(text)}
        by_letter = {self._order[self._letters[mark]] for mark in _ALONE.findall(text) if mark in self._letters}
        return frozenset(by_label | by_letter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The user's changes to a question: other instructions, and additional reply fields as JSON schemas."""

    instructions: str | None = None
    further_fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One criterion as a judge sees it: `order` is how the options are shown, None for a binary one.

    `examples` stand between the submission and the criterion.
    """

    criterion: Criterion
    order: tuple[int, ...] | None
    examples: tuple[Judged, ...] = ()
    wishes: Wishes = field(default_factory=Wishes)

    def request(self, submission: Submission, sampling: Sampling) -> Request:
        """The question: instructions, guidelines, prompt, reference, submission, and the criterion last.

        All criteria of a submission begin with the same text, which providers keep and charge less for. Weights and
        values are not shown: a judge who knows what hangs on a verdict does not look at the submission alone.
        """
        messages: tuple[Item, ...] = (
            {
                "type": "message",
                "role": "system",
                "content": told("rubric", submission.guidelines, self.wishes.instructions),
            },
            {"type": "message", "role": "user", "content": f"{material(submission)}\n\n{self.asked()}"},
        )
        return Request(messages=messages, sampling=sampling, schema=self.schema(), purpose="judge")

    def read(self, text: str) -> ParsedReply[Any]:
        """Parse a reply; raise Unreadable if it has no verdict."""
        return read_reply(text, self.field, self.answers())

    @property
    def field(self) -> str:
        """Return the reply field that holds the verdict."""
        return STATUS if self.order is None else CHOICE

    def answers(self) -> Answers[Any]:
        """Return the answers that the judge may give."""
        if self.order is None:
            return _statuses()
        return _lettered(tuple(option.label for option in self.criterion.choices), self.order)

    def asked(self) -> str:
        """The criterion with its options and the form of the answer, after its examples."""
        return "\n\n".join(part for part in (self._shown_examples(), self._criterion()) if part)

    def _shown_examples(self) -> str:
        if not self.examples:
            return ""
        examples = [
            _example(number, example, self._answer(example)) for number, example in enumerate(self.examples, start=1)
        ]
        return wording("rubric_examples", examples="\n\n".join(examples))

    def _answer(self, example: Judged) -> str:
        """Return a human verdict in the form in which the judge would answer."""
        if isinstance(example.value, CriterionVerdict):
            return example.value.value
        assert self.order is not None
        return f"{letter(self.order.index(example.value))}) {self.criterion.choices[example.value].label.strip()}"

    def _criterion(self) -> str:
        criterion = self.criterion
        fault = criterion.weight < 0
        note = "\nThe criterion describes a fault.\n" if fault else ""
        if self.order is None:
            meaning = "the submission has this fault" if fault else "the submission does what the criterion asks"
            return wording(
                "rubric_binary",
                requirement=criterion.requirement.strip(),
                fault=note,
                meaning=f"MET means that {meaning}; CANNOT_ASSESS, that the material is not enough to tell.",
            )
        lines = [f"{letter(place)}) {criterion.choices[index].label.strip()}" for place, index in enumerate(self.order)]
        return wording(
            "rubric_choice",
            requirement=criterion.requirement.strip(),
            fault=note,
            options="\n".join(lines),
            letters=", ".join(letter(place) for place in range(len(lines))),
        )

    def schema(self, *, explained: bool = True) -> Mapping[str, Any]:
        """The form of the reply; without an explanation, the verdict alone."""
        if self.order is None:
            statuses = tuple(verdict.value for verdict in CriterionVerdict)
            return _answer_schema(STATUS, statuses, explained, self.wishes.further_fields)
        letters = tuple(letter(place) for place in range(len(self.order)))
        return _answer_schema(CHOICE, letters, explained, self.wishes.further_fields)


def letter(place: int) -> str:
    """Return the letter of the option at a position: A to Z, then AA, AB and so on.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


@lru_cache(maxsize=1)
def _statuses() -> Statuses:
    """The statuses of every question, built once: building them takes as long as parsing a reply."""
    return Statuses()


@lru_cache(maxsize=1024)
def _lettered(labels: tuple[str, ...], order: tuple[int, ...]) -> Lettered:
    return Lettered(labels, order)


@lru_cache
def _answer_schema(
    field: str, answers: tuple[str, ...], explained: bool, further: tuple[tuple[str, str], ...]
) -> Mapping[str, Any]:
    """The explanation comes first, so that it is written before the verdict."""
    fields_before: dict[str, Any] = {"explanation": {"type": "string"}} if explained else {}
    if explained:
        fields_before |= {name: orjson.loads(schema) for name, schema in further}
    properties = {**fields_before, field: {"type": "string", "enum": list(answers)}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@lru_cache(maxsize=64)
def told(name: str, guidelines: str | None, instructions: str | None = None) -> str:
    """Build the system message: the instructions, and the guidelines of the rubric."""
    text = wording(name) if instructions is None else instructions
    return text if guidelines is None else f"{text}\n\nGuidelines for all criteria:\n{guidelines.strip()}"


def material(submission: Submission) -> str:
    """Build the material of a question: submission, prompt and reference, each between markers."""
    parts = [("PROMPT", submission.prompt), ("REFERENCE", submission.reference), ("SUBMISSION", submission.text)]
    titles = {
        "PROMPT": "What the submission answers:",
        "REFERENCE": "A reference to compare with; other good submissions may look different:",
        "SUBMISSION": "The submission to judge:",
    }
    return "\n\n".join(f"{titles[name]}\n{fenced(name, text)}" for name, text in parts if text is not None)


def _example(number: int, example: Judged, answer: str) -> str:
    parts = [f"Example {number}:"]
    if example.prompt is not None:
        parts.append(fenced("EXAMPLE PROMPT", example.prompt))
    reason = [] if example.reason is None else [f"Why:\n{fenced('REASON', example.reason)}"]
    return "\n".join([*parts, fenced("EXAMPLE", example.text), *reason, f"Verdict: {answer}"])


def fenced(name: str, text: str) -> str:
    """Put a text between marker lines that contain its digest, so that the text cannot close them."""
    mark = f"{name} {digest(text)[:_MARK]}"
    return f"=====BEGIN {mark}=====\n{text}\n=====END {mark}====="

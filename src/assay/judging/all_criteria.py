"""All criteria of one submission as a single question, and the reading of an answer that may lack some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.judging.json_extraction import Object, Unreadable, objects_in
from assay.judging.parse import ParsedReply, field_of, read_object, spoken
from assay.judging.prompts import wording
from assay.judging.question import Question, Submission, material, told
from assay.types import Item, Request, Sampling


class Whole:
    """The questions of all criteria in one; what was read once stays read when the judge is asked again."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        self.read_so_far: dict[int, ParsedReply[Any]] = {}

    def request(self, submission: Submission, sampling: Sampling) -> Request:
        """Build the request: the submission, then every criterion under its own name."""
        asked = [f"{answer_name(place)}\n{question.asked()}" for place, question in enumerate(self.questions)]
        names = ", ".join(answer_name(place) for place in range(len(self.questions)))
        form = wording("rubric_names", count=str(len(self.questions)), names=names)
        text = "\n\n".join([material(submission), *asked, form])
        system = told("rubric_item", submission.guidelines, self.questions[0].wishes.instructions)
        messages: tuple[Item, ...] = (
            {"type": "message", "role": "system", "content": system},
            {"type": "message", "role": "user", "content": text},
        )
        return Request(messages=messages, sampling=sampling, schema=self.schema(), purpose="judge")

    def schema(self, *, explained: bool = True) -> Mapping[str, Any]:
        """The form of the reply: an object with the answer to every criterion."""
        properties = {
            answer_name(place): question.schema(explained=explained) for place, question in enumerate(self.questions)
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def read(self, text: str) -> ParsedReply[Mapping[int, ParsedReply[Any]]]:
        """All answers, with those of an earlier reply; raises Unreadable while a criterion lacks one."""
        reply = spoken(text)
        names = [answer_name(place) for place in range(len(self.questions))]
        holding = [
            candidate for candidate in objects_in(reply) if any(field_of(candidate, name) is not None for name in names)
        ]
        problems: list[str] = []
        for place, question in enumerate(self.questions):
            if place in self.read_so_far:
                continue
            try:
                self.read_so_far[place] = _answer(holding, place, question)
            except Unreadable as problem:
                problems.append(f"{answer_name(place)}: {problem}")
        if problems:
            raise Unreadable("; ".join(problems))
        return ParsedReply(value=dict(self.read_so_far), written=reply)


def answer_name(place: int) -> str:
    """The name of a criterion in a question about all of them."""
    return f"criterion_{place + 1}"


def _answer(holding: Sequence[Object], place: int, question: Question) -> ParsedReply[Any]:
    """The last answer to a criterion: an object with its explanation, or the bare verdict."""
    answer = next(
        (
            value
            for reply_object in reversed(holding)
            if (value := field_of(reply_object, answer_name(place))) is not None
        ),
        None,
    )
    if answer is None:
        raise Unreadable("there is no answer")
    if isinstance(answer, Mapping):
        return read_object(answer, question.field, question.answers())
    return ParsedReply(value=question.answers().read(answer), written=str(answer))

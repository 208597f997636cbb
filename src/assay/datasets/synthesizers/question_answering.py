"""`question_answering`: questions about a text with their answers, written by a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.datasets.synthesizers.common import Row, SynthesizedRows, SynthesizerSpec, failed
from assay.judging.ask import ask_judge
from assay.judging.json_extraction import Unreadable, objects_in
from assay.judging.parse import ParsedReply, field_of, spoken
from assay.judging.prompts import wording
from assay.judging.question import fenced
from assay.registry import AskingSynthesizerKind
from assay.spec.sampling import SamplingSpec
from assay.types import Ask, Failure, Item, Request, Sampling

Key = Annotated[str, Field(min_length=1)]
_FORMS = {
    "open_ended": (
        "- The answer is a sentence or a short phrase.",
        '{"questions": [{"question": "<the question>", "expected_answer": "<the answer>"}, ...]}',
    ),
    "multiple_choice": (
        "- Each question has $choices choices of which exactly one is right. The wrong ones are plausible, alike in "
        "length and form, and wrong by the text.",
        '{"questions": [{"question": "<the question>", "choices": ["<a choice>", ...], '
        '"correct_choice": "<the right choice, word for word>"}, ...]}',
    ),
}
LETTERS = "ABCDEFGHIJ"


class QuestionAnswering(SynthesizerSpec):
    """Questions about the text of a row, one row each: with choices, or with an expected answer."""

    type: Literal["question_answering"]
    model_key: Key
    qa_type: Literal["multiple_choice", "open_ended"]
    content_column: Key = "text"
    title_column: Key | None = None
    summary_column: Key | None = None
    num_questions: int = Field(default=1, ge=1, le=50)
    num_choices: int = Field(default=4, ge=2, le=len(LETTERS))
    instructions: str | None = None
    sampling: SamplingSpec | None = None


async def asked(settings: QuestionAnswering, row: Row, ask: Ask) -> SynthesizedRows:
    """Return one row per question; a reply without usable questions is requested once more, then the row fails."""
    parts: list[str] = []
    for title, column in (
        ("Title", settings.title_column),
        ("Summary", settings.summary_column),
        ("Text", settings.content_column),
    ):
        if column is None:
            continue
        text = row.get(column)
        if not isinstance(text, str) or not text.strip():
            state = "no column" if column not in row else "no text in the column"
            return failed(f'the row has {state} "{column}"', "missing_field")
        parts.append(f"{title}:\n{fenced(title.upper(), text)}")
    form, shape = _FORMS[settings.qa_type]
    count = "one question" if settings.num_questions == 1 else f"{settings.num_questions} different questions"
    instructions = f"\n{settings.instructions.strip()}\n" if settings.instructions else ""
    system = wording(
        "questions",
        count=count,
        form=form.replace("$choices", str(settings.num_choices)),
        shape=shape,
        instructions=instructions,
    )
    messages: tuple[Item, ...] = (
        {"type": "message", "role": "system", "content": system},
        {"type": "message", "role": "user", "content": "\n\n".join(parts)},
    )
    request = Request(messages=messages, sampling=Sampling() if settings.sampling is None else settings.sampling.value)

    def read(text: str) -> ParsedReply[list[Row]]:
        return ParsedReply(value=_questions(text, settings), written=text)

    verdict = await ask_judge(ask, request, model=settings.model_key, read=read, stage="generate", purpose="generate")
    return verdict if isinstance(verdict, Failure) else [{**row, **question} for question in verdict.value]


def _questions(text: str, settings: QuestionAnswering) -> list[Row]:
    """Read the questions of a reply; raise Unreadable if there are too few or one is invalid."""
    listed = [field_of(document, "questions") for document in objects_in(spoken(text))]
    entries = next((entry for entry in reversed(listed) if isinstance(entry, list)), None)
    if entries is None:
        raise Unreadable('the reply holds no JSON object with a list "questions"')
    if len(entries) < settings.num_questions:
        raise Unreadable(f"the reply has {len(entries)} of {settings.num_questions} questions")
    return [_question(entry, settings) for entry in entries[: settings.num_questions]]


def _question(entry: Any, settings: QuestionAnswering) -> Row:
    if not isinstance(entry, Mapping):
        raise Unreadable("a question is not a JSON object")
    question = _text(entry, "question")
    if settings.qa_type == "open_ended":
        return {"question": question, "expected_answer": _text(entry, "expected_answer")}
    choices = field_of(entry, "choices")
    if not isinstance(choices, list) or not all(isinstance(choice, str) and choice.strip() for choice in choices):
        raise Unreadable('"choices" is not a list of texts')
    if len(choices) != settings.num_choices or len({choice.strip() for choice in choices}) != len(choices):
        raise Unreadable(f"a question has not {settings.num_choices} different choices")
    right = _text(entry, "correct_choice")
    if right not in choices:
        raise Unreadable("the correct choice is none of the choices")
    return {
        "question": question,
        "choices": choices,
        "correct_choice": LETTERS[choices.index(right)],
        "expected_answer": right,
    }


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = field_of(entry, name)
    if not isinstance(value, str) or not value.strip():
        raise Unreadable(f'a question lacks "{name}"')
    return value.strip()


KIND = AskingSynthesizerKind(settings=QuestionAnswering, synthesize=asked)

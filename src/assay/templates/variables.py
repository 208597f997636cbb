"""The variables of templates: the sample, the reply, and several views of the conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from assay.types import Item, Rows, Trace, content_text


class AnswerText(str):
    """A reply that is its text, and answers `.choices[0].message.content` like a chat completion."""

    __slots__ = ()

    @property
    def choices(self) -> list[dict[str, Any]]:
        return [{"index": 0, "message": {"role": "assistant", "content": str(self)}}]

    def __getitem__(self, key: Any) -> Any:
        return self.choices if key == "choices" else super().__getitem__(key)


class Parts(list[Any]):
    """The parts of a message's content: prints as its text, and `in` looks into that text."""

    def __str__(self) -> str:
        return content_text(list(self))

    def __contains__(self, part: object) -> bool:
        return part in str(self) if isinstance(part, str) else super().__contains__(part)


class SampleRow(dict[str, Any]):
    """A sample's columns; `sample_id` exists even if no column has that name."""

    def __init__(self, sample: Mapping[str, Any], sample_id: str) -> None:
        super().__init__(sample)
        self._id = sample_id

    def __missing__(self, name: str) -> Any:
        if name == "sample_id":
            return self._id
        raise KeyError(name)


class OutputVariable:
    """The solver's output for a sample."""

    def __init__(self, rows: Rows, i: int) -> None:
        self._row = (rows, i)
        self.output = _answer(rows, i)

    @cached_property
    def trace(self) -> Trace:
        return _trace(*self._row)

    @cached_property
    def solver_outputs(self) -> Any:
        """The outputs of a grouped solver, a list or by their names, each with `output`."""
        try:
            answers = json.loads(self.output)
        except ValueError:
            answers = None
        if isinstance(answers, dict):
            return {name: {"output": AnswerText(text)} for name, text in answers.items()}
        if isinstance(answers, list):
            return [{"output": AnswerText(text)} for text in answers]
        raise AttributeError("solver_outputs")


def _readable(item: Item) -> Item:
    content = item.get("content")
    if isinstance(content, str) or "content" not in item:
        return item
    return {**item, "content": "" if content is None else Parts(content)}


def _trace(rows: Rows, i: int) -> Trace:
    if rows.traces is not None:
        return Trace(tuple(_readable(item) for item in rows.traces[i].items))
    reply = _answer(rows, i)
    return Trace(({"type": "message", "role": "assistant", "content": str(reply)},))


def _answer(rows: Rows, i: int) -> AnswerText:
    if rows.answers is None:
        raise KeyError("answers")
    return AnswerText(rows.answers[i])


def _input_prompt(rows: Rows, i: int) -> str:
    text = _trace(rows, i).get_last_user_text()
    if text is None:
        raise KeyError("input_prompt")
    return text


_BUILD: dict[str, Callable[[Rows, int], Any]] = {
    "sample": lambda rows, i: SampleRow(rows.samples[i], rows.ids[i]),
    "solver_output": OutputVariable,
    "trace": _trace,
    "messages": lambda rows, i: list(_trace(rows, i).items),
    "model_output": _answer,
    "model_outputs": lambda rows, i: [
        AnswerText(content_text(m.get("content"))) for m in _trace(rows, i).assistant_messages
    ],
    "input_prompt": _input_prompt,
}


class RowVariables(Mapping[str, Any]):
    """The variables of one row, each built on first use."""

    def __init__(self, rows: Rows, i: int) -> None:
        self._row = (rows, i)
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = _BUILD[name](*self._row)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in _BUILD if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def row_variables(rows: Rows, i: int) -> Mapping[str, Any]:
    """Return all variables for row `i`: sample, solver_output, trace, messages and the others.

    >>> rows = Rows(positions=[0], ids=["0"], samples=[{"q": "1+1"}], answers=["2"])
    >>> str(row_variables(rows, 0)["solver_output"].output)
    '2'
    """
    return RowVariables(rows, i)

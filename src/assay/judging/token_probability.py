"""The probability of a judge's answer, from the log-probabilities of its tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def answer_probability(logprobs: Any, answer: str, *, field: str, within: str | None = None) -> float | None:
    """The probability of the tokens of an answer, after all that the model wrote before it.

    `logprobs` is what a provider returned: a list of tokens, or an object with that list under `content`. The answer is
    the text `written` after the name of its `field`; `within` names the object that holds the field, where a reply has
    several. None if there are no log-probabilities or the answer is not among the tokens.

    >>> tokens = ['{"', 'criterion_status', '":"', 'UN', 'MET', '"}']
    >>> logprobs = {"content": [{"token": token, "logprob": math.log(0.9)} for token in tokens]}
    >>> round(answer_probability(logprobs, "UNMET", field="criterion_status"), 4)
    0.81
    """
    tokens = _tokens(logprobs)
    if not tokens or not answer:
        return None
    text = "".join(token for token, _ in tokens)
    start = _position(text, answer, field, within)
    if start is None:
        return None
    end = start + len(answer)
    total, offset = 0.0, 0
    for token, logprob in tokens:
        if offset < end and offset + len(token) > start:
            total += logprob
        offset += len(token)
    return min(1.0, math.exp(total))


def _position(text: str, answer: str, field: str, within: str | None) -> int | None:
    """Return where the answer starts: after its field name, or at the start of a bare answer."""
    begin = 0
    if within is not None:
        begin = text.rfind(f'"{within}"')
        if begin < 0:
            return None
        named = text.find(f'"{field}"', begin)
    else:
        named = text.rfind(f'"{field}"')
    if named >= 0:
        begin = named + len(field) + 2
    elif within is None and text.strip().strip('"') != answer:
        return None
    place = text.find(answer, begin)
    return None if place < 0 else place


def _tokens(logprobs: Any) -> list[tuple[str, float]]:
    """Tokens with their log-probabilities, in the form of chat completions or of the Responses API."""
    entries = logprobs.get("content") if isinstance(logprobs, Mapping) else logprobs
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        return []
    tokens: list[tuple[str, float]] = []
    for entry in entries:
        if not isinstance(entry, Mapping):
            return []
        token, logprob = entry.get("token"), entry.get("logprob")
        if not isinstance(token, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
            return []
        if math.isnan(logprob):
            return []
        tokens.append((token, float(logprob)))
    return tokens

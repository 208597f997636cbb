"""Find where a reply runs on after its answer: a base model may invent and answer further questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

MOST_MARKS = 16
"""The limit on marks; a reply with more repeats itself, and each mark costs a scan of the preceding text."""

_HEADING = r"(?:Next\s+)?(?:Question|Problem|Exercise|Example|Quiz)"
_MARK = re.compile(
    # a line that begins the next question, or the next turn of a conversation
    rf"^[#>*_\s\-]{{0,6}}(?:{_HEADING}s?|Q)(?:[ \t]*(?:no\.?|number|\#)?[ \t]*\d{{1,4}})?[*_\s]{{0,4}}[:.)]"
    rf"|^[#>*_\s]{{0,6}}{_HEADING}[ \t]*\#?\d{{1,4}}[*_\s]{{0,4}}$"
    r"|^[#>*_\s]{0,6}(?:Human|User|Instructions?|Input|Prompt|Student)[*_\s]{0,4}:"
    r"|^\s*(?:<\|[^|\n]{1,40}\|>|\[INST\]|</?s>|---+\s*$|===+\s*$)"
    # the instruction that few-shot prompts repeat
    r"|^\s*(?:The\s+following\s+(?:is|are)\s+(?:a\s+)?(?:multiple|single)[\s-]choice"
    r"|(?:Answer|Solve|Consider|Read)\s+the\s+(?:following|next)\b"
    r"|(?:Choose|Select|Pick)\s+the\s+(?:correct|best|right)\s+(?:answer|option|choice)\b)"
    # the same inside a line, where only a capital and a colon tell it from a sentence
    r"|(?<=\s)(?-i:Question|Problem|Exercise|Q)(?:\s?\d{1,4})?:\s",
    re.IGNORECASE | re.MULTILINE,
)
_ASKS = re.compile(r"(?:\?|_{2,}\.?)[*_\s]*$|^\s*\d{1,4}[.)]\s")


def run_on_marks(text: str, choices: tuple[str, ...]) -> Iterator[int]:
    """Return the positions where a new question may begin in a tidied text, in order.

    >>> list(run_on_marks("B\\nQuestion: Why?\\nAnswer: C", ("A", "B", "C")))
    [2]
    """
    starts = {match.start() for match in _MARK.finditer(text)}
    starts.update(match.start() for match in _listed(choices).finditer(text) if _ASKS.search(match["question"]))
    return islice(sorted(starts - {0}), MOST_MARKS)


@lru_cache(maxsize=256)
def _listed(choices: tuple[str, ...]) -> re.Pattern[str]:
    """A line with the first two choices, each with its text, on the lines below it."""
    if len(choices) < 2:
        return re.compile(r"(?!)(?P<question>)")
    first, second = (rf"\(?{re.escape(choice)}[).:][ \t]*\S[^\n]*" for choice in choices[:2])
    return re.compile(rf"^(?P<question>[^\n]+)(?=\n{first}\n{second})", re.MULTILINE)

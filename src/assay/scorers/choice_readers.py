"""Find the choice that a free-form reply means: several readers, each certain of a few forms and silent otherwise.

A reading is a choice, None where a reader finds nothing, or "" where it finds choices that contradict each other.
A letter in the middle of a sentence is never read: "A good answer needs thought" says nothing about A.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import orjson

from assay.scorers.run_on import run_on_marks

Reading = str | None
CONTRADICTION = ""

_OPEN = r"""[*_~`"'“‘(\[{$]{0,6}"""
_CLOSE = r"""[*_~`"'”’)\]}$]{0,6}"""
_NOUN = r"\b(?:answer|choice|option|response|solution|selection|pick)"
_OF_WHAT = r"(?:\s+(?:choice|option|letter|here|(?:to|for)\s+(?:this|the)\s+question))?"
_LINK = (
    r"(?:[*_]{0,3}\s+(?:is|would\s+be|will\s+be|should\s+be|must\s+be|has\s+to\s+be|remains)\b"
    r"|\s*[*_]{0,3}\s*(?::|=|→|->)|\s+[-–—](?=\s))"
)
_FILL = (
    r"(?:\s*[:*_]{1,3}|\s+(?:clearly|definitely|most|likely|probably|therefore|thus|indeed|actually|simply"
    r"|either|both|option|choice|letter|answer|the|correct|indicated\s+by|labell?ed|given\s+by)\b){0,6}"
)
_I_CHOOSE = (
    r"(?:\b(?:I|we)\s+(?:would\s+)?(?:think|believe|guess|say)\s+(?:that\s+)?(?:it\s+is|it['’]s)\b|"
    r"\b(?:I|we)(?:\s+would|['’]d)\s+(?:say|guess)\b(?:\s+that\b)?|"
    r"\b(?:I|we|I['’]d|I['’]ll|I['’]m|I\s+am|I\s+would|I\s+will|let['’]s|let\s+me|must)\s+(?:\w+\s+){0,2}?"
    r"(?:choose|pick|select|go(?:ing)?\s+with|opt(?:ing)?\s+for|choosing|picking|selecting)\b)"
    r"(?:\s+(?:the|option|choice|answer|letter)\b){0,2}"
)
_IT_IS = (
    r"\b(?:it\s+is|it['’]s|it\s+must\s+be|it\s+should\s+be|it\s+has\s+to\s+be)(?:\s+(?:option|choice|letter|answer)\b)?"
)
_BEFORE_SUBJECT = (
    r"(?:\A|[.!?:;,\n(]\s{0,5}|\b(?:so|therefore|thus|hence|option|choice|answer|think|believe|that|say|only)\s+)"
)
_IS_CORRECT = (
    r"\s+(?:is|must\s+be|would\s+be|should\s+be)\s+"
    r"(?:(?:clearly|definitely|the|most|likely|probably|only|therefore|thus|indeed|our|my)\s+){0,3}"
    r"(?:correct|right|best|answer)\b(?:\s+(?:answer|choice|option|one|response))?"
)
_STATEMENT_WORDS = ("answer", "choice", "option", "response", "solution", "selection", "pick")
_CHOICE_WORDS = ("think", "believe", "guess", "say", "choos", "pick", "select", "go with", "going with", "opt")
_IT_WORDS = ("it is", "it's", "it’s", "it must", "it should", "it has")
_PRAISE_WORDS = ("correct", "right", "best", "the answer", "my answer", "our answer")
_CLAUSE = re.compile(r"[.!?,;:\n]|\b(?:but|so|therefore|thus|hence)\b", re.IGNORECASE)
# a clause with one of these does not say what the answer is: it doubts, supposes, denies or reports
_NO_CLAIM = re.compile(
    r"\b(?:not|never|cannot|no\s+longer|neither|nor|if|whether|unless|suppose|supposing|assume|assuming|wrong|incorrect"
    r"|might|may|could|why|thought|initially|tempting|some|others|people|many|someone|except|than|eliminate|hardly)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"\b(?:wait|actually|correction|sorry|instead|rather|hmm+|no|mistake|however|reconsider\w*|on\s+second\s+thought)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\s*(?:\Z|\n|[,;:—–。，；！]|[.!](?:[\s*_)\"'”’]|\Z)|\(|[-–—]\s"
    r"|(?:because|since|as|for|which|due|given|and|or|but|not|rather|instead|with|based|according)\b)",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"(?:```\w*\s*)?(?P<object>\{.*\})(?:\s*```)?", re.DOTALL)
_ANSWER_FIELDS = ("answer", "choice", "option", "letter")
_ENDS_LINE = re.compile(r"""[.!*_)"'`”’\s]*?(?:\Z|\n)""")
_ENDS_SENTENCE = re.compile(r"""\s*(?:\Z|\n|[.!,;。，；！])""")


@dataclass(frozen=True, slots=True)
class Statement:
    """A choice that the reply names, where it does so, and whether it calls it final."""

    choice: str
    start: int
    end: int
    final: bool = False


@dataclass(frozen=True, slots=True)
class Forms:
    """The patterns for one set of choices."""

    choices: tuple[str, ...]
    folded: Mapping[str, str]
    statement: re.Pattern[str]
    chosen: re.Pattern[str]
    it_is: re.Pattern[str]
    is_correct: re.Pattern[str]
    another: re.Pattern[str]
    boxed: re.Pattern[str]
    bold: re.Pattern[str]
    line: re.Pattern[str]
    last_sentence: re.Pattern[str]
    leading: re.Pattern[str]

    def named(self, letter: str) -> str | None:
        """The choice that a letter names, in either case."""
        return letter if letter in self.choices else self.folded.get(letter)


@lru_cache(maxsize=256)
def forms(choices: tuple[str, ...]) -> Forms:
    """Build the patterns for a set of choices, once."""
    folded = _folded(choices)
    any_case = "|".join(re.escape(letter) for letter in dict.fromkeys([*choices, *folded]))
    one = rf"(?P<x>{any_case})(?![A-Za-z0-9])"
    token = rf"\s*(?P<open>{_OPEN}){one}(?P<close>{_CLOSE})"
    noise = r"""[\s*_~`"'“‘(\[{$]*"""

    def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
        return re.compile(text, re.IGNORECASE | flags)

    return Forms(
        choices=choices,
        folded=folded,
        statement=pattern(rf"(?P<final>\bfinal\s+)?{_NOUN}{_OF_WHAT}{_LINK}{_FILL}{token}"),
        chosen=pattern(rf"{_I_CHOOSE}{token}"),
        it_is=pattern(rf"{_IT_IS}{token}"),
        is_correct=pattern(rf"{_BEFORE_SUBJECT}{token}{_IS_CORRECT}"),
        another=pattern(
            rf"\s*(?:,\s*(?:and|or)?|and|or|&|/|\+)\s*(?:(?:option|choice|possibly|maybe|perhaps)\s+)?{_OPEN}(?:{any_case})(?![A-Za-z0-9])"
            rf"{_CLOSE}(?=\s*(?:[.,;!]|\Z|\n|and\b|or\b))"
        ),
        boxed=pattern(
            rf"\\boxed\s*\{{\s*(?:\\(?:text|textbf|mathrm|mathbf)\s*\{{)?\s*[(\[]?\s*{one}\s*[)\].:]?[^{{}}\n]{{0,200}}\}}"
            rf"|<answer>\s*[(\[]?(?P<y>{any_case})(?![A-Za-z0-9])[)\].]?[^<\n]{{0,200}}</answer>"
        ),
        bold=pattern(rf"\*\*\s*[(\[]?{one}(?:[)\].:]+(?:\s[^*\n]{{0,200}})?)?\s*\*\*"),
        line=pattern(
            rf"^[ \t]*(?:[>#•-]+[ \t]+)?(?:(?:option|choice|answer|letter)[ \t]+)?{noise}{one}[*_~`\"'”’)\]}}$.:!\s]*$"
        ),
        last_sentence=pattern(
            rf"(?:(?:[.!?\n]|\A|\bA:)\s*|\b(?:so|therefore|thus|hence)[,:]?\s+){_OPEN}{one}{_CLOSE}[.!]?[*_\s]*\Z"
        ),
        leading=pattern(
            rf"^[ \t]*(?P<open>[*_~`\"'“‘(\[]{{0,6}}){one}(?P<close>[*_)\].:]{{0,4}})"
            r"(?P<rest>[ \t]+\S[^\n]*|[,;—–][^\n]*|[ \t]*$)",
        ),
    )


def _folded(choices: Sequence[str]) -> dict[str, str]:
    """The other case of each choice, where it is the other case of one choice only."""
    other = {c.swapcase(): c for c in choices if len(c.swapcase()) == 1}
    return {letter: choice for letter, choice in other.items() if letter not in choices}


def read_statement(text: str, choices: tuple[str, ...]) -> Reading:
    """Read the reply's statement of its answer: "The answer is (B).", "I choose B", "B is correct"."""
    statements = _statements(text, forms(choices))
    return (
        _settled(text, [statement for statement in statements if statement.final])
        if any(s.final for s in statements)
        else _last_word(text, statements)
    )


def read_marked(text: str, choices: tuple[str, ...]) -> Reading:
    """Read a boxed or tagged answer, else the one bold choice at the end of a line."""
    patterns = forms(choices)
    boxed = list(_boxed(text, patterns))
    if boxed:
        return _settled(text, boxed)
    bold = [
        Statement(choice, match.start(), match.end())
        for match in patterns.bold.finditer(text)
        if (choice := patterns.named(match["x"]))
        and _ENDS_LINE.match(text, match.end())
        and _claims(text, match.start())
    ]
    return _settled(text, bold)


def read_last_line(text: str, choices: tuple[str, ...]) -> Reading:
    """The choice that is the whole last line, or the whole last sentence."""
    patterns = forms(choices)
    lines = text.strip().rsplit("\n", 1)
    match = patterns.line.match(lines[-1].strip())
    if match is None:
        match = patterns.last_sentence.search(text)
        # in the last sentence a small letter is a word as likely as a choice
        if match is None or match["x"] not in choices:
            return None
    return patterns.named(match["x"])


def read_first(text: str, choices: tuple[str, ...]) -> Reading:
    """The choice with which the reply begins: "B", "B) Paris", "(B) because"; a list of choices is none."""
    patterns = forms(choices)
    led: list[str] = []
    for number, line in enumerate(_lines(text)):
        choice = _leads(line, patterns)
        if choice is None and number == 0:
            return None
        if choice is not None:
            led.append(choice)
    if not led:
        return None
    return led[0] if len(set(led)) == 1 else CONTRADICTION


def read_quoted(text: str, options: Mapping[str, str]) -> Reading:
    """Read the choice whose text is the whole reply, its last line, or its stated answer."""
    bare: dict[str, list[str]] = {}
    for choice, option in options.items():
        bare.setdefault(_bare(option), []).append(choice)
    lines = list(_lines(text))
    claims = [match["claim"] for line in lines for match in _CLAIM.finditer(line) if _claims(line, match.start())]
    for part in (text, *reversed(claims), *lines[-1:]):
        named = bare.get(_bare(part))
        if named and _bare(part):
            return named[0] if len(named) == 1 else CONTRADICTION
    return None


_CLAIM = re.compile(rf"{_NOUN}{_OF_WHAT}{_LINK}(?P<claim>[^\n]{{1,500}})", re.IGNORECASE)


def _bare(text: str) -> str:
    return re.sub(r"\s+", " ", text.casefold()).strip(" *_~`\"'“”‘’()[]{}$.,;:!?")


READERS: dict[str, Callable[[str, tuple[str, ...]], Reading]] = {
    "first": read_first,
    "statement": read_statement,
    "last_line": read_last_line,
    "marked": read_marked,
}


def read_letter(text: str, choices: tuple[str, ...], options: Mapping[str, str] | None = None) -> Reading:
    """The choice that a reply means, from the most explicit form to the least.

    >>> read_letter("A good answer needs thought. B", ("A", "B"))
    'B'
    """
    return _letter(before_run_on(text, choices, options), choices, options)


def _letter(text: str, choices: tuple[str, ...], options: Mapping[str, str] | None) -> Reading:
    patterns = forms(choices)
    statements = _statements(text, patterns)
    # a final or boxed answer outweighs whatever the reply considered on its way there
    final = [*(statement for statement in statements if statement.final), *_boxed(text, patterns)]
    if final:
        return _settled(text, sorted(final, key=lambda statement: statement.start))
    if statements:
        return _last_word(text, statements)
    alone_on_lines = filter(None, (patterns.line.match(line) for line in _lines(text)))
    reading = agreed(patterns.named(match["x"]) for match in alone_on_lines)
    # from the strongest sign to the weakest: the first reader that sees a choice decides
    for reader in (read_marked, read_last_line, read_first):
        if reading is None:
            reading = reader(text, choices)
    return read_quoted(text, options) if reading is None and options is not None else reading


def read_all(text: str, choices: tuple[str, ...], options: Mapping[str, str] | None = None) -> dict[str, Reading]:
    """Apply every reader separately.

    Options repeated before the answer contradict nothing: who found no more than those has read nothing.
    """
    text, patterns = before_run_on(text, choices, options), forms(choices)
    readings = {name: reader(text, choices) for name, reader in READERS.items()}
    if options is not None:
        readings["quoted"] = read_quoted(text, options)
    if CONTRADICTION in readings.values() and any(readings.values()) and _lists_options(text, patterns):
        if readings["first"] == CONTRADICTION:
            readings["first"] = None
        if readings["marked"] == CONTRADICTION and not any(_boxed(text, patterns)):
            readings["marked"] = None
    return readings


def _lists_options(text: str, patterns: Forms) -> bool:
    """Return whether the first two choices, each with its text, begin consecutive lines."""
    led = [(choice, line) for line in _lines(text) if (choice := _leads(line, patterns)) is not None]
    return any(
        (one, two) == patterns.choices[:2] and not patterns.line.match(first) and not patterns.line.match(second)
        for (one, first), (two, second) in pairwise(led)
    )


def agreed(readings: Iterable[Reading]) -> Reading:
    """Return the choice on which all successful readers agree; None if none succeeded, "" if they disagree.

    >>> agreed(["B", None, "B"]), agreed([None]), agreed(["A", "B"])
    ('B', None, '')
    """
    choices = {reading for reading in readings if reading is not None}
    if not choices:
        return None
    return choices.pop() if len(choices) == 1 else CONTRADICTION


def before_run_on(text: str, choices: tuple[str, ...], options: Mapping[str, str] | None = None) -> str:
    """The tidied text up to the first new question that comes after an answer; all of it where none does.

    A reply that repeats the question before it answers has no answer before that mark, and is read on.

    >>> before_run_on("The answer is (B).\\n\\nQ: Who? The answer is (C).", ("A", "B", "C"))
    'The answer is (B).'
    """
    text = tidy(text)
    for start in run_on_marks(text, choices):
        answer = text[:start].rstrip()
        if _letter(answer, choices, options) is not None:
            return answer
    return text


def tidy(text: str) -> str:
    """Collapse every run of blanks, so that no pattern can be slowed down by them."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "\n".join(line for line in lines if line)


def _lines(text: str) -> Iterator[str]:
    return (line for line in text.split("\n") if line.strip())


def _leads(line: str, patterns: Forms) -> str | None:
    match = patterns.leading.match(line)
    if match is None:
        return None
    letter, closed, rest = match["x"], match["close"], match["rest"]
    if letter not in patterns.choices and not (closed.strip("*_") or not rest.strip()):
        return None
    if letter in "Aa" and closed.strip("*_") == ":":
        return None  # "A:" begins an answer, whichever it is
    marked = bool(closed.strip("*_")) or not rest.strip() or rest[0] in ",;—–"
    if not marked and not re.match(r"\s+(?:[-–—]\s|because\b|since\b)", rest):
        return None
    if patterns.another.match(rest):
        return CONTRADICTION
    return patterns.named(letter)


def _boxed(text: str, patterns: Forms) -> Iterator[Statement]:
    for match in patterns.boxed.finditer(text):
        choice = patterns.named(match["x"] or match["y"])
        if choice is not None:
            yield Statement(choice, match.start(), match.end(), final=True)
    yield from (Statement(choice, 0, len(text), final=True) for choice in _in_an_object(text, patterns))


def _in_an_object(text: str, patterns: Forms) -> Iterator[str]:
    """The choices of a reply that is a JSON object as a whole, such as {"answer": "B"}."""
    match = _OBJECT.fullmatch(text)
    if match is None:
        return
    try:
        fields = orjson.loads(match["object"])
    except orjson.JSONDecodeError:
        return
    for name, value in fields.items():
        if name.casefold().replace("_", " ").removeprefix("final ").strip() in _ANSWER_FIELDS:
            answer = str(value) if type(value) is int else value
            choice = (patterns.named(answer.strip()) or _leads(answer, patterns)) if isinstance(answer, str) else None
            if choice is not None:
                yield choice


def _statements(text: str, patterns: Forms) -> list[Statement]:
    """Return every statement of an answer, in the order of the text."""
    lower = text.lower()
    statements: list[Statement] = []
    for pattern, ends, words in (
        (patterns.statement, _GOES_ON, _STATEMENT_WORDS),
        (patterns.chosen, _GOES_ON, _CHOICE_WORDS),
        (patterns.it_is, _ENDS_LINE, _IT_WORDS),
        (patterns.is_correct, _ENDS_SENTENCE, _PRAISE_WORDS),
    ):
        # looking for a word is a hundred times cheaper than looking for a pattern
        if not any(word in lower for word in words):
            continue
        for match in pattern.finditer(text):
            choice = _stated_choice(text, match, patterns, ends)
            if choice is not None:
                final = "final" in match.re.groupindex and match["final"] is not None
                statements.append(Statement(choice, match.start("x"), match.end(), final))
    return sorted(statements, key=lambda statement: statement.start)


def _stated_choice(text: str, match: re.Match[str], patterns: Forms, ends: re.Pattern[str]) -> Reading:
    """Return the choice of a statement, if its context makes it one."""
    letter, opened, closed = match["x"], match["open"], match["close"]
    choice = patterns.named(letter)
    after = text[match.end() : match.end() + 80]
    if ("$" in opened) != ("$" in closed) or after.lstrip().startswith("?"):
        return None
    bracketed = any(mark in closed for mark in ")]}")
    several = match.re is not patterns.is_correct and patterns.another.match(after) is not None
    if not (bracketed or several or ends.match(after)):
        return None
    if letter not in patterns.choices and not (bracketed or opened or _ENDS_SENTENCE.match(after)):
        return None
    if not _claims(text, match.start() if match.re is not patterns.is_correct else match.start("open")):
        return None
    return CONTRADICTION if several else choice


def _claims(text: str, start: int) -> bool:
    """Return whether the clause before a statement supports it."""
    before = text[max(0, start - 200) : start]
    cuts = [cut.end() for cut in _CLAUSE.finditer(before)]
    return _NO_CLAIM.search(before[cuts[-1] if cuts else 0 :]) is None


def _settled(text: str, statements: Sequence[Statement]) -> Reading:
    """Return the choice of several equal statements; a correction between two lets the later one win."""
    if not statements:
        return None
    last = statements[-1]
    for earlier, later in pairwise(statements):
        if earlier.choice != later.choice and not _CORRECTED.search(text[earlier.end : later.start]):
            return CONTRADICTION
    return last.choice


def _last_word(text: str, statements: Sequence[Statement]) -> Reading:
    """The last statement; those of the same line must agree with it."""
    if not statements:
        return None
    line_start = text.rfind("\n", 0, statements[-1].start) + 1
    return _settled(text, [statement for statement in statements if statement.start >= line_start])

from __future__ import annotations

import random
import time

import pytest

from assay.scorers.choice_readers import agreed, before_run_on, read_all, read_letter
from assay.scorers.run_on import run_on_marks

ABCD = ("A", "B", "C", "D")
WORDS = [
    "which",
    "of",
    "these",
    "the",
    "most",
    "likely",
    "cause",
    "river",
    "cell",
    "theorem",
    "market",
    "acid",
    "king",
    "is",
    "not",
    "known",
    "in",
    "from",
    "energy",
]

ANSWERS = [
    "{x}",
    " {x}",
    "({x})",
    "{x}. {option}",
    "Answer: {x}",
    "The answer is ({x}).",
    "The correct answer is {x}.",
    "A: Let's think step by step. {reason} The answer is ({x}).",
    "Let's think step by step. {reason} So the answer is {x}.",
    "{reason}\nFinal answer: {x}",
    "**{x}**\n\n{reason}",
    "{x}\n\nExplanation: {reason}",
    "\\boxed{{{x}}}",
]
FORMATS = {
    "mmlu": "\n\nQuestion: {question}\nA. {a}\nB. {b}\nC. {c}\nD. {d}\nAnswer: {y}",
    "cot": "\n\nQ: {question}\nOptions: (A) {a} (B) {b} (C) {c} (D) {d}\nA: Let's think. {reason} The answer is ({y}).",
    "numbered": "\n\nQuestion {n}: {question}\n(A) {a}\n(B) {b}\n(C) {c}\n(D) {d}\nThe correct answer is {y}.",
    "problem": "\n\nProblem {n}. {question}\nA) {a}\nB) {b}\nC) {c}\nD) {d}\nSolution: {reason} Final answer: {y}",
    "chat": "\n\nHuman: {question}\nA) {a}\nB) {b}\nC) {c}\nD) {d}\n\nAssistant: The answer is {y}.",
    "markdown": "\n\n### Question {n}\n{question}\nA. {a}\nB. {b}\nC. {c}\nD. {d}\n\n**Answer: {y}**",
    "prompt": "\n\nThe following are multiple choice questions about law.\n{question}\nA. {a}\nB. {b}\nAnswer: {y}",
    "bare": "\n\n{question}\nA. {a}\nB. {b}\nC. {c}\nD. {d}\nAnswer: {y}",
    "inline": " Question: {question} A. {a} B. {b} C. {c} D. {d} Answer: {y}",
    "list": "\n\n{n}. {question}\nA. {a}\nB. {b}\nC. {c}\nD. {d}\nAnswer: {y}\n",
}


def _sentence(rng, end):
    words = rng.choices(WORDS, k=rng.randint(4, 12))
    return " ".join(words).capitalize() + end


def _reply(rng, kind):
    """An answer, then invented questions with answers of their own."""
    right = rng.choice(ABCD)
    answer = rng.choice(ANSWERS).format(x=right, option=rng.choice(WORDS), reason=_sentence(rng, "."))
    rest = ""
    for n in range(2, 2 + rng.randint(1, 4)):
        rest += FORMATS[kind].format(
            question=_sentence(rng, "?"),
            reason=_sentence(rng, "."),
            n=n,
            y=rng.choice(ABCD),
            **{letter: rng.choice(WORDS) for letter in "abcd"},
        )
    if rng.random() < 0.3:
        # a limit on tokens cuts the last question anywhere
        rest = rest[: rng.randint(len(rest) // 2, len(rest))]
    return right, answer + rest


def _generated(n=500, seed=20240607):
    rng = random.Random(seed)
    kinds = list(FORMATS)
    return [(kind, *_reply(rng, kind)) for kind in (kinds[i % len(kinds)] for i in range(n))]


@pytest.mark.parametrize("reader", ["letter", "consensus"])
def test_replies_that_run_on_are_read_right(reader):
    replies = _generated()
    wrong = []
    for kind, right, reply in replies:
        reading = read_letter(reply, ABCD) if reader == "letter" else agreed(read_all(reply, ABCD).values())
        if reading != right:
            wrong.append((kind, right, reading, reply))
    assert len(replies) == 500
    assert len(wrong) <= 5, wrong[:3]


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        # the reply repeats the question first: the answer comes after the mark
        ("Question: Which one?\nA. x\nB. y\nAnswer: B", "B"),
        ("Let me restate it.\nQuestion: Which one?\nA. x\nB. y\nThe answer is B.", "B"),
        ("Q: Which one?\nA: The answer is (B).\n\nQ: And now?\nA: The answer is (C).", "B"),
        # a correction before the run-on still counts
        ("The answer is A. Wait, actually the answer is B.\nQuestion: Next?\nAnswer: D", "B"),
        # reasoning that goes through the options is no new question
        ("At first sight the answer is A.\nLet me check each option:\nA. no\nB. yes\nThe answer is B.", "B"),
        ("The problem: it is hard. The answer is A.\nOn reflection, the answer is B.", "B"),
    ],
)
def test_the_first_answer_before_the_run_on_counts(reply, choice):
    assert read_letter(reply, ABCD) == choice


def test_a_contradiction_before_the_run_on_is_not_settled_by_it():
    assert read_letter("The answer is A and B.\nQuestion: Next?\nAnswer: C", ABCD) == ""


def test_text_without_a_new_question_is_read_whole():
    assert before_run_on("The answer is A.\nNo, it is B.", ABCD) == "The answer is A.\nNo, it is B."
    assert list(run_on_marks("Is this a Question? Yes.", ("A",))) == []


@pytest.mark.parametrize("piece", ["Question: ", "Q:\n", "Q: a?\nA. b\nB. c\n", "# ", "\n1. ", "Problem "])
def test_time_grows_with_the_reply_only(piece):
    text = piece * (100_000 // len(piece))
    start = time.perf_counter()
    read_letter(text, ABCD)
    assert time.perf_counter() - start < 5

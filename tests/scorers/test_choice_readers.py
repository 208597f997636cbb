from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.scorers.choice_readers import (
    READERS,
    agreed,
    read_all,
    read_first,
    read_last_line,
    read_letter,
    read_marked,
    read_quoted,
    read_statement,
)

ABCD = ("A", "B", "C", "D")
READ = [
    ("B", "B"),
    ("b", "B"),
    ("(B)", "B"),
    ("(b)", "B"),
    ("B.", "B"),
    ("B)", "B"),
    ("[B]", "B"),
    ('"B"', "B"),
    ("**B**", "B"),
    ("`B`", "B"),
    (" B", "B"),
    ("\n\nB\n", "B"),
    ("$B$", "B"),
    ("[[B]]", "B"),
    ("B) Paris", "B"),
    ("B. Paris", "B"),
    ("B: Paris", "B"),
    ("(B) Paris", "B"),
    ("**B) Paris**", "B"),
    ("**B. Paris** because it is the capital", "B"),
    ("B - Paris", "B"),
    ("B, because Paris is in France", "B"),
    ("B because Paris is in France", "B"),
    ("b) paris", "B"),
    ("The answer is B", "B"),
    ("The answer is (B).", "B"),
    ("The answer is **B**.", "B"),
    ("The correct answer is: B) Paris", "B"),
    ("the answer is b.", "B"),
    ("The answer is option B.", "B"),
    ("Answer: B", "B"),
    ("**Answer:** B", "B"),
    ("**Answer: B**", "B"),
    ("Answer:\n\nB", "B"),
    ("ANSWER: (b)", "B"),
    ("Final answer: B", "B"),
    ("The final answer is $\\boxed{B}$.", "B"),
    ("\\boxed{B}", "B"),
    ("\\boxed{\\text{B}}", "B"),
    ("\\boxed{B. Paris}", "B"),
    ("<answer>B</answer>", "B"),
    ("<answer>(B) Paris</answer>", "B"),
    ("The best choice is B because it fits.", "B"),
    ("The answer must be B, since A is too small.", "B"),
    ("I choose B.", "B"),
    ("I would go with option (B).", "B"),
    ("I'd pick B", "B"),
    ("B is correct.", "B"),
    ("Option B is the correct answer.", "B"),
    ("Therefore, B is the right choice.", "B"),
    ("So B.", "B"),
    ("Therefore (B).", "B"),
    ("It is B.", "B"),
    ("I think it is D, because the city fits best.", "D"),
    ("I believe it's C, Ottawa.", "C"),
    ("I think it is A good idea to wait.", None),
    ("I would say B", "B"),
    ("I'd say (B), because it fits.", "B"),
    ("I would guess that B.", "B"),
    ('{"answer": "B"}', "B"),
    ('```json\n{"why": "The answer is A at first sight", "answer": "B"}\n```', "B"),
    ('{"final_answer": "B) Paris", "confidence": 0.5}', "B"),
    ("It's B", "B"),
    ("A good answer needs thought. B", "B"),
    ("Let me think.\nParis is the capital of France.\n\nB", "B"),
    ("Let me think about A and C.\n**B**", "B"),
    ("The answer is A. Wait, no, the answer is B.", "B"),
    ("The answer is A for the first part.\nOn reflection it changes.\nThe answer is B.", "B"),
    ("One might think the answer is A, but the answer is B.", "B"),
    ("If the answer is A, then x = 3, a contradiction. The answer is B.", "B"),
    ("I don't think the answer is A. The answer is B.", "B"),
    ("Is the answer A? No, it is B.", "B"),
    ("The answer is not A. The answer is B.", "B"),
    ("The incorrect answer is A. The correct answer is B.", "B"),
    ("A) London: wrong.\nB) Paris: right.\nThe answer is B.", "B"),
    ("A is wrong. C is wrong. D is wrong. Final answer: B", "B"),
    ("The answer is B, not A.", "B"),
    ("The answer is B rather than A.", "B"),
    ("Answer: A\n\nActually, let me reconsider.\n\nFinal answer: B", "B"),
    ("The answer is: **(B) Paris**", "B"),
    ("The correct option is B – Paris.", "B"),
    ("Correct answer: B. mitochondria", "B"),
    ("Some say the answer is A. The answer is B.", "B"),
    ("答案: the answer is B。", "B"),
    ("A", "A"),
    ("a", "A"),
    ("The answer is B? Hmm. The answer is C.", "C"),
    ("The correct answer is:\n\n**B) Paris**", "B"),
    ("### Answer\nB", "B"),
    ("My final answer: **B**", "B"),
    ("Answer: C\n\nExplanation: A is wrong because the answer is not A.", "C"),
    ("I can't be sure but the answer is D", "D"),
    ("The answer isn't A; it's C.", "C"),
    ("Though A looks right, C is correct.", "C"),
    ("Q: what? A: B", "B"),
    ("D) All of the above\n\nAll A, B, C are right.", "D"),
]
SILENT = [
    "The answer is a because it sounds well",
    "a because it sounds well",
    "A good answer needs thought.",
    "A good answer...",
    "I think A is a vowel",
    "",
    "   ",
    "Plan B",
    "Vitamin C is healthy.",
    "Vitamin C.",
    "I got an A",
    "I would say A is a vowel",
    "I would not say B",
    "I wouldn't say B",
    '{"answer": "Paris"}',
    '{"answer": null, "choice": ["B"]}',
    '{"grade": "B"}',
    '{"answer": "B"',
    "I'd give it a B grade",
    "The answer is Paris",
    "The answer is a vowel",
    "The answer is A good one",
    "A's answer is fine",
    "ABC",
    "Bob",
    "Because of D-day",
    "The answer is not B.",
    "I don't think the answer is B.",
    "If the answer is B, then we are done.",
    "Is the answer B?",
    "The answer could be B.",
    "B?",
    "B is not correct.",
    "B is incorrect.",
    "The wrong answer is B.",
    "Neither A nor B is correct.",
    "None of the above",
    "A: Paris is lovely",
    "A lot of people say so.",
    "Eliminate answer choice B.",
    "We can rule out option B",
    "It is C. elegans that we study.",
    "The answer is E",
    "A cat, B movies, C notes",
    "I. Introduction",
    "An A for effort, a B for style",
    "Grade: A",
    "The answer is C++",
    "The answer is B-12",
    "The answer is A/C unit",
    "The answer is D minor chord",
    "C# is nice",
    "A B C D",
    "Paris (B)",
    "The answer is $3",
    "The answer is $B",
]
CONTRADICTORY = [
    "The answer is A and B.",
    "The answer is either A or B.",
    "Answer: A/B",
    "The answer is A. The answer is B.",
    "Final answer: A\nFinal answer: B",
    "\\boxed{A} or \\boxed{B}",
    "A\nB\nC",
    "A) London\nB) Paris",
    "A is correct, B is correct.",
    "Answer: A, B, and C.",
    "<answer>A</answer><answer>B</answer>",
    "**A**\n\n**B**",
    "A, B",
    '{"answer": "A", "choice": "B"}',
    "The answer is A or possibly B",
    "B.\nC.",
]


@pytest.mark.parametrize(("reply", "choice"), READ)
def test_an_answer_in_one_of_the_usual_forms_is_read(reply, choice):
    assert read_letter(reply, ABCD) == choice


@pytest.mark.parametrize("reply", SILENT)
def test_a_letter_that_is_no_answer_never_counts(reply):
    assert read_letter(reply, ABCD) is None
    assert set(read_all(reply, ABCD).values()) == {None}


LISTED = "A) w\nB) x\nC) y\nD) z\n"
BOLD = "**A) w**\n**B) x**\n**C) y**\n"


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        (LISTED + "The answer is A", "A"),
        (LISTED + "\nB", "B"),
        (LISTED + "**C**", "C"),
        (BOLD + "The answer is A.", "A"),
        ("A) London is too small.\nB) Paris fits.\nThe answer is B.", "B"),
        (LISTED + "The answer is A.\n\nB", ""),
        (BOLD + "\\boxed{A} \\boxed{B}\nThe answer is A.", ""),
        (LISTED, ""),
        ("A\nB", ""),
        ("B) x\nA) w is wrong.\nThe answer is C.", ""),
    ],
)
def test_options_repeated_before_the_answer_are_no_contradiction(reply, choice):
    assert agreed(read_all(reply, ABCD).values()) == choice


@pytest.mark.parametrize("reply", CONTRADICTORY)
def test_answers_that_contradict_each_other_are_none(reply):
    assert read_letter(reply, ABCD) == ""


@pytest.mark.parametrize(
    ("reply", "choices", "choice"),
    [
        ("The answer is 3.", ("1", "2", "3", "4"), "3"),
        ("The answer is 3.5.", ("1", "2", "3", "4"), None),
        ("The answer is -3", ("1", "2", "3", "4"), None),
        ("The answer is $3", ("1", "2", "3", "4"), None),
        ("2) Paris", ("1", "2", "3", "4"), "2"),
        ("The answer is b.", ("a", "b"), "b"),
        ("The answer is B.", ("a", "b"), "b"),
        ("The answer is a.", ("a", "A"), "a"),
        ("A", ("a", "A"), "A"),
        ("The answer is E.", ("A", "B", "C", "D", "E"), "E"),
        ("The answer is *.", ("*", "+"), "*"),
        ("Y", ("Y", "N"), "Y"),
        ("\\boxed{\u212a}", ("K", "L"), None),
    ],
)
def test_choices_may_be_any_single_characters(reply, choices, choice):
    assert read_letter(reply, choices) == choice


OPTIONS = {"A": "Rome", "B": "Paris, France", "C": "A vowel", "D": "Rome"}


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("Paris, France", "B"),
        ("  **paris,  FRANCE.** ", "B"),
        ("The answer is Paris, France.", "B"),
        ("Let me see.\nParis, France", "B"),
        ("The answer is a vowel", "C"),
        ("The answer is not Paris, France.", None),
        ("I like Paris, France a lot", None),
        ("Rome", ""),
        ("", None),
        ("...", None),
    ],
)
def test_an_option_quoted_in_full_names_its_choice(reply, choice):
    assert read_quoted(reply, OPTIONS) == choice
    assert read_letter(reply, ("A", "B", "C", "D"), OPTIONS) == choice


@pytest.mark.parametrize(
    ("reader", "reply", "choice"),
    [
        (read_first, "B) Paris\nThe answer is C.", "B"),
        (read_first, "Well, B", None),
        (read_first, "", None),
        (read_first, "A, B and C", ""),
        (read_statement, "B) Paris\nThe answer is C.", "C"),
        (read_statement, "The answer is A.\nFinal answer: B\nThe answer is C.", "B"),
        (read_last_line, "The answer is C.\n(D)", "D"),
        (read_last_line, "So it goes. b", None),
        (read_marked, "\\boxed{A} and **B**", "A"),
        (read_marked, "It must be **B**.", "B"),
        (read_marked, "**A** is wrong", None),
        (read_marked, "It is not **B**.", None),
    ],
)
def test_each_reader_is_sure_of_its_own_forms_only(reader, reply, choice):
    assert reader(reply, ABCD) == choice


def test_readers_agree_when_nobody_contradicts():
    assert agreed(["B", None, "B"]) == "B"
    assert agreed([None, None]) is None
    assert agreed(["A", "B"]) == ""
    assert agreed(["A", ""]) == ""


@given(st.text(), st.sampled_from([ABCD, ("1", "2"), ("*", "?")]))
def test_any_text_gives_a_choice_nothing_or_a_contradiction(text, choices):
    options = dict.fromkeys(choices, "x")
    for reading in (read_letter(text, choices, options), *read_all(text, choices, options).values()):
        assert reading in (None, "", *choices)
    assert set(read_all(text, choices)) == set(READERS)


@given(
    st.lists(st.sampled_from(["thinking", "about", "this", "question", "and", "paris"]), min_size=1),
    st.sampled_from(ABCD),
)
def test_words_before_an_explicit_answer_do_not_change_it(words, choice):
    assert read_letter(f"{' '.join(words).capitalize()}.\n\nThe answer is ({choice}).", ABCD) == choice


@pytest.mark.parametrize(
    "piece",
    [
        "A ",
        "answer is ",
        "(",
        "*",
        "A, ",
        "\n",
        "B\n",
        " ",
        "\\boxed{",
        "**B",
        "I I I ",
        "it is ",
        "<answer>",
        "option - ",
        "I would ",
    ],
)
def test_time_grows_with_the_reply_only(piece):
    started = time.process_time()
    reply = piece * (40_000 // len(piece))
    read_letter(reply, ABCD, {"A": "x"})
    read_letter("the answer:" + reply, ABCD)
    assert time.process_time() - started < 2

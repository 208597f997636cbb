from __future__ import annotations

import contextlib
import gzip

import orjson
import pytest

from assay.judging.answers import AnyLabel, Labels, Range
from assay.judging.json_extraction import Unreadable
from assay.judging.parse import ParsedReply, read_reply

YES_NO = Labels(["yes", "no"])
PERCENT = Range(0, 100)


@pytest.mark.parametrize(
    ("text", "label", "written"),
    [
        ('{"reasoning": "r", "prediction": "yes", "confidence": 0.7}', "yes", "yes"),
        ('{"prediction": "Yes"}', "yes", "Yes"),
        ('{"prediction": " NO. "}', "no", "NO."),
        ('{"Prediction": "no"}', "no", "no"),
        ('```json\n{"prediction": "yes"}\n```', "yes", "yes"),
        ('Here is my verdict:\n\n{"prediction": "no"}\n\nHope that helps!', "no", "no"),
        ('{"prediction": "yes"} ... no: {"prediction": "no"}', "no", "no"),
        ('{"prediction": "yes"} with {"note": 1}', "yes", "yes"),
        ('{"prediction": "yes", "more": {"prediction": "no"}}', "yes", "yes"),
        ('{"prediction": "yes", "prediction": "yes"}', "yes", "yes"),
        ("{'prediction': 'yes'}", "yes", "yes"),
        ('{"prediction": "yes",}', "yes", "yes"),
        ('<think>{"prediction": "no"} or no?</think>{"prediction": "yes"}', "yes", "yes"),
        ("<think>Is it no?</think>\n\nyes", "yes", "yes"),
        ("yes", "yes", "yes"),
        ("Yes.", "yes", "Yes."),
        ('"yes"', "yes", '"yes"'),
        ("**No**", "no", "**No**"),
        ("```\nyes\n```", "yes", "yes"),
        ("prediction: yes", "yes", "yes"),
        ("**Prediction:** Yes", "yes", "Yes"),
        ("Yes\n\nThe reply is polite.", "yes", "Yes"),
        ("The reply is polite.\n\nYes", "yes", "Yes"),
        ("yes\nyes", "yes", "yes"),
    ],
)
def test_a_label_is_read_from_an_object_or_by_itself(text, label, written):
    reading = read_reply(text, "prediction", YES_NO)
    assert (reading.value, reading.written) == (label, written)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        ("<think>yes</think>", "the reply is empty"),
        ("perhaps", '"perhaps" is none of the labels "yes", "no"'),
        ("yes or no", "none of the labels"),
        ("I would say yes", "none of the labels"),
        ("not yes", "none of the labels"),
        ('{"prediction": "perhaps"}', '"perhaps" is none of the labels'),
        ('{"prediction": "yes", "prediction": "no"}', "twice"),
        ('{"prediction": null}', '"prediction" is null'),
        ('{"prediction": ["yes"]}', "single value"),
        ('{"prediction": {"label": "yes"}}', "single value"),
        ('{"label": "yes"}', 'no field "prediction"'),
        ('{"score": 1}\nyes', 'no field "prediction"'),
        ('{"prediction": "yes', "no complete JSON object"),
        ('{\n"prediction": "yes', "no complete JSON object"),
        ("yes\nno", "more than one answer"),
        ("Yes\n\nBut one could also say no.", "more than one answer"),
        ("no doubt:\n\nyes", "more than one answer"),
        ("The reply\nis polite", 'neither a JSON object with the field "prediction" nor just an answer'),
        ("```\n```", "neither"),
    ],
)
def test_what_does_not_say_one_thing_is_unreadable(text, problem):
    with pytest.raises(Unreadable, match=problem):
        read_reply(text, "prediction", YES_NO)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ('{"score": 80}', 80.0),
        ('{"score": "80"}', 80.0),
        ('{"score": 80.5, "confidence": 1}', 80.5),
        ('```\n{"score": 0}\n```', 0.0),
        ("80", 80.0),
        ("Score: 80", 80.0),
        ("**Score: 80**", 80.0),
        ("80/100", 80.0),
        ("80\n\nA good reply.", 80.0),
        ("A good reply.\n80", 80.0),
    ],
)
def test_a_number_is_read_from_an_object_or_by_itself(text, number):
    assert read_reply(text, "score", PERCENT).value == number


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("101", "101 is not between 0 and 100"),
        ('{"score": 101}', "101 is not between 0 and 100"),
        ('{"score": true}', "not a number"),
        ('{"score": NaN}', "not a number"),
        ('{"score": 1e999}', "not a number"),
        ("80 out of 100", "not a number"),
        ("80\n\nPerhaps 70.", "more than one answer"),
        ("fine", "not a number"),
    ],
)
def test_what_is_no_number_of_the_scale_is_unreadable(text, problem):
    with pytest.raises(Unreadable, match=problem):
        read_reply(text, "score", PERCENT)


def test_a_free_label_stands_alone():
    assert read_reply("Sports", "prediction", AnyLabel()).value == "Sports"
    assert read_reply('{"prediction": "Sports"}', "prediction", AnyLabel()).value == "Sports"
    with pytest.raises(Unreadable, match="more than one answer"):
        read_reply("Sports\nIt is about football.", "prediction", AnyLabel())


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ('"confidence": 0.7', (None, 0.7)),
        ('"confidence": "0.7"', (None, 0.7)),
        ('"confidence": 70', (None, None)),
        ('"confidence": "high"', (None, None)),
        ('"confidence": NaN', (None, None)),
        ('"confidence": true', (None, None)),
        ('"reasoning": " because "', ("because", None)),
        ('"explanation": "because"', ("because", None)),
        ('"reasoning": "", "explanation": "because"', ("because", None)),
        ('"reasoning": ["a", "b"]', ("a\nb", None)),
        ('"reasoning": {"a": 1}', (None, None)),
        ('"reasoning": "\\ud800"', ("?", None)),
    ],
)
def test_reasons_and_confidence_are_kept_where_they_are_what_they_should_be(given, kept):
    reading = read_reply('{"prediction": "yes", ' + given + "}", "prediction", YES_NO)
    assert (reading.reasoning, reading.confidence) == kept


def test_hostile_strings_are_read_or_refused(real_data):
    texts = [
        str(each)
        for path in sorted((real_data / "hostile").glob("*.jsonl.gz"))
        for line in gzip.decompress(path.read_bytes()).splitlines()
        for each in orjson.loads(line).values()
    ]
    assert len(texts) > 1_500
    for text in texts:
        for answers in (YES_NO, PERCENT, AnyLabel()):
            for said in (text, orjson.dumps({"prediction": text, "reasoning": text}).decode()):
                with contextlib.suppress(Unreadable):
                    assert isinstance(read_reply(said, "prediction", answers), ParsedReply)

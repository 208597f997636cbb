from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judging.json_extraction import MOST_TEXT, Unreadable, objects_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('Well.\n```\n{"a": 1}\n```\nThat is all.', [{"a": 1}]),
        ('I think {"a": 1} is right, as {x} says.', [{"a": 1}]),
        ('{"a": 1} and {"a": 2}', [{"a": 1}, {"a": 2}]),
        ('{"a": {"a": 2}, "b": [{"a": 3}]}', [{"a": {"a": 2}, "b": [{"a": 3}]}]),
        ('{"a": "with } and { inside"}', [{"a": "with } and { inside"}]),
        ('{"a": "a \\"quoted\\" word"}', [{"a": 'a "quoted" word'}]),
        ('{"a": "two\nlines"}', [{"a": "two\nlines"}]),
        ('[{"a": 1}]', [{"a": 1}]),
        ('{"a": 1,}', [{"a": 1}]),
        ("{'a': 'it'}", [{"a": "it"}]),
        ("{'a': 'yes', 'b': {\"a\": \"no\"}}", [{"a": "yes", "b": {"a": "no"}}]),
        ('{"a": "yes", "b": {"a": "no"},}', [{"a": "yes", "b": {"a": "no"}}]),
        ('\\frac{a}{b} = {"a": 1}', [{"a": 1}]),
        ('\\boxed{{"a": 1}}', [{"a": 1}]),
        ('{\n  "a": 1\n}', [{"a": 1}]),
        ('{"a": 1, "a": 1}', [{"a": 1}]),
    ],
)
def test_objects_are_found_wherever_they_stand(text, found):
    assert objects_in(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "{}",
        "{yes}",
        '{"a": 1',
        '{"a": "cut off in the mid',
        '{"b": [{"a": "no"}], "a": "cut',
        "{prediction: yes}",
        '{"a", "b"}',
        "{'a': __import__('os').system('true')}",
        "{'a': open('x')}",
        '{"a": 1 + "b"}',
        "{1: 2, 'a': 1}",
        '{"a": ' + "9" * 5000 + "}",
        '{"a": null,}',
    ],
)
def test_what_is_no_complete_object_is_not_one(text):
    assert objects_in(text) == []


def test_an_object_that_contradicts_itself_is_unreadable():
    with pytest.raises(Unreadable, match='"a" twice'):
        objects_in('{"a": "yes", "a": "no"}')


def test_a_reply_beyond_all_measure_is_unreadable():
    with pytest.raises(Unreadable, match="longer than 1,000,000 characters"):
        objects_in("x" * (MOST_TEXT + 1))


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        '{"',
        "{'",
        '{"a":',
        '{"a":[',
        "{'a':",
        '{"a":1,',
        '{"a"',
        '{"a":[0,0,0,{"b":',
        '{"a}',
        "{'a': 1if 1else ",
        "}",
    ],
)
def test_hostile_text_does_not_stall_the_search(piece):
    text = piece * (900_000 // len(piece))
    started = time.process_time()
    assert objects_in(text) == []
    assert objects_in(text[:30_000] + "}" * 30_000) == []
    assert time.process_time() - started < 5


@given(
    st.dictionaries(st.text(), st.text() | st.integers(-(2**60), 2**60) | st.booleans() | st.none(), min_size=1),
    st.text(alphabet=st.characters(exclude_characters="{}"), max_size=30),
    st.text(alphabet=st.characters(exclude_characters="{}"), max_size=30),
)
@settings(max_examples=200, deadline=None)
def test_any_object_is_found_in_any_prose(said, before, after):
    assert objects_in(f"{before}{json.dumps(said)}{after}") == [said]

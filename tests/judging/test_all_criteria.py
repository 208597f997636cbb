"""All criteria of a submission in one question."""

from __future__ import annotations

import json

import pytest

from assay.judging.all_criteria import Whole
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.json_extraction import Unreadable
from assay.judging.question import Question, Submission
from assay.types import Sampling


@pytest.fixture
def whole(scale):
    criterion = scale([0.0, 0.5, 1.0], labels=["Poor", "Fair", "Fine"])
    fault = Criterion(requirement="Is rude.", weight=-3.0)
    return Whole([Question(criterion=criterion, order=(2, 0, 1)), Question(criterion=fault, order=None)])


def _reply(**answers):
    return json.dumps(answers)


STYLE = {"explanation": "plain", "selected_option": "A"}
RUDE = {"explanation": "kind", "criterion_status": "UNMET"}


def test_the_submission_comes_first_and_every_criterion_has_a_name(whole):
    request = whole.request(Submission(text="It is Paris.", guidelines="Be fair."), Sampling())
    system, user = (message["content"] for message in request.messages)
    assert "several criteria" in system
    assert system.endswith("Be fair.")
    places = [user.index(part) for part in ("It is Paris.", "criterion_1\n", "A) Fine", "criterion_2\n", "Is rude.")]
    assert places == sorted(places)
    assert "criterion_1, criterion_2" in user
    assert list(request.schema["properties"]) == ["criterion_1", "criterion_2"]
    assert list(whole.schema(explained=False)["properties"]["criterion_1"]["properties"]) == ["selected_option"]


@pytest.mark.parametrize(
    "text",
    [
        _reply(criterion_1=STYLE, criterion_2=RUDE),
        "<think>hm</think>```json\n" + _reply(Criterion_1=STYLE, CRITERION_2=RUDE) + "\n```",
        _reply(criterion_1="A", criterion_2="unmet"),
        _reply(criterion_1=STYLE) + "\n" + _reply(criterion_2=RUDE),
        _reply(criterion_1={"selected_option": "B"}, criterion_2=RUDE) + " no: " + _reply(criterion_1=STYLE),
    ],
)
def test_answers_are_read_tolerantly(whole, text):
    read = whole.read(text).value
    assert (read[0].value, read[1].value) == (2, CriterionVerdict.UNMET)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (_reply(criterion_1=STYLE), "criterion_2: there is no answer"),
        (_reply(criterion_1={"selected_option": "Z"}, criterion_2=RUDE), 'criterion_1: "Z" is none of the options'),
        (_reply(criterion_1=STYLE, criterion_2={"explanation": "e"}), 'criterion_2: the field "criterion_status"'),
        ("MET", "criterion_1: there is no answer; criterion_2: there is no answer"),
        ("", "the reply is empty"),
    ],
)
def test_what_is_lacking_is_named(whole, text, problem):
    with pytest.raises(Unreadable, match=problem):
        whole.read(text)


def test_what_was_read_once_stays_read(whole):
    with pytest.raises(Unreadable, match="criterion_2"):
        whole.read(_reply(criterion_1=STYLE))
    read = whole.read(_reply(criterion_1={"selected_option": "B"}, criterion_2=RUDE)).value
    assert (read[0].value, read[0].reasoning, read[1].reasoning) == (2, "plain", "kind")

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from assay.judging.response_format import choice_form, label_form, score_form

FORMS = {
    "choice": (choice_form(("yes", "no")), {"prediction": "yes"}, {"prediction": "perhaps"}),
    "label": (label_form(), {"prediction": "sports"}, {"prediction": 3}),
    "score": (score_form(0, 100), {"score": 80}, {"score": "high"}),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_schema_is_closed_and_asks_for_everything(name):
    form, good, bad = FORMS[name]
    Draft202012Validator.check_schema(form.schema)
    beside = {"reasoning": "r", "confidence": 0.5}
    schema = Draft202012Validator(form.schema)
    assert schema.is_valid({**beside, **good})
    assert not schema.is_valid({**beside, **bad})
    assert not schema.is_valid(good)
    assert not schema.is_valid({**beside, **good, "more": 1})
    assert next(iter(form.schema["properties"])) == "reasoning", "a judge thinks before it decides"


@pytest.mark.parametrize("name", FORMS)
def test_the_instruction_names_the_fields(name):
    form = FORMS[name][0]
    assert all(f'"{field}"' in form.instruction for field in form.schema["properties"])
    assert "$" not in form.instruction


def test_labels_and_bounds_are_told_as_they_are():
    assert '"yes", "no"' in choice_form(("yes", "no")).instruction
    assert '"$field"' in choice_form(("$field", "{{ x }}")).instruction
    assert "from 0 (the worst) to 100 (the best)" in score_form(0.0, 100.0).instruction


def test_the_instruction_ends_the_system_message():
    form = choice_form(("yes", "no"))
    system, user = form.messages("Be strict.", "Polite?", explained=False)
    assert system["role"] == "system"
    assert system["content"] == f"Be strict.\n\n{form.instruction}"
    assert user == {"type": "message", "role": "user", "content": "Polite?"}


def test_without_a_system_prompt_the_instruction_is_one():
    form = choice_form(("yes", "no"))
    assert form.messages(None, "Polite?", explained=False)[0]["content"] == form.instruction


def test_prompts_that_explain_the_form_are_left_alone():
    form = choice_form(("yes", "no"))
    assert form.messages("Be strict.", "Polite?", explained=True)[0]["content"] == "Be strict."
    assert len(form.messages(None, "Polite?", explained=True)) == 1


@pytest.mark.parametrize(
    ("prompt", "explained"),
    [
        ('Answer {"prediction": "yes"}', True),
        ("Fill in `prediction`.", True),
        ("Is the prediction right?", False),
        ("", False),
        (None, False),
    ],
)
def test_a_prompt_explains_the_form_when_it_names_the_field_in_quotes(prompt, explained):
    assert choice_form(("yes", "no")).explained_in(None, prompt) is explained

from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.errors import Place
from assay.spec.fields import Located, Settings, Template


class Part(Settings):
    text: Located
    template: Template


def test_text_keeps_its_place_through_validation() -> None:
    place = Place("a.yaml", 3, 5)
    part = Part.model_validate({"text": Located("a", place), "template": Located("b\nc", place, literal=True)})
    assert part.text.place == place
    assert isinstance(part.template, Template)
    assert part.template.at(2) == Place("a.yaml", 4, 5)
    assert part.text.at(2) == place
    assert Located("x").at(1) is None


def test_settings_are_strict_closed_and_frozen() -> None:
    for wrong in ({"text": 3, "template": "b"}, {"text": "a", "template": "b", "more": 1}):
        with pytest.raises(ValidationError):
            Part.model_validate(wrong)
    part = Part.model_validate({"text": "a", "template": "b"})
    with pytest.raises(ValidationError):
        part.text = Located("c")  # type: ignore[misc]

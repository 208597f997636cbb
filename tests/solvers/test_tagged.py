from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from assay.solvers.tagged import misplaced, not_empty, type_among


class Cat(BaseModel):
    type: Literal["cat"]


class Dog(BaseModel):
    type: Literal["dog"]
    age: int


PETS = TypeAdapter(list[Annotated[Cat | Dog, Field(discriminator="type"), type_among("cat", "dog")]])


@pytest.mark.parametrize(
    ("pet", "loc", "kind"),
    [
        ({"type": "cow"}, (0, "type"), "literal_error"),
        ({"type": ["cat"]}, (0, "type"), "literal_error"),
        ({"age": 3}, (0, "type"), "missing"),
        ("cat", (0,), "dict_type"),
        ({"type": "dog", "age": "x"}, (0, "dog", "age"), "int_parsing"),
    ],
)
def test_the_error_is_that_of_the_field(pet, loc, kind):
    with pytest.raises(ValidationError) as raised:
        PETS.validate_python([pet])
    (error,) = raised.value.errors()
    assert (error["loc"], error["type"]) == (loc, kind)


def test_what_is_right_passes_also_when_it_is_made_already():
    assert PETS.validate_python([{"type": "dog", "age": 3}, Cat(type="cat")]) == [
        Dog(type="dog", age=3),
        Cat(type="cat"),
    ]


def test_empty_text_is_refused():
    assert not_empty("x") == "x"
    with pytest.raises(ValueError, match="expected some text"):
        not_empty("")


def test_a_misplaced_value_is_told_with_the_way_to_it():
    (error,) = misplaced((2, "type"), "not {here}").errors()
    assert (error["loc"], error["msg"]) == ((2, "type"), "not {here}")

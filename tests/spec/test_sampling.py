from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.spec.sampling import SamplingSpec
from assay.types import Sampling


def test_what_is_not_set_is_left_to_the_model():
    assert SamplingSpec().value == Sampling()


def test_every_parameter_travels():
    given = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 10, "seed": 1, "reasoning_effort": "low"}
    assert SamplingSpec(**given, stop=["a", "b"]).value == Sampling(**given, stop=("a", "b"))
    assert SamplingSpec(stop="a").value == Sampling(stop=("a",))
    assert SamplingSpec(stop=[]).value == Sampling(stop=())


@pytest.mark.parametrize(
    "bad", [{"temperature": -0.1}, {"top_p": 0}, {"top_p": 1.1}, {"max_tokens": 0}, {"seed": "1"}, {"stop": [1]}]
)
def test_parameters_are_checked_when_the_file_is_loaded(bad):
    with pytest.raises(ValidationError):
        SamplingSpec(**bad)

from __future__ import annotations

import pytest

from assay.judging.prompts import wording


def test_what_is_filled_in_is_not_filled_in_again():
    assert "$problem {x}" in wording("again", problem="$problem {x}")


def test_a_forgotten_field_is_an_error():
    with pytest.raises(KeyError):
        wording("again")

"""What a program adds to every call."""

from assay.models.chat import Chat
from assay.models.dialect import EndpointQuirks
from assay.models.extra_params import NO_EXTRAS, Extras
from assay.types import Request


def test_headers_win_over_the_usual_ones_in_any_case():
    extras = Extras(headers={"AUTHORIZATION": "mine"})
    assert extras.over({"authorization": "usual", "x": "y"}) == {"x": "y", "AUTHORIZATION": "mine"}


def test_nothing_extra_changes_nothing():
    dialect = Chat("m")
    assert NO_EXTRAS.spoken(dialect) is dialect
    assert NO_EXTRAS.identity == {}


def test_parameters_are_merged_into_the_body():
    request = Request(messages=({"type": "message", "role": "user", "content": "?"},))
    body = Extras(params={"top_k": 3}).spoken(Chat("m")).body(request, EndpointQuirks())
    assert b'"top_k":3' in body


def test_the_identity_holds_no_value_as_it_is_and_differs_with_it():
    one, other = (Extras(headers={"x-team": team}, params={"user": team}) for team in ("red", "blue"))
    assert one.identity != other.identity
    assert "red" not in str(one.identity)

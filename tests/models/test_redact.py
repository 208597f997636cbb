from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.models.client import CallError
from assay.models.redact import names_a_secret, public_url, redact, redacted, url_secrets
from assay.types import Failure


@given(st.text(), st.lists(st.text(min_size=4, max_size=30), max_size=4))
def test_no_secret_is_left_in_a_text(text, secrets):
    hidden = redact("".join([text, *secrets]), secrets)
    # the sign that stands for a secret may itself complete another one
    assert not [secret for secret in secrets if secret in hidden.replace("[hidden]", "\0")]


@pytest.mark.parametrize(
    ("text", "secrets", "shown"),
    [
        ("key sk-1234 is bad", ["sk-1234"], "key [hidden] is bad"),
        ("?key=a%2Fb%2Bc", ["a/b+c"], "?key=[hidden]"),
        ("sk-12345678 and sk-1234", ["sk-1234", "sk-12345678"], "[hidden] and [hidden]"),
        ("a word", ["a", ""], "a word"),
    ],
)
def test_secrets_are_hidden_in_every_form(text, secrets, shown):
    assert redact(text, secrets) == shown


def test_an_error_keeps_everything_but_the_secret():
    error = CallError(Failure(stage="solve", kind="http", detail="bad sk-1234", retryable=True), status=500)
    error.retry_after_s = 3.0
    clean = redacted(error, ["sk-1234"])
    assert (clean.failure.detail, clean.failure.retryable) == ("bad [hidden]", True)
    assert (clean.status, clean.retry_after_s) == (500, 3.0)
    assert redacted(error, ["other"]) is error


@pytest.mark.parametrize(
    ("url", "shown", "secrets"),
    [
        ("https://host/v1", "https://host/v1", []),
        (
            "https://me:pw12@host:8/v1?key=abcd&version=2#x",
            "https://host:8/v1?key=[hidden]&version=2",
            ["abcd", "pw12"],
        ),
        ("http://[half?key=abcd", "http://[half", ["http://[half?key=abcd"]),
    ],
)
def test_an_address_is_shown_without_its_secrets(url, shown, secrets):
    assert public_url(url) == shown
    assert url_secrets(url) == secrets


@pytest.mark.parametrize(
    ("name", "secret"),
    [("Authorization", True), ("X-API-Key", True), ("cookie", True), ("X-Version", False), ("Accept", False)],
)
def test_names_tell_secrets(name, secret):
    assert names_a_secret(name) is secret

"""Who may talk to the viewer: hosts, tokens, headers."""

import pytest

from assay.view.safety import POLICY, Guard, host_name, is_loopback


def guard(**options):
    settings = {"host": "127.0.0.1", "token": None, "allowed_hosts": (), "secret": b"s", "base_path": ""}
    return Guard(**{**settings, **options})


@pytest.mark.parametrize(
    ("options", "host", "accepted"),
    [
        ({}, "localhost:8000", True),
        ({}, "127.0.0.1", True),
        ({}, "[::1]:9", True),
        ({}, "evil.example", False),
        ({}, "127.0.0.1.evil.example", False),
        ({}, "localhost.evil.example", False),
        ({}, "", False),
        ({}, "[", False),
        ({"allowed_hosts": ("Evals.example",)}, "evals.example:443", True),
        ({"host": "0.0.0.0"}, "192.0.2.7:80", True),
        ({"host": "0.0.0.0"}, "evil.example", False),
    ],
)
def test_only_names_of_this_machine_are_answered(options, host, accepted):
    assert guard(**options).accepts_host(host) is accepted


def test_a_request_for_another_host_gets_421(view):
    assert view.ask("/", headers={"Host": "evil.example"}).status == 421


def test_every_page_has_the_policy(view):
    for reply in view.ask("/", "/runs/v2", "/runs/v2/samples", "/nothing", "/assets/style.css"):
        assert reply.headers["Content-Security-Policy"] == POLICY
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Referrer-Policy"] == "no-referrer"


def test_no_page_has_inline_styles_or_scripts(view):
    for reply in view.ask("/", "/runs/v2", "/runs/v2/samples", "/runs/v2/samples/1", "/compare?runs=v1&runs=v2"):
        assert " style=" not in reply.text
        assert "<style" not in reply.text
        assert reply.text.count("<script") == 1


def test_a_token_is_needed_once_and_then_a_cookie(viewer_of, support):
    view = viewer_of(support, token="a-token-of-some-length")
    assert view.ask("/").status == 401
    assert view.ask("/?token=wrong").status == 401
    entered = view.ask("/runs/v2?token=a-token-of-some-length")
    assert entered.status == 303
    assert entered.headers["Location"] == "/runs/v2"
    cookie = entered.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "a-token-of-some-length" not in cookie
    assert view.ask("/runs/v2", headers={"Cookie": cookie.partition(";")[0]}).status == 200


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_only_loopback_needs_no_token(host, local):
    assert is_loopback(host) is local


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "--token"),
        (["--token", "short"], "too short"),
        (["--label", " "], "name of a person"),
        (["--base-path", "/a/../b"], "--base-path"),
        (["--store", "none.db"], "no store"),
    ],
)
def test_what_cannot_be_served_is_refused_with_a_sentence(project, arguments, words):
    outcome = project.assay("view", *arguments)
    assert outcome.code == 2
    assert words in outcome.err


def test_the_name_of_a_host_is_read_without_its_port():
    assert host_name("EXAMPLE.org:8") == "example.org"

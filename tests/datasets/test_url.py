"""Datasets behind an address, from a real server on this machine."""

import hashlib
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from assay.datasets import url as url_source
from assay.datasets.open import fingerprint, first_rows
from assay.datasets.url import KIND, UrlSource
from assay.errors import SpecError
from assay.spec.fields import Located

ROWS = b'{"q": 1}\n{"q": 2}\n'


class Files(BaseHTTPRequestHandler):
    """Serves what the test put on the server; counts the bodies it sent."""

    def do_GET(self):
        server = self.server
        tag = hashlib.sha256(server.content).hexdigest()[:8]
        if self.path not in ("/rows.jsonl", "/rows.csv", "/rows.bin", "/plain.jsonl"):
            self.send_error(404)
            return
        if self.headers.get("If-None-Match") == tag:
            server.unchanged += 1
            self.send_response(304)
            self.end_headers()
            return
        server.sent += 1
        self.send_response(200)
        if self.path != "/plain.jsonl":
            self.send_header("ETag", tag)
        self.end_headers()
        self.wfile.write(server.content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = HTTPServer(("127.0.0.1", 0), Files)
    made.content, made.sent, made.unchanged = ROWS, 0, 0
    made.at = partial("http://127.0.0.1:{}/{}".format, made.server_port)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def source(address, **more):
    return UrlSource(type="url", url=Located(address), **more)


def rows(settings, folder):
    return first_rows(KIND, settings, folder, root=folder)


def test_the_rows_of_a_file_behind_an_address(server, tmp_path):
    settings = source(server.at("rows.jsonl"))
    assert rows(settings, tmp_path) == [{"q": 1}, {"q": 2}]
    assert fingerprint(KIND, settings, tmp_path, root=tmp_path)
    assert server.sent == 1


def test_what_was_fetched_is_for_the_user_alone(server, tmp_path):
    rows(source(server.at("rows.jsonl")), tmp_path)
    assert (tmp_path / ".assay").stat().st_mode & 0o777 == 0o700


def test_the_content_decides_the_fingerprint_and_is_compared_with_the_server(server, tmp_path, monkeypatch):
    monkeypatch.setattr(url_source, "TRUSTED_S", 0)
    settings = source(server.at("rows.jsonl"))
    before = fingerprint(KIND, settings, tmp_path, root=tmp_path)
    assert fingerprint(KIND, settings, tmp_path, root=tmp_path) == before
    assert (server.sent, server.unchanged) == (1, 1)
    server.content = b'{"q": 3}\n'
    assert rows(settings, tmp_path) == [{"q": 3}]
    assert fingerprint(KIND, settings, tmp_path, root=tmp_path) != before


def test_a_server_that_names_no_version_is_asked_again(server, tmp_path, monkeypatch):
    monkeypatch.setattr(url_source, "TRUSTED_S", 0)
    settings = source(server.at("plain.jsonl"))
    rows(settings, tmp_path)
    rows(settings, tmp_path)
    assert server.sent == 2


def test_pinned_content_is_fetched_once_and_refused_when_it_differs(server, tmp_path, monkeypatch):
    monkeypatch.setattr(url_source, "TRUSTED_S", 0)
    pinned = hashlib.sha256(ROWS).hexdigest()
    settings = source(server.at("rows.jsonl"), sha256=pinned.upper())
    rows(settings, tmp_path)
    rows(settings, tmp_path)
    assert (server.sent, server.unchanged) == (1, 0)
    with pytest.raises(SpecError, match=f"has the sha256 {pinned}, not the one that is expected"):
        rows(source(server.at("rows.jsonl"), sha256="0" * 64), tmp_path)


def test_a_file_larger_than_the_limit_is_refused_and_leaves_nothing(server, tmp_path, monkeypatch):
    monkeypatch.setattr(url_source, "MOST_BYTES", 4)
    with pytest.raises(SpecError, match="the limit of a download"):
        rows(source(server.at("rows.jsonl")), tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("name", "words"),
    [("nothing.jsonl", "the server answered 404"), ("rows.bin", "cannot tell what")],
)
def test_what_cannot_be_had_is_said(server, tmp_path, name, words):
    with pytest.raises(SpecError, match=words):
        rows(source(server.at(name)), tmp_path)


@pytest.mark.parametrize(
    ("address", "words"),
    [("file:///etc/passwd", "is not an address"), ("http://127.0.0.1:9/rows.csv", "cannot be fetched")],
)
def test_other_addresses_are_refused(tmp_path, address, words):
    with pytest.raises(SpecError, match=words):
        rows(source(address), tmp_path)

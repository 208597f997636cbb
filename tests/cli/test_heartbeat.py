"""The sign of life of long commands."""

from __future__ import annotations

import io
import sys
import time

from assay.cli import heartbeat
from assay.cli.heartbeat import Heartbeat, start_heartbeat, stop_heartbeat


def test_long_work_shows_its_seconds_and_takes_the_line_back():
    stream = io.StringIO()
    beating = Heartbeat(stream, quiet_s=0.01, every_s=0.01)
    deadline = time.monotonic() + 10
    while stream.getvalue().count("working, 0 s") < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    beating.stop()
    text = stream.getvalue()
    assert text.startswith("\r\x1b[2Kworking, 0 s\r")
    assert text.endswith("\r\x1b[2K")
    beating.stop()
    assert stream.getvalue() == text


def test_short_work_shows_nothing():
    stream = io.StringIO()
    Heartbeat(stream, quiet_s=60).stop()
    assert stream.getvalue() == ""


def test_only_a_terminal_gets_a_sign_of_life(monkeypatch):
    start_heartbeat()
    assert not heartbeat._running
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    start_heartbeat()
    start_heartbeat()
    assert len(heartbeat._running) == 1
    stop_heartbeat()
    assert not heartbeat._running

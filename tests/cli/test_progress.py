from __future__ import annotations

import sys
from decimal import Decimal

import pytest

from assay.cli import progress as shown
from assay.cli.progress import progress_line, watch
from assay.runner.progress import Progress, silent


@pytest.mark.parametrize(
    ("progress", "elapsed_s", "line"),
    [
        (Progress(done=0, failed=0), 0, "0 samples · 0.0/s"),
        (Progress(done=5, failed=0), 10, "5 samples · 0.5/s"),
        (Progress(done=12_000, failed=3), 10, "12,000 samples · 3 failed · 1,200/s"),
        (Progress(done=50, failed=0, total=200), 10, "50/200 samples · 5.0/s · 30 s left"),
        (Progress(done=150, failed=0, resumed=100, total=200), 10, "150/200 samples · 5.0/s · 10 s left"),
        (Progress(done=0, failed=0, total=200), 3, "0/200 samples · 0.0/s"),
        (Progress(done=10, failed=0, cached=10), 1, "10 samples · 10 cached · 10/s"),
        (
            Progress(done=1, failed=0, total=7_301, cost_usd=Decimal("0.01234"), in_flight=100),
            1,
            "1/7,301 samples · 1.0/s · 2 h 01 min left · $0.0123 · 100 in flight",
        ),
        (Progress(done=1, failed=0, cost_usd=Decimal(0), in_flight=0), 1, "1 samples · 1.0/s · 0 in flight"),
        (
            Progress(done=1, failed=0, in_flight=0, waiting="openai: 429, next try in 12 s"),
            1,
            "1 samples · 1.0/s · 0 in flight · openai: 429, next try in 12 s",
        ),
    ],
)
def test_a_line_says_what_there_is_to_say(progress, elapsed_s, line):
    assert progress_line(progress, elapsed_s=elapsed_s) == line


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""

    class Clock:
        now = 100.0

    monkeypatch.setattr(shown.time, "monotonic", lambda: Clock.now)
    return Clock


def test_short_work_shows_nothing_and_long_work_a_line_now_and_then(clock, capsys):
    with watch(enabled=True) as listener:
        for moment, done in [(101, 1), (102.5, 2), (103, 3), (107.6, 4)]:
            clock.now = moment
            listener(Progress(done=done, failed=0))
    assert capsys.readouterr().err.splitlines() == ["2 samples · 0.8/s", "4 samples · 0.5/s"]


def test_a_terminal_gets_one_line_that_is_taken_back(clock, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    with watch(enabled=True) as listener:
        clock.now = 103
        listener(Progress(done=2, failed=0, waiting="a very long reason for waiting \x1b[31m"))
    err = capsys.readouterr().err
    assert err == "\r\x1b[2K2 samples · 0.7/s · a very l…\r\x1b[2K"
    assert len("2 samples · 0.7/s · a very l…") < 30, "a line that wraps could not be taken back"


def test_a_terminal_that_saw_nothing_is_left_alone(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with watch(enabled=True) as listener:
        listener(Progress(done=2, failed=0))
    assert capsys.readouterr().err == ""


def test_quiet_is_quiet():
    with watch(enabled=False) as listener:
        assert listener is silent
        listener(Progress(done=1, failed=0))

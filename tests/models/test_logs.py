from __future__ import annotations

import asyncio
import io
import json
import logging
import stat

import pytest

from assay.errors import SpecError
from assay.models import logs
from assay.models.client import CallError
from assay.types import Failure, Reply, Request, Usage


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch):
    monkeypatch.setattr(logs, "_SECRETS", set())


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Model:
    name = "some/model"

    def __init__(self, *replies):
        self.replies = list(replies)

    async def ask(self, request):
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply


def test_nothing_is_logged_unless_somebody_asks(capfd):
    assert not logs.is_on(logging.CRITICAL)
    logs.event(logs.WARNING, "retry", model="some/model")
    assert capfd.readouterr() == ("", "")


def test_an_event_has_a_time_a_level_a_name_and_the_fields_of_its_task(tmp_path):
    path = tmp_path / "run.log"
    with logs.log_to(path, 0):
        with logs.within(run="r1"):
            logs.event(logs.INFO, "run started", model=None, task="capitals")
        logs.event(logs.DEBUG, "commit", samples=3)
    first, second = lines(path)
    assert first.pop("time").endswith("+00:00")
    assert first == {"level": "info", "event": "run started", "run": "r1", "task": "capitals"}
    assert second["samples"] == 3
    assert "run" not in second


def test_a_log_file_is_private_and_appended_to(tmp_path):
    path = tmp_path / "run.log"
    for number in (1, 2):
        with logs.log_to(path, 0):
            logs.event(logs.DEBUG, "commit", samples=number)
    assert [line["samples"] for line in lines(path)] == [1, 2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not logs.is_on(logging.CRITICAL)


@pytest.mark.parametrize("name", ["", "gone/run.log"])
def test_a_log_file_that_cannot_be_opened_is_an_error_of_the_input(tmp_path, name):
    with pytest.raises(SpecError, match="cannot write the log file"), logs.log_to(tmp_path / name, 0):
        pass


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\x9bb", "a\u202eb", "a\x7fb", "a\nb", "a\ud800b"])
def test_a_line_holds_no_character_that_a_terminal_obeys_and_loses_none(tmp_path, text):
    path = tmp_path / "run.log"
    with logs.log_to(path, 0):
        logs.event(logs.WARNING, "failure", sample=text)
    [line] = path.read_text(encoding="utf-8").split("\n")[:-1]
    assert line.isprintable()
    assert json.loads(line)["sample"] == text


def test_words_in_other_scripts_stay_readable(tmp_path):
    path = tmp_path / "run.log"
    with logs.log_to(path, 0):
        logs.event(logs.WARNING, "failure", sample="質問-1")
    assert '"質問-1"' in path.read_text(encoding="utf-8")


def test_a_secret_is_hidden_from_every_handler(tmp_path, capfd):
    logs.hide(['sk-"quoted"', "sk-plain"])
    path = tmp_path / "run.log"
    with logs.log_to(path, 2):
        logs.event(logs.WARNING, "failure", detail='bad key sk-"quoted" or sk-plain')
    for text in (path.read_text(), capfd.readouterr().err):
        assert "bad key [hidden] or [hidden]" in text


@pytest.mark.parametrize(("verbose", "levels"), [(1, ["warning", "info"]), (2, ["warning", "info", "debug"])])
def test_verbose_prints_events_and_twice_all_of_them(capfd, verbose, levels):
    with logs.log_to(None, verbose):
        for level in (logs.WARNING, logs.INFO, logs.DEBUG):
            logs.event(level, "retry", model="some/model")
    assert [line.split()[1:] for line in capfd.readouterr().err.splitlines()] == [
        [level, "retry", "model=some/model"] for level in levels
    ]


def test_a_full_disk_is_reported_once_and_stops_nothing(capfd):
    with logs.log_to(logs.Path("/dev/full"), 0):
        for _ in range(3):
            logs.event(logs.INFO, "run started")
    assert capfd.readouterr().err == "events are no longer logged: No space left on device\n"


def test_a_program_gets_events_with_a_level_and_a_handler_of_its_own():
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logs.JsonLines())
    logger, before = logging.getLogger("assay"), logging.getLogger("assay").level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        logs.event(logs.INFO, "run started", task="capitals")
        logs.event(logs.DEBUG, "commit")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    [line] = out.getvalue().splitlines()
    assert json.loads(line)["task"] == "capitals"


def test_every_attempt_is_logged_with_its_end(tmp_path):
    failure = Failure(stage="solve", kind="http", detail="HTTP 429: slow down", retryable=True)
    usage = Usage(prompt_tokens=7, completion_tokens=2)
    model = logs.Logged(
        Model(
            CallError(failure, status=429), Reply(text="B", usage=usage, finish_reason="stop"), asyncio.CancelledError()
        )
    )
    path = tmp_path / "run.log"

    async def ask_thrice():
        for _ in range(3):
            try:
                await model.ask(Request())
            except (CallError, asyncio.CancelledError):
                continue

    with logs.log_to(path, 0):
        asyncio.run(ask_thrice())
    refused, answered, stopped = lines(path)
    assert (refused["status"], refused["http"], refused["failure"]) == ("failed", 429, "http")
    assert (answered["status"], answered["input_tokens"], answered["output_tokens"]) == ("ok", 7, 2)
    assert (stopped["status"], stopped["failure"]) == ("stopped", "CancelledError")
    assert all(line["model"] == "some/model" and line["latency_s"] >= 0 for line in lines(path))

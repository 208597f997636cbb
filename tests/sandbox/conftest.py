"""What the tests of the sandbox share: a sandbox with a short limit, and snippets in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict

import pytest

from assay.sandbox.frames import read_message, write_message
from assay.sandbox.linux import CodeLimits, unsupported
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import Program
from assay.sandbox.worker import STATUS_BYTES


@pytest.fixture(scope="session")
def sandbox():
    reason = unsupported()
    if reason is not None:
        pytest.skip(reason)
    with Sandbox(limits=CodeLimits(call_s=1.0)) as opened:
        yield opened


@pytest.fixture(scope="session")
def program():
    """A program from its source; its function is called f and takes plain values."""

    def make(source: str, *, shape: str = "plain", function: str = "f", **more) -> Program:
        return Program(source=source, function=function, shape=shape, **more)

    return make


class Spoken:
    """A worker without confinement, spoken to message by message as its parent does."""

    def __init__(self, program: Program) -> None:
        with tempfile.TemporaryFile() as board:
            board.truncate(STATUS_BYTES)
            code = "import sys; from assay.sandbox.worker import main; main(int(sys.argv[1]))"
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, str(board.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(board.fileno(),),
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        boot = {"program": program.document(), "limits": asdict(CodeLimits()), "network": False}
        self.say({**boot, "confined": False, "parent": os.getpid()})
        assert self.hear() == {"refused": None}
        self.say({})
        self.broken = self.hear()["broken"]

    def say(self, message) -> None:
        write_message(self.process.stdin.fileno(), json.dumps(message).encode())

    def hear(self):
        return read_message(self.process.stdout.fileno())

    def answered(self):
        """The results of a batch, for a token."""
        assert self.hear() == {"ready": True}
        self.say({"token": "t"})
        return self.hear()

    def leave(self) -> int:
        """Close the pipe; gives the exit code of a worker that goes by itself."""
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=20)


@pytest.fixture
def spoken(program):
    opened = []

    def start(source: str, **more) -> Spoken:
        opened.append(Spoken(program(source, **more)))
        return opened[-1]

    yield start
    assert [each.leave() for each in opened] == [0] * len(opened)

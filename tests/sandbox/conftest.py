"""What the tests of the sandbox share: a sandbox with a short limit, and snippets in one line."""

from __future__ import annotations

import pytest

from assay.sandbox.linux import Limits, unsupported
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import Program


@pytest.fixture(scope="session")
def sandbox():
    reason = unsupported()
    if reason is not None:
        pytest.skip(reason)
    with Sandbox(limits=Limits(call_s=1.0)) as opened:
        yield opened


@pytest.fixture(scope="session")
def program():
    """A program from its source; its function is called f and takes plain values."""

    def make(source: str, *, shape: str = "plain", function: str = "f", **more) -> Program:
        return Program(source=source, function=function, shape=shape, **more)

    return make

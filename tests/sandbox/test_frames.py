from __future__ import annotations

import contextlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sandbox.frames import FrameError, framed, length_in, read_message, write_message


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def test_a_message_survives_the_pipe(pipe):
    write_message(pipe[1], b'{"a": [1, "\\u00e4"]}')
    assert read_message(pipe[0]) == {"a": [1, "ä"]}


def test_a_closed_pipe_is_the_end_and_not_an_error(pipe):
    os.close(pipe[1])
    assert read_message(pipe[0]) is None


def test_half_a_message_is_an_error(pipe):
    os.write(pipe[1], framed(b'{"a": 1}')[:7])
    os.close(pipe[1])
    with pytest.raises(FrameError, match="went away within a message"):
        read_message(pipe[0])


@given(st.binary(max_size=100))
def test_the_head_says_how_much_follows(content):
    whole = framed(content)
    assert length_in(whole) == len(whole) - 4 == len(content)


def test_a_message_that_is_too_long_is_refused_before_it_is_read():
    with pytest.raises(FrameError, match="a message of 4,294,967,295 bytes is longer than 10"):
        length_in(b"\xff\xff\xff\xff", 10)

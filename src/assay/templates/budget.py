"""The budget of a rendering: steps, characters and time, so that no template exhausts memory or runs forever.

Steps and characters are counted where they arise, so the same template fails on every machine. Time is watched from
another thread, for work that is neither: comparing long texts a million times.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.utils import Namespace

from assay.templates.messages import MOST_TEXT

MOST_STEPS = 1_000_000
"""Iterations of loops, calls and filters of one rendering."""
MOST_TOTAL = 3 * MOST_TEXT
"""Characters that one rendering may create, those of intermediate values included."""
MOST_SECONDS = 5.0
_ENTRY = 8
"""An entry of a list takes at least the memory of so many characters."""
_POLL_S = 0.25
_IDLE_POLLS = 40


class TimeUp(BaseException):
    """Raised inside a rendering that takes too long; `except Exception` must not catch it."""


class Budget:
    """The resources used by a rendering; nested renderings share one budget."""

    __slots__ = ("depth", "steps", "text", "watched")

    def __init__(self) -> None:
        self.steps = 0
        self.text = 0
        self.depth = 0
        self.watched = _Watched()

    def step(self, n: int = 1) -> None:
        """Count steps; raise SecurityError if there are too many."""
        self.steps += n
        if self.steps > MOST_STEPS:
            raise SecurityError(f"the template takes more than {MOST_STEPS:,} steps")

    def charge(self, size: int) -> None:
        """Count characters; raise SecurityError if there are too many."""
        self.text += size
        if self.text > MOST_TOTAL:
            raise SecurityError(f"the template creates more than {MOST_TOTAL:,} characters")

    def charge_result(self, value: Any) -> Any:
        """Count the size of a value, and return it."""
        if isinstance(value, _TEXT):
            self.charge(len(value))
        elif isinstance(value, _ENTRIES):
            self.charge(_ENTRY * len(value))
        return value

    def enter(self) -> None:
        """Begin a rendering; every one pays for this, so it is one function."""
        self.depth += 1
        if self.depth == 1:
            self.steps = self.text = 0
            self.watched.since = time.monotonic()
            if not _Watching.on:
                _Watching.on = True
                threading.Thread(target=_watch, name="template-time", daemon=True).start()

    def leave(self) -> None:
        """End a rendering; TimeUp when it took too long and has not been interrupted yet."""
        self.depth -= 1
        if self.depth:
            return
        watched = self.watched
        # under the lock of the watching thread: nothing is raised in this thread once the rendering is over
        with _lock:
            watched.since = None
            fired, watched.fired = watched.fired, False
            if fired:
                _raise_in(watched.thread, None)
        if fired:
            raise TimeUp

    def abandon(self) -> None:
        """Forget a rendering that was interrupted, wherever that happened."""
        self.depth = 0
        with _lock:
            self.watched.since = None
            self.watched.fired = False
            _raise_in(self.watched.thread, None)


# tuples, because they are checked far faster than unions and every value of a template is
_TEXT = (str, bytes)
_ENTRIES = (list, tuple, dict)
_ONLY_TEXT = {str}
_SEQUENCES = (list, tuple, set, frozenset, range, KeysView, ValuesView, ItemsView)


class _Watching:
    """Return whether a thread watches the time of renderings."""

    on = False


class _Watched:
    """The rendering of one thread as the watching thread sees it."""

    __slots__ = ("fired", "since", "thread")

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.since: float | None = None
        self.fired = False
        with _lock:
            _all_watched.append(self)


_lock = threading.Lock()
_all_watched: list[_Watched] = []


def _watch() -> None:
    """Interrupt renderings that take too long, until there have been none for a while."""
    idle = 0
    while True:
        time.sleep(_POLL_S)
        now = time.monotonic()
        running = False
        with _lock:
            for watched in _all_watched:
                running |= watched.since is not None
                if watched.since is not None and now - watched.since > MOST_SECONDS:
                    # noted first: a rendering that ends before the error arrives takes it back in `leave`
                    watched.fired = True
                    _raise_in(watched.thread, TimeUp)
        idle = 0 if running else idle + 1
        if idle > _IDLE_POLLS:
            # a rendering that began meanwhile either sees the flag, or is seen here
            _Watching.on = False
            if all(watched.since is None for watched in _all_watched):
                return
            _Watching.on = True


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in another thread at its next bytecode; None withdraws one that was not raised yet."""
    import ctypes

    raised = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


class _Local(threading.local):
    """The budget of each thread."""

    def __init__(self) -> None:
        self.budget = Budget()


LOCAL = _Local()


def budget() -> Budget:
    """The budget of the rendering in this thread."""
    return LOCAL.budget


def _begin_anew() -> None:
    """Let a forked process start without the watching thread, which a fork does not copy, and without its lock."""
    global _lock
    _lock = threading.Lock()
    _all_watched.clear()
    _Watching.on = False
    LOCAL.budget = Budget()


os.register_at_fork(after_in_child=_begin_anew)


def measured(value: Any) -> int:
    """About how many characters the text of a value has; it stops counting beyond the limit.

    A list that holds another one many times counts it as often, as printing it would.
    """
    if isinstance(value, _TEXT):
        return len(value)
    if value is None or isinstance(value, float):
        return 8
    if isinstance(value, list) and set(map(type, value)) == _ONLY_TEXT:
        return sum(map(len, value)) + 4 * len(value)
    total, stack = 0, [value]
    while stack:
        part = stack.pop()
        if isinstance(part, _TEXT):
            total += len(part) + 4
        elif isinstance(part, int):
            # estimated from its bits: writing a huge integer out is what has to be prevented
            total += 2 + part.bit_length() // 3
        else:
            inside = _inside(part)
            total += 2 if inside is not None else 8
            if inside is not None:
                if total + len(stack) + len(inside) > MOST_TEXT:
                    return MOST_TEXT + 1
                stack.extend(inside)
        if total > MOST_TEXT:
            return total
    return total


def _inside(value: Any) -> Any:
    """The parts of a value that its text shows; None for a value without parts."""
    if isinstance(value, _SEQUENCES):
        return value
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()] if len(value) <= MOST_TEXT else range(len(value))
    if isinstance(value, Namespace):
        attributes: dict[str, Any] = object.__getattribute__(value, "_Namespace__attrs")
        return list(attributes.values())
    return None


def printable_size(value: Any) -> int:
    """The size of a value's text; a SecurityError when it is too long to be written."""
    size = measured(value)
    if size > MOST_TEXT:
        raise SecurityError(f"the text of a value has more than {MOST_TEXT:,} characters")
    return size

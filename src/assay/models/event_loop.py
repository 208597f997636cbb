"""Running coroutines from plain functions, whether or not an event loop is running already."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine on its own event loop; Ctrl-C cancels it and raises KeyboardInterrupt.

    Inside a running loop (a notebook, an async program) the work gets a thread and a loop of its own: the caller's
    loop stands still until it is done, as with any plain function.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _on_new_loop(work)
    return _in_thread(work)


def _on_new_loop(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        import uvloop

        factory = uvloop.new_event_loop
    except ImportError:
        factory = None
    # what is loaded by now stays: the collector need not look at it again and again. Thousands of replies a second
    # live for a moment only, so it may come by less often than its defaults make it (a tenth of the CPU otherwise)
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    try:
        with asyncio.Runner(loop_factory=factory) as runner:
            return runner.run(work)
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _in_thread(work: Coroutine[Any, Any, Result]) -> Result:
    outcome: list[Result] = []
    error: list[BaseException] = []
    task: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def cancellable() -> Result:
        current = asyncio.current_task()
        assert current is not None
        task.append((asyncio.get_running_loop(), current))
        return await work

    def run() -> None:
        # whatever is raised belongs to the caller, who waits in another thread
        try:
            outcome.append(_on_new_loop(cancellable()))
        except BaseException as raised:
            error.append(raised)

    thread = threading.Thread(target=run, name="assay-run")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        # signals reach the main thread only: hand the stop on, and let what was answered be committed
        for loop, running in task:
            loop.call_soon_threadsafe(running.cancel)
        thread.join()
        raise
    if error:
        raise error[0]
    return outcome[0]

"""The progress of a batch on one line of the terminal."""

from __future__ import annotations

import sys
from typing import Literal

from assay.runner.progress import Progress


class EvalProgressDisplay:
    """Shows on standard error how many items are graded; in a `with` block, which ends the line."""

    def __init__(
        self, total_items: int, style: Literal["simple", "detailed"] = "simple", judge_ids: list[str] | None = None
    ) -> None:
        self.total_items = total_items
        self.style = style
        self.judge_ids = list(judge_ids or ())
        self._done = 0
        self._failed = 0
        self._rate = 0.0
        self._status = ""

    def __enter__(self) -> EvalProgressDisplay:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._done or self._status:
            print(file=sys.stderr)

    def advance(self, rate: float = 0.0) -> None:
        """Count one more item; `rate` is how many are graded per second."""
        self._done += 1
        self._rate = rate
        self._show()

    def set_status(self, status: str) -> None:
        """Show a word about what is going on."""
        self._status = status
        self._show()

    def listen(self, progress: Progress) -> None:
        """Show how far a run is."""
        self._done, self._failed = progress.done, progress.failed
        self._show()

    def _show(self) -> None:
        parts = [f"graded {self._done:,} of {self.total_items:,}, {self._failed:,} failed"]
        if self.style == "detailed":
            parts += [f"{self._rate:.1f} items/s"] if self._rate else []
            parts += [f"judges: {', '.join(self.judge_ids)}"] if self.judge_ids else []
        parts += [self._status] if self._status else []
        print("\r" + " · ".join(parts), end="", file=sys.stderr, flush=True)

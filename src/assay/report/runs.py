"""The list of stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from assay.report.table import Trimmed
from assay.store.runs import RunRecord, differing, state
from assay.text import shortened

RUN_AND_DATE = 12 + 16 + 5 * 2
"""The columns that are never shortened, and the blanks between all six."""
LONGEST_NAME = 16
"""Characters of a run's name on a terminal."""


def run_row(record: RunRecord) -> dict[str, Any]:
    """The object that `assay runs --json` prints for one run."""
    return {
        "run": record.id,
        "name": record.name,
        "tags": list(record.tags),
        "status": state(record),
        "task": record.task,
        "model": record.model,
        "started_at": record.started_at,
        "finished_at": record.finished_at,
        "file": record.file,
        "n_samples": _samples(record),
        "kind": record.kind,
        "config": dict(record.spec.config),
        "evaluation": record.evaluation,
        "specification": record.specification,
        "repeat": record.repeat,
    }


def _samples(record: RunRecord) -> int | None:
    return None if record.summary is None else int(orjson.loads(record.summary)["n_samples"])


def runs_table(records: Sequence[RunRecord], width: int) -> RenderableType:
    """Runs in rows; names of runs, tasks and models are shortened to the width of the terminal.

    Behind a task stand the settings by which its runs can be told apart.
    """
    counts = [_samples(record) for record in records]
    ended = [(state(record), "" if n is None else f"{n:,}") for record, n in zip(records, counts, strict=True)]
    names = [record.name or record.specification or "" for record in records]
    # a wide output, such as a pipe, has room for whole names
    named = min(max(map(len, names)), max(LONGEST_NAME, width // 6))
    widest = max(len(status) for status, _ in ended) + max(len("samples"), *(len(size) for _, size in ended))
    room = width - widest - RUN_AND_DATE - (max(named, len("name")) + 2 if named else 0)
    models = max(len("model"), *(len(record.model or "") for record in records))
    tasks = max(room - models, room * 3 // 5)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    titles = ["run", *(["name"] if named else []), "task", "model", "status", "samples", "started (UTC)"]
    for title in titles:
        table.add_column(title, no_wrap=True, justify="right" if title == "samples" else "left")
    for record, name, settings, (status, size) in zip(records, names, differing(records), ended, strict=True):
        task = " ".join([record.task, *(f"{key}={value}" for key, value in settings.items())])
        table.add_row(
            record.id,
            *([Text(shortened(name, named))] if named else []),
            Text(shortened(task, tasks)),
            Text(shortened(record.model or "", max(room - tasks, len("model")))),
            status,
            size,
            record.started_at[:16].replace("T", " "),
        )
    return Trimmed(table)

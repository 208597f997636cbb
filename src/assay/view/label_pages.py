"""Labels by people: what can be labelled, and one answer at a time, without a score or another person's label."""

from __future__ import annotations

from typing import Any

from assay.api import labels, viewing
from assay.api.labels import LabelQueue, Target
from assay.api.viewing import RunRecord
from assay.errors import SpecError
from assay.report.html.sample_section import conversation_of
from assay.view.address import Asked, query_string, terminal_words
from assay.view.background import Pending
from assay.view.pages import run_title
from assay.view.site import IN_THREAD, Elsewhere, Missing, Page, Site

RUNS_SHOWN = 20
DEFAULT_SIZE = 60
LARGEST_QUEUE = 1_000
KEYS = 9
PAGE_S, FORM_S = 1.0, 20.0
"""How long a page waits for its queue, and how long a form that somebody has filled in."""


def labels_page(site: Site, asked: Asked) -> Page:
    """The runs and targets that the annotator can label, with their own progress and nobody else's."""
    annotator = _annotator(site)
    before = asked.number("before")
    cards = viewing.finished_runs(site.store, before=before, limit=RUNS_SHOWN + 1)
    rows = []
    done = labels.own_counts(site.store, annotator)
    for record in cards[:RUNS_SHOWN]:
        targets = [
            {"target": target, "done": done.get((record.id, target.address), 0)}
            for target in labels.label_targets(site.store, record).values()
        ]
        if targets:
            rows.append({"record": record, "title": run_title(record), "targets": targets})
    return site.page(
        "labels.html",
        title="Labels",
        current="labels",
        rows=rows,
        older=cards[RUNS_SHOWN - 1].no if len(cards) > RUNS_SHOWN else None,
        sizes=labels.QUEUE_SIZES,
        default_size=DEFAULT_SIZE,
    )


def _annotator(site: Site) -> str:
    if site.annotator is None:
        raise Missing("Labels are given in a viewer that was started with `assay view --label NAME`.")
    return site.annotator


def _target(site: Site, record: RunRecord, asked: Asked) -> Target:
    targets = labels.label_targets(site.store, record)
    target = targets.get(asked.text("target"))
    if target is None:
        raise Missing(f"Run {record.id} has nothing to label of this name.")
    return target


def _queue_pairs(asked: Asked, target: Target) -> list[tuple[str, object]]:
    """The parameters that name a queue: how many are drawn, or the filter that chooses."""
    pairs: list[tuple[str, object]] = [("target", target.address)]
    if asked.text("from") == "filter":
        return [*pairs, ("from", "filter"), *asked.filter_pairs()]
    return [*pairs, ("n", _size(asked))]


def _size(asked: Asked) -> int:
    return max(1, min(asked.number("n") or DEFAULT_SIZE, LARGEST_QUEUE))


def _queue(site: Site, record: RunRecord, target: Target, asked: Asked, *, patience_s: float) -> LabelQueue:
    if asked.text("from") == "filter":
        which, problem = asked.sample_filter()
        if problem:
            raise SpecError(problem)
        index = site.index(record, patience_s=patience_s)
        if index is None:
            raise Pending
        listed = viewing.list_samples(site.store, record, index, which, after=None, size=LARGEST_QUEUE)
        return labels.filtered(site.store, record, [sample.position for sample in listed.samples])
    size = _size(asked)
    key = ("queue", record.id, record.finished_at, target.address, size)
    # a list of all answers of a large run belongs into the memory of another process
    apart = viewing.size_of(record) > IN_THREAD
    return site.work.result(
        key, labels.draw, site.reopen, record.id, target.address, size, apart=apart, patience_s=patience_s
    )


def label_page(site: Site, asked: Asked) -> Page | Elsewhere:
    """The next answer of a queue that the annotator has not labelled, or the one at `at`."""
    annotator = _annotator(site)
    record = site.record(asked.parts["run"])
    target = _target(site, record, asked)
    pairs = _queue_pairs(asked, target)
    here = site.url("runs", record.id, "label")
    context: dict[str, Any] = {
        "title": "Label",
        "current": "labels",
        "blind": True,
        "target": target,
        "is_random": asked.text("from") != "filter",
    }
    try:
        queue = _queue(site, record, target, asked, patience_s=PAGE_S)
    except Pending:
        return site.page("label.html", state="pending", after_s=1, **context)
    mine = labels.own_labels(site.store, target.address, annotator)
    done = {
        entry.position: mine[entry.content]
        for entry in queue.entries
        # what a filter once chose has to be looked at again when it is drawn
        if entry.content in mine and (queue.probability is None or mine[entry.content].probability is not None)
    }
    at = asked.number("at")
    entry = queue.entry(at) if at is not None else None
    if entry is None:
        entry = next((entry for entry in queue.entries if entry.position not in done), None)
    context |= {
        "n_done": len(done),
        "n_entries": len(queue.entries),
        "n_answers": queue.n_answers,
        "queue": here + query_string(pairs),
    }
    if entry is None:
        more = [n for n in labels.QUEUE_SIZES if n > len(queue.entries) and queue.n_answers > len(queue.entries)]
        larger = [(n, here + query_string([("target", target.address), ("n", n)])) for n in more]
        return site.page(
            "label.html",
            state="done",
            larger=larger if context["is_random"] else [],
            run_link=site.url("runs", record.id),
            commands=[terminal_words("assay", "calibrate", record.id), terminal_words("assay", "agreement", record.id)],
            **context,
        )
    sample = viewing.samples_of(site.store, record, [entry.position])[0]
    own = done.get(entry.position)
    return site.page(
        "label.html",
        state="asking",
        action=here,
        fields=[*pairs, ("position", entry.position), ("csrf", site.guard.csrf_token(annotator))],
        place=[e.position for e in queue.entries].index(entry.position) + 1,
        columns=list(labels.shown_columns(sample, target).items()),
        conversation=conversation_of(sample),
        answer=sample.output,
        options=[(str(n) if n <= KEYS else "", option) for n, option in enumerate(target.options, start=1)],
        own=own,
        can_undo=bool(done),
        **context,
    )


def save_label(site: Site, asked: Asked) -> Elsewhere:
    """Keep what the form says, and go on to the next answer."""
    annotator = _annotator(site)
    record = site.record(asked.parts["run"])
    target = _target(site, record, asked)
    here = site.url("runs", record.id, "label")
    pairs = _queue_pairs(asked, target)
    try:
        queue = _queue(site, record, target, asked, patience_s=FORM_S)
    except Pending:
        raise Missing("The queue is still being drawn: go back and send the form again.") from None
    if asked.text("do") == "undo":
        position = labels.undo(site.store, target.address, annotator, queue)
        return Elsewhere(location=here + query_string([*pairs, ("at", position)]))
    position = asked.number("position")
    entry = None if position is None else queue.entry(position)
    if entry is None:
        raise Missing("This answer is not part of the queue.")
    # a button that was pressed goes before what stands in the field for a number
    skipped = asked.text("do") == "skip"
    label = None if skipped else asked.text("label").strip()
    said = labels.Said(annotator=annotator, label=label, comment=asked.text("comment").strip())
    labels.save(site.store, record, target, queue, entry, said)
    return Elsewhere(location=here + query_string(pairs))

"""The stored labels that apply to a run's answers, wherever people saw these answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from assay.analysis.label_targets import Target, digest_of, label_targets
from assay.analysis.votes import Ballot
from assay.errors import SpecError
from assay.spec.nearest import listing
from assay.store.labels import HumanLabel, read_labels
from assay.store.runs import RunRecord
from assay.store.sample_rows import stored_samples
from assay.store.store import Store
from assay.text import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLabel:
    """A label on a sample of a run."""

    sample_id: str
    trial: int
    label: HumanLabel


def labels_of_run(store: Store, record: RunRecord, targets: Iterable[Target] | None = None) -> list[RunLabel]:
    """Return the labels on a run's answers, each for one sample: among identical ones, the one it was given for."""
    if targets is None:
        targets = label_targets(store, record).values() if record.summary is not None else ()
    given = read_labels(store, targets=[target.address for target in targets])
    if not given:
        return []
    by_content: dict[bytes, list[HumanLabel]] = {}
    for label in given:
        by_content.setdefault(label.content, []).append(label)
    places: dict[bytes, list[tuple[str, int]]] = {}
    for row in stored_samples(store, record.rows_of):
        if row.output is not None:
            digest = digest_of(record.spec, orjson.loads(row.input), row.output)
            if digest in by_content:
                places.setdefault(digest, []).append((row.sample_id, row.trial))
    matched = []
    for content, candidates in places.items():
        for label in by_content[content]:
            seen = (label.sample_id, label.trial)
            sample_id, trial = seen if seen in candidates else candidates[0]
            matched.append(RunLabel(sample_id=sample_id, trial=trial, label=label))
    return matched


def add_stored_labels(store: Store, record: RunRecord, ballots: Sequence[Ballot]) -> list[str]:
    """Add the stored labels to the votes of a run's judges; return notes on them."""
    by_name = {ballot.name: ballot for ballot in ballots}
    n, people = 0, set()
    for entry in labels_of_run(store, record):
        scorer, _, field = entry.label.target.partition("/")
        # a criterion goes by its name, or with its scorer's where there are several; a judge's label by its scorer
        ballot = by_name.get(entry.label.target) or by_name.get(field) or by_name.get(scorer)
        row = f"{entry.sample_id}/{entry.trial}"
        if ballot is None or row not in ballot.rows:
            continue
        ballot.people.setdefault(entry.label.annotator, {})[row] = entry.label.label
        n += entry.label.label is not None
        people.add(entry.label.annotator)
    return [f"with {counted(n, 'label')} of {listing(sorted(people))} from the store"] if n else []


MOST_LOST = 0.05
"""The share of a draw's answers that may be missing from another run; with more, the rest is no random sample."""


def incomplete_draws(store: Store, labels: Sequence[RunLabel], target: Target, record: RunRecord) -> dict[str, str]:
    """Explain, by run, which draws of other runs lost too many answers to be a random sample of this one.

    Two runs share the answers that both models gave alike, which are easier than the others.
    """
    drawn: dict[str, set[bytes]] = {}
    for label in read_labels(store, targets=[target.address]):
        if label.probability is not None and label.run != record.id:
            drawn.setdefault(label.run, set()).add(label.content)
    here = {entry.label.content for entry in labels}
    reasons = {}
    for run, contents in drawn.items():
        lost = len(contents - here)
        if lost > MOST_LOST * len(contents) and contents & here:
            reasons[run] = f"{lost:,} of the {counted(len(contents), 'answer')} drawn from run {run} differ in this run"
    return reasons


def random_labels(
    labels: Sequence[RunLabel], target: Target, record: RunRecord, incomplete: Mapping[str, str]
) -> list[RunLabel]:
    """Return the labels on a target whose answers were drawn at random; raise a SpecError if there are none.

    `incomplete` are the runs whose draws lost too many of their answers.
    """
    mine = [entry for entry in labels if entry.label.target == target.address and not entry.trial]
    drawn = [entry for entry in mine if entry.label.probability is not None and entry.label.run not in incomplete]
    if any(entry.label.label is not None for entry in drawn):
        return drawn
    if incomplete:
        raise SpecError(
            f"the labels on {target.address} cannot correct the metric of run {record.id}: "
            f"{'; '.join(incomplete.values())}, so those that are left are no random sample. "
            "`assay view --label NAME` draws answers of this run"
        )
    chosen = sum(entry.label.label is not None for entry in mine)
    if not chosen:
        raise SpecError(
            f"no label on {target.address} is about an answer of run {record.id}: `assay view --label NAME` asks for "
            "some, or give --labels FILE"
        )
    raise SpecError(
        f"the {counted(chosen, 'label')} on {target.address} cannot correct the metric: a filter chose the answers, "
        "and those it left out may be judged otherwise. `assay view --label NAME` draws answers at random"
    )

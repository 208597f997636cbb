"""Human labels as files: read into the store, and written for other tools."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from assay.analysis.calibrate import CHANCE, refuse_other_answers
from assay.analysis.label_targets import Target, content_digest, label_targets
from assay.analysis.stored_labels import labels_of_run
from assay.errors import SpecError
from assay.interop.export import harmless
from assay.interop.new_file import new_file
from assay.interop.numbers import number_in
from assay.interop.table_file import Refused, read_table
from assay.judging.option_key import option_key
from assay.results.rules import find_addresses
from assay.spec.nearest import listing, nearest
from assay.store.decoder import Sample, sample_from
from assay.store.labels import HumanLabel, write_labels
from assay.store.runs import RunRecord, now
from assay.store.sample_lookup import positions_of, samples_at
from assay.store.store import Store

SOMEBODY = "somebody"
"""The annotator of a file that names none."""
CONTENT = "content"
"""The column with the digest of the input and answer that a label is about."""
COLUMNS = ("sample_id", "trial", "criterion", "label", "annotator", "comment", CHANCE, "created_at", CONTENT)


def import_labels(store: Store, record: RunRecord, path: Path) -> int:
    """Import the labels of a file into the store; a SpecError lists every invalid row, and then none is imported."""
    targets = label_targets(store, record) if record.summary is not None else {}
    if not targets:
        raise SpecError(f"run {record.id} has no metric that people could label")
    rows = read_table(path, ("sample_id", "label"))
    refuse_other_answers(store, record, path)
    ids = list(dict.fromkeys(_text(row["sample_id"]).removeprefix("'") for row in rows))
    samples: dict[tuple[str, int], Sample] = {}
    where = positions_of(store, record.rows_of, ids)
    keys = record.spec.scorer_keys
    positions = [position for of_id in where.values() for position in of_id]
    for stored in samples_at(store, record.rows_of, positions, n_scorers=0, votes=False):
        samples[stored.sample_id, stored.trial] = sample_from(stored, keys)
    refused = Refused(path)
    labels: dict[tuple[bytes, str, str], HumanLabel] = {}
    for number, row in enumerate(rows, start=1):
        if not _text(row["label"]):
            continue
        try:
            label = _label(record, targets, samples, row)
            same = (label.content, label.target, label.annotator)
            if same in labels and labels[same].sample_id == label.sample_id:
                raise ValueError(f'a second label of sample "{label.sample_id}" by "{label.annotator}"')
            labels[same] = label
        except ValueError as wrong:
            refused.add(number, str(wrong))
    refused.check()
    if not labels:
        raise SpecError(f"{path} has no label yet")
    write_labels(store, list(labels.values()))
    return len(labels)


def _label(
    record: RunRecord,
    targets: Mapping[str, Target],
    samples: Mapping[tuple[str, int], Sample],
    row: Mapping[str, Any],
) -> HumanLabel:
    sample_id = _text(row["sample_id"]).removeprefix("'")
    trial = int(number_in(_text(row.get("trial"))) or 0)
    sample = samples.get((sample_id, trial))
    if sample is None:
        raise ValueError(f'run {record.id} has no sample "{sample_id}"')
    content = content_digest(record.spec, sample)
    stated = _text(row.get(CONTENT))
    if stated and stated != content.hex():
        raise ValueError(f'the label of sample "{sample_id}" is about another answer than that of run {record.id}')
    target = _target(targets, _text(row.get("criterion")))
    chance = _text(row.get(CHANCE))
    probability = number_in(chance) if chance else None
    if chance and (probability is None or not 0 < probability <= 1):
        raise ValueError(f'{CHANCE} "{chance}" is not a chance above 0 and at most 1')
    return HumanLabel(
        content=content,
        target=target.address,
        annotator=_text(row.get("annotator")) or SOMEBODY,
        label=_option(target, _text(row["label"])),
        comment=_text(row.get("comment")) or None,
        run=record.id,
        sample_id=sample_id,
        trial=trial,
        probability=probability,
        created_at=_text(row.get("created_at")) or now(),
    )


def _target(targets: Mapping[str, Target], name: str) -> Target:
    if not name:
        if len(targets) > 1:
            raise ValueError(f'there is no "criterion", but there are {len(targets)}: {listing(targets)}')
        return next(iter(targets.values()))
    matches = find_addresses(targets, name)
    if len(matches) != 1:
        closest = nearest(name, [*targets, *(target.name for target in targets.values())])
        hint = f'; did you mean "{closest}"?' if closest else ""
        raise ValueError(f'"{name}" is nothing that people label in this run{hint}; there is {listing(targets)}')
    return targets[matches[0]]


def _option(target: Target, label: str) -> str:
    """Return the option that a label means, in its own spelling."""
    for option in target.options:
        if option_key(option) == option_key(label):
            return option
    number = number_in(label)
    if number is not None:
        worth = [option for option, value in target.worth.items() if value == number]
        if worth:
            return worth[0]
        if target.bounds is None or target.bounds[0] <= number <= target.bounds[1]:
            return label
    options = f"; there is {listing(target.options)}" if target.options else ""
    raise ValueError(f'the label "{label}" is no label of {target.address}{options}')


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def export_labels(store: Store, record: RunRecord, path: Path, *, force: bool = False) -> int:
    """Write the labels on a run's answers as CSV or JSONL, as `import_labels` reads them; return their number."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".jsonl"):
        raise SpecError(f'"{path.name}" is to hold labels: end it in .csv or .jsonl')
    rows = [
        {
            "sample_id": entry.sample_id,
            "trial": entry.trial,
            "criterion": entry.label.target,
            "label": entry.label.label,
            "annotator": entry.label.annotator,
            "comment": entry.label.comment,
            CHANCE: entry.label.probability,
            "created_at": entry.label.created_at,
            CONTENT: entry.label.content.hex(),
        }
        for entry in labels_of_run(store, record)
    ]
    if not rows:
        raise SpecError(f"there is no label on an answer of run {record.id}: `assay view --label NAME` asks for some")
    with new_file(path, force=force) as scratch:
        if suffix == ".jsonl":
            scratch.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
            return len(rows)
        with scratch.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, COLUMNS)
            writer.writeheader()
            writer.writerows({name: harmless(value) for name, value in row.items()} for row in rows)
    return len(rows)

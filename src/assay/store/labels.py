"""Human labels: one row per answer, target and annotator, stored beside the scores."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace

from sqlalchemy import ColumnElement, Connection, Row, and_, func, select

from assay.store.schema import labels
from assay.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """A label; `content` is the digest of the input and answer that it is about.

    `label` is None for an answer that was skipped. `probability` is that with which the answer was drawn, None for one
    that a filter chose. `run`, `sample_id` and `trial` say where the person saw the answer.
    """

    content: bytes
    target: str
    annotator: str
    label: str | None
    run: str
    sample_id: str
    trial: int
    created_at: str
    comment: str | None = None
    probability: float | None = None


def write_label(store: Store, label: HumanLabel) -> None:
    """Store a label, replacing an earlier one of the same annotator."""
    write_labels(store, [label])


def write_labels(store: Store, rows: Sequence[HumanLabel]) -> None:
    """Keep labels, all or none; one that was drawn at random stays so when it is changed from a filtered list."""
    with store.begin() as connection:
        for label in rows:
            before = connection.execute(select(labels).where(_same(label))).first()
            if before is None:
                connection.execute(labels.insert().values(**asdict(label)))
                continue
            if label.probability is None:
                label = replace(label, probability=before.probability)
            connection.execute(labels.update().where(_same(label)).values(**asdict(label)))


def _same(label: HumanLabel) -> ColumnElement[bool]:
    return and_(
        labels.c.content == label.content, labels.c.target == label.target, labels.c.annotator == label.annotator
    )


def raise_probability(store: Store, *, run: str, target: str, annotator: str, probability: float) -> None:
    """Note that more answers are drawn now: those that are labelled already were drawn with that probability too."""
    drawn = and_(
        labels.c.run == run,
        labels.c.target == target,
        labels.c.annotator == annotator,
        labels.c.probability < probability,
    )
    with store.begin() as connection:
        connection.execute(labels.update().where(drawn).values(probability=probability))


def delete_label(store: Store, *, content: bytes, target: str, annotator: str) -> None:
    """Delete one's own label."""
    mine = and_(labels.c.content == content, labels.c.target == target, labels.c.annotator == annotator)
    with store.begin() as connection:
        connection.execute(labels.delete().where(mine))


def read_labels(
    store: Store, *, targets: Collection[str] | None = None, annotator: str | None = None
) -> list[HumanLabel]:
    """Read the labels on some targets, or all, in the order in which they were given."""
    query = select(labels)
    if targets is not None:
        query = query.where(labels.c.target.in_(list(targets)))
    if annotator is not None:
        query = query.where(labels.c.annotator == annotator)
    with store.connect() as connection:
        rows = connection.execute(query.order_by(labels.c.created_at, labels.c.content, labels.c.annotator)).all()
        return [_label(row) for row in rows]


def label_counts(store: Store) -> dict[str, int]:
    """Count the labels on each target; skipped answers do not count."""
    query = select(labels.c.target, func.count()).where(labels.c.label.is_not(None)).group_by(labels.c.target)
    with store.connect() as connection:
        return {target: int(n) for target, n in connection.execute(query)}


def labels_version(store: Store) -> tuple[int, str]:
    """Return a value that changes with every label: their number and the time of the last one."""
    with store.connect() as connection:
        return _version(connection)


def _version(connection: Connection) -> tuple[int, str]:
    n, latest = connection.execute(select(func.count(), func.max(labels.c.created_at)).select_from(labels)).one()
    return int(n), str(latest or "")


def _label(row: Row[tuple[object, ...]]) -> HumanLabel:
    values = dict(row._mapping)
    return HumanLabel(**{**values, "content": bytes(values["content"])})

"""The kind of a run as a column; votes of judges as rows of their own, moved out of the scores' metadata."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
PAGE = 1_000
COLUMNS = ("judge_id", "repeat", "backwards", "selected_index", "selected_label", "value", "reason", "error", "weight")


def upgrade() -> None:
    op.add_column("runs", sa.Column("kind", sa.Text, nullable=False, server_default="run"))
    op.create_table(
        "votes",
        sa.Column("score_id", ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("ordinal", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("criterion", sa.Text, nullable=False),
        sa.Column("judge", sa.Text, nullable=False),
        sa.Column("repeat", sa.Integer),
        sa.Column("reversed", sa.Integer),
        sa.Column("option", sa.Integer),
        sa.Column("label", sa.Text),
        sa.Column("value", sa.Float),
        sa.Column("reason", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("weight", sa.Float),
        sa.Column("call_key", sa.LargeBinary),
        sa.Column("extra", sa.Text),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    runs = sa.table("runs", sa.column("no"), sa.column("spec"), sa.column("kind"))
    for no, spec in connection.execute(sa.select(runs.c.no, runs.c.spec)).all():
        connection.execute(runs.update().where(runs.c.no == no).values(kind=_kind(json.loads(spec))))
    _move_votes(connection)


def _kind(spec: dict[str, Any]) -> str:
    """Which command wrote a run, from what only that command wrote."""
    if spec.get("aside") in ("audit", "generate"):
        return str(spec["aside"])
    if "rules" in spec and "judges" in spec:
        return "grade"
    if ((spec.get("dataset") or {}).get("source") or {}).get("type") == "imported":
        return "import"
    # only rescoring wrote the digests of scorers' files always, and its keys in alphabetical order
    if "contents" in spec and list(spec) == sorted(spec):
        return "rescore"
    return "run"


def _move_votes(connection: sa.Connection) -> None:
    scores = sa.table("scores", sa.column("id"), sa.column("metadata"))
    votes = sa.table(
        "votes",
        *(
            sa.column(name)
            for name in (
                "score_id",
                "ordinal",
                "criterion",
                "judge",
                "repeat",
                "reversed",
                "option",
                "label",
                "value",
                "reason",
                "error",
                "weight",
                "extra",
            )
        ),
    )
    last = -1
    while True:
        query = sa.select(scores.c.id, scores.c.metadata).where(
            scores.c.id > last, scores.c.metadata.contains('"votes"')
        )
        page = connection.execute(query.order_by(scores.c.id).limit(PAGE)).all()
        if not page:
            return
        last = page[-1].id
        rows = []
        for score_id, text in page:
            metadata = json.loads(text)
            if not _can_move(metadata.get("votes")):
                continue
            rows += _rows(score_id, metadata.pop("votes"))
            left = json.dumps(metadata, ensure_ascii=False, separators=(",", ":"))
            connection.execute(scores.update().where(scores.c.id == score_id).values(metadata=left))
        if rows:
            connection.execute(votes.insert(), rows)


def _can_move(votes: object) -> bool:
    return (
        isinstance(votes, dict)
        and bool(votes)
        and all(
            isinstance(cast, list)
            and cast
            and all(isinstance(vote, dict) and isinstance(vote.get("judge_id"), str) for vote in cast)
            for cast in votes.values()
        )
    )


def _rows(score_id: int, votes: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for criterion, cast in votes.items():
        for vote in cast:
            extra = {name: value for name, value in vote.items() if name not in COLUMNS and name != "verdict"}
            if "verdict" in vote:
                extra["binary"] = True
            rows.append(
                {
                    "score_id": score_id,
                    "ordinal": len(rows),
                    "criterion": criterion,
                    "judge": vote["judge_id"],
                    "repeat": vote.get("repeat"),
                    "reversed": None if vote.get("backwards") is None else int(vote["backwards"]),
                    "option": vote.get("selected_index"),
                    "label": vote.get("verdict", vote.get("selected_label")),
                    "value": vote.get("value"),
                    "reason": vote.get("reason"),
                    "error": vote.get("error"),
                    "weight": vote.get("weight"),
                    "extra": json.dumps(extra, ensure_ascii=False, separators=(",", ":")) if extra else None,
                }
            )
    return rows

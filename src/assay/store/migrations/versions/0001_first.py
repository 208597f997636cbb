"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("no", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("identity", sa.Text, nullable=False, index=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("file", sa.Text, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("started_at", sa.Text, nullable=False),
        sa.Column("finished_at", sa.Text),
        sa.Column("owner", sa.Text),
        sa.Column("heartbeat_at", sa.Text),
        sa.Column("cursor", sa.BigInteger, nullable=False),
        sa.Column("evidence", sa.Integer),
        sa.Column("summary", sa.Text),
    )
    op.create_table(
        "samples",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("sample_id", sa.Text, nullable=False),
        sa.Column("trial", sa.Integer, nullable=False),
        sa.Column("input", sa.Text, nullable=False),
        sa.Column("output", sa.Text),
        sa.Column("trace", sa.Text),
    )
    op.create_table(
        "scores",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("values", sa.Text, nullable=False),
        sa.Column("metadata", sa.Text),
    )
    op.create_table(
        "failures",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("retryable", sa.Integer, nullable=False),
    )
    op.create_table(
        "metrics",
        sa.Column("run_no", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("scorer", sa.Text, nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )

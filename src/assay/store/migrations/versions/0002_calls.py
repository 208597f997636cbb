"""Replies of models, under the content that decides them; which of them a sample used."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "calls",
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("run_no", sa.Integer, nullable=False, index=True),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("request", sa.LargeBinary, nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("prompt_tokens", sa.Integer, nullable=False),
        sa.Column("completion_tokens", sa.Integer, nullable=False),
        sa.Column("cost_usd", sa.Text),
        sa.Column("latency_s", sa.Float),
        sa.Column("created_at", sa.Text, nullable=False),
    )
    op.add_column("samples", sa.Column("calls", sa.Text))

"""Names, tags, evaluation, specification and repeat of a run as columns; labels that people give."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("name", "tags", "evaluation", "specification"):
        op.add_column("runs", sa.Column(name, sa.Text))
    op.add_column("runs", sa.Column("repeat", sa.Integer, nullable=False, server_default="0"))
    op.create_index("ix_runs_name", "runs", ["name"])
    op.create_table(
        "labels",
        sa.Column("content", sa.LargeBinary, primary_key=True),
        sa.Column("target", sa.Text, primary_key=True),
        sa.Column("annotator", sa.Text, primary_key=True),
        sa.Column("label", sa.Text),
        sa.Column("comment", sa.Text),
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("sample_id", sa.Text, nullable=False),
        sa.Column("trial", sa.Integer, nullable=False),
        sa.Column("probability", sa.Float),
        sa.Column("created_at", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    columns = ("no", "spec", "name", "tags", "evaluation", "specification", "repeat")
    runs = sa.table("runs", *(sa.column(name) for name in columns))
    for no, text in connection.execute(sa.select(runs.c.no, runs.c.spec)).all():
        spec = json.loads(text)
        values = {name: spec[name] for name in ("name", "evaluation", "specification", "repeat") if spec.get(name)}
        if spec.get("tags"):
            values["tags"] = json.dumps(spec["tags"], ensure_ascii=False, separators=(",", ":"))
        if values:
            connection.execute(runs.update().where(runs.c.no == no).values(**values))

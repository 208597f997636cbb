"""The tables, declared once for SQLite and PostgreSQL. `row_address.py` defines `id`."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, MetaData, String, Table

from assay.store.stored_text import StoredText as Text

SCHEMA_VERSION = "0005"

metadata = MetaData()

Id = BigInteger().with_variant(Integer, "sqlite")
"""An INTEGER PRIMARY KEY is SQLite's own row number and needs no second index."""

version = Table("alembic_version", metadata, Column("version_num", String(32), primary_key=True))

runs = Table(
    "runs",
    metadata,
    Column("no", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("identity", Text, nullable=False, index=True),
    Column("status", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("model", Text),
    Column("seed", BigInteger, nullable=False),
    Column("spec", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("owner", Text),
    Column("heartbeat_at", Text),
    Column("cursor", BigInteger, nullable=False),
    Column("evidence", Integer),
    Column("summary", Text),
    Column("kind", Text, nullable=False, server_default="run"),
    Column("name", Text, index=True),
    Column("tags", Text),
    Column("evaluation", Text),
    Column("specification", Text),
    Column("repeat", Integer, nullable=False, server_default="0"),
)
"""`cursor` counts the rows finished in order; `evidence` is the run whose rows this one shows when it computed none.

`name` and `tags` (a JSON list) are the user's; `evaluation`, `specification` and `repeat` say which part of a run file
a run is. All five stand in `spec` too: the columns are for finding runs.
"""

samples = Table(
    "samples",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("sample_id", Text, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("input", Text, nullable=False),
    Column("output", Text),
    Column("trace", Text),
    Column("calls", Text),
)
"""`calls` lists the keys of the replies that the sample used, and which of them came from the cache."""

scores = Table(
    "scores",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("values", Text, nullable=False),
    Column("metadata", Text),
)

failures = Table(
    "failures",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("stage", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("retryable", Integer, nullable=False),
)

votes = Table(
    "votes",
    metadata,
    Column("score_id", Id, primary_key=True, autoincrement=False),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("criterion", Text, nullable=False),
    Column("judge", Text, nullable=False),
    Column("repeat", Integer),
    Column("reversed", Integer),
    Column("option", Integer),
    Column("label", Text),
    Column("value", Float),
    Column("reason", Text),
    Column("error", Text),
    Column("weight", Float),
    Column("call_key", LargeBinary),
    Column("extra", Text),
    sqlite_with_rowid=False,
)
"""One row per answer, or failed attempt, of a judge on one criterion; `score_id` is the id of the score it is part of.

`option` is the index of the chosen option in the rubric's order, `extra` a JSON object with what has no column. What
a vote does not state is null: a first answer, options in the rubric's order, weight 1.
"""

unsettled = Table("unsettled", metadata, Column("id", Id, primary_key=True, autoincrement=False))
"""Scores of which a part failed in a way that a retry may fix."""

metrics = Table(
    "metrics",
    metadata,
    Column("run_no", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("scorer", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("document", Text, nullable=False),
)

calls = Table(
    "calls",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("run_no", Integer, nullable=False, index=True),
    Column("model", Text, nullable=False),
    Column("purpose", Text, nullable=False),
    Column("request", LargeBinary, nullable=False),
    Column("reply", Text, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cost_usd", Text),
    Column("latency_s", Float),
    Column("created_at", Text, nullable=False),
)

labels = Table(
    "labels",
    metadata,
    Column("content", LargeBinary, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("annotator", Text, primary_key=True),
    Column("label", Text),
    Column("comment", Text),
    Column("run", Text, nullable=False),
    Column("sample_id", Text, nullable=False),
    Column("trial", Integer, nullable=False),
    Column("probability", Float),
    Column("created_at", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Human labels of answers; a label never overwrites a score.

`content` is the digest of input and answer, so that labels survive reruns and rescoring; `target` is the scorer's field
or the criterion, `label` null for an answer that was skipped. `run`, `sample_id` and `trial` say where the person saw
the answer. `probability` is that with which the sample was drawn; null for one that a filter chose, which is unfit for
`calibrate`.
"""

settings = Table(
    "settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""Settings that apply to all runs of the store."""

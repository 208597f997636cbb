"""Alembic's entry: runs the migrations on the connection that migrate.py hands over, or prints them as SQL."""

from alembic import context

attributes = context.config.attributes
if context.is_offline_mode():
    context.configure(dialect_name=attributes["dialect"], render_as_batch=True)
else:
    context.configure(connection=attributes["connection"], render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()

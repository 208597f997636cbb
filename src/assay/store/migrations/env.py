"""Alembic's entry: runs the migrations on the connection that migrate.py hands over, inside its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()

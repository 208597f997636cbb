"""`assay schema`."""

from __future__ import annotations

import click

from assay.cli.options import plugin_option
from assay.cli.output import print_json


@click.command("schema")
@click.argument("kind", type=click.Choice(["task", "dataset"]), default="task")
@plugin_option
def command(kind: str) -> None:
    """Print the JSON Schema of task or dataset files, for completion and checks in your editor.

    The schema covers every scorer, metric and solver of this installation, including plug-ins. In VS Code with the YAML
    extension, put this on the first line of a task file:

    \b
      # yaml-language-server: $schema=task.schema.json

    \b
    Example:
      assay schema task > task.schema.json
    """
    from assay.builtin import registry
    from assay.spec.schema import schemas

    print_json(schemas(registry())[kind])

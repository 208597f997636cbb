"""`assay schema`."""

from __future__ import annotations

import click

from assay.cli.options import plugin_option


@click.command("schema")
@click.argument("kind", type=click.Choice(["task", "dataset"]), default="task")
@plugin_option
def command(kind: str) -> None:
    """Print the JSON Schema of task or dataset files, so that an editor completes and checks them.

    It is made from all that this assay knows, plug-ins included. In VS Code with the YAML extension, put this on the
    first line of a task file:

    \b
      # yaml-language-server: $schema=task.schema.json

    \b
    Example:
      assay schema task > task.schema.json
    """
    import orjson

    from assay.builtin import registry
    from assay.spec.schema import schemas

    click.echo(orjson.dumps(schemas(registry())[kind], option=orjson.OPT_INDENT_2).decode())

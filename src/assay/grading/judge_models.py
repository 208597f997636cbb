"""Connect a panel's models: from a judge's config to a connection, and to calls without a store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from assay.errors import RunError, SpecError
from assay.grading.config import LLMConfig
from assay.judging.json_extraction import Unreadable
from assay.models.client import CallError, ModelRejected
from assay.models.connect import Connection, connect
from assay.models.endpoint import USUAL_TIMEOUTS, Timeouts
from assay.models.extra_params import Extras
from assay.models.http_models import connect_provider
from assay.models.limit import Limits
from assay.models.presets import keyless, preset_named
from assay.models.retry import RetryPolicy
from assay.runner.models import Models
from assay.spec.environment import Environment, environment_of
from assay.spec.project import project_folder
from assay.types import Ask, Reply, Request, Usage

ErrorCategory = Literal["infrastructure", "parse", "unknown"]
"""The category of a grading error: infrastructure, parse or unknown."""


def classify_grading_error(exc: BaseException) -> ErrorCategory:
    """Classify why grading failed.

    >>> classify_grading_error(TimeoutError()), classify_grading_error(KeyError("x"))
    ('infrastructure', 'unknown')
    """
    if isinstance(exc, CallError | ModelRejected | RunError | OSError | TimeoutError):
        return "infrastructure"
    return "parse" if isinstance(exc, ValueError | Unreadable) else "unknown"


def here() -> Path:
    """The project folder that the program runs in."""
    return project_folder(Path.cwd() / "here")


def connection_of(config: LLMConfig, *, planned: bool = False) -> Connection:
    """Connect the model of a config; a SpecError says what is missing, before anything is paid.

    A model that is only `planned` to be asked needs no key.
    """
    root = here()
    environment = environment_of(root)
    environment = _with_own(config, keyless(environment) if planned else environment)
    connection = _connected(config, root, environment)
    if config.max_parallel_requests is not None:
        connection = replace(connection, limits=Limits(concurrent=config.max_parallel_requests, declared=True))
    defaults, names = LLMConfig(config.model), ("max_retries", "retry_min_wait", "retry_max_wait")
    if any(getattr(config, name) != getattr(defaults, name) for name in names):
        retry = RetryPolicy(
            max_retries=config.max_retries,
            first_wait_s=config.retry_min_wait,
            longest_wait_s=config.retry_max_wait,
        )
        connection = replace(connection, retry=retry)
    return connection


def _connected(config: LLMConfig, root: Path, environment: Mapping[str, str]) -> Connection:
    defaults = LLMConfig(config.model)
    changed = [
        name
        for name in ("timeout", "extra_headers", "extra_params")
        if getattr(config, name) != getattr(defaults, name)
    ]
    if not changed:
        return connect(config.model, root=root, environment=environment)
    provider, slash, name = config.model.partition("/") if isinstance(config.model, str) else ("", "", "")
    if not slash or provider in ("scripted", "local"):
        raise SpecError(
            f"LLMConfig({changed[0]}=...) is for models of a provider, such as openai/gpt-5-mini; "
            "a model file has timeouts and headers of its own"
        )
    seconds = config.timeout
    patience = (
        USUAL_TIMEOUTS if seconds == defaults.timeout else Timeouts(first_byte_s=float(seconds), total_s=float(seconds))
    )
    extras = Extras(headers=config.extra_headers, params=config.extra_params)
    return connect_provider(provider, name, environment, patience, extras=extras)


def _with_own(config: LLMConfig, environment: Environment) -> Environment:
    """Return the environment with the config's key and address instead of the provider's."""
    if config.api_key is None and config.api_base is None:
        return environment
    if not isinstance(config.model, str) or "/" not in config.model:
        raise SpecError("api_key and api_base go with a model of a provider, such as openai/gpt-5-mini")
    provider, preset = preset_named(config.model.partition("/")[0])
    if config.api_key is not None:
        environment[preset.keys[0]] = config.api_key
    if config.api_base is not None:
        environment[f"{provider.upper()}_BASE_URL"] = config.api_base
    return environment


def connected(endpoints: Mapping[str, LLMConfig], *, planned: bool = False) -> dict[str | None, Connection]:
    """One connection per endpoint, by its key; those of a plan are never asked and need no key of a provider."""
    return {key: connection_of(endpoint, planned=planned) for key, endpoint in endpoints.items()}


class Clients:
    """The models of a panel while in use; concurrent calls share limits and connections."""

    def __init__(self, endpoints: Mapping[str, LLMConfig], *, planned: bool = False) -> None:
        self.endpoints = endpoints
        # connected at once, so that a wrong name is an error of the program and not of a grade
        self.connections = connected(endpoints, planned=planned)
        self._open: dict[int, tuple[int, Models]] = {}

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[Ask]:
        """Provide a way to call models for the duration of the block."""
        # a connection belongs to the event loop that opened it
        loop = id(asyncio.get_running_loop())
        users, models = self._open.get(loop) or (0, Models(connected(self.endpoints), memory=None))
        self._open[loop] = (users + 1, models)

        async def ask(request: Request, model: str | None = None) -> Reply:
            return await models.by_key[model].client.ask(request)

        try:
            yield ask
        finally:
            users = self._open[loop][0] - 1
            if users:
                self._open[loop] = (users, models)
            else:
                del self._open[loop]
                await models.close()

    def cost_usd(self, by_model: Mapping[str | None, Usage]) -> Decimal | None:
        """Return the billed cost; None if a price is unknown."""
        spent = Decimal(0)
        for key, usage in by_model.items():
            prices = self.connections[key].prices
            if prices is None:
                return None
            spent += prices.cost(usage)
        return spent

"""Connections over HTTP: of a provider known by name, or of a model file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.errors import SpecError
from assay.models import anthropic, responses
from assay.models.adapter import IDENTITY, adapter_named
from assay.models.anthropic import Anthropic
from assay.models.chat import Chat
from assay.models.connection import Connection
from assay.models.dialect import Dialect, EndpointQuirks
from assay.models.embeddings import Embeddings
from assay.models.endpoint import USUAL_TIMEOUTS, Endpoint, Timeouts
from assay.models.extra_params import NO_EXTRAS, Extras
from assay.models.limit import NO_LIMITS, Limits
from assay.models.presets import ANTHROPIC_HEADERS, address, api_key, headers, preset_named, provider_at
from assay.models.price import FREE, Prices, prices_for
from assay.models.redact import names_a_secret, public_url, url_secrets
from assay.models.responses import Responses
from assay.models.scripted import Line, Scripted
from assay.models.tls import tls_context
from assay.models.wire import WireClient, transport_to
from assay.spec.definitions import NOTHING, Definitions
from assay.spec.environment import variable_of
from assay.spec.model import CustomConnection, CustomInference, LoadedModel, ModelFile, ProviderConnection, problem_at
from assay.types import Sampling


def connect_provider(
    provider: str,
    model: str,
    environment: Mapping[str, str],
    timeouts: Timeouts = USUAL_TIMEOUTS,
    *,
    extras: Extras = NO_EXTRAS,
    embeds: bool = False,
) -> Connection:
    """A model of a provider; a SpecError names the variable when the key or the address is not set.

    One that `embeds`, or says so in its name, gives vectors instead of replies.
    """
    provider, preset = preset_named(provider)
    reference = f"{provider}/{model}"
    key = api_key(preset, reference, environment)
    url = address(provider, preset, model, environment)
    embeds = preset.dialect == "chat" and (embeds or "embed" in model.lower())
    if embeds:
        url = url.replace("/chat/completions", "/embeddings")
    endpoint = Endpoint(
        url=url,
        headers=extras.over(headers(provider, preset, key)),
        timeouts=timeouts,
        tls=tls_context(url, None, environment),
    )
    transport = transport_to(endpoint)
    dialect: Dialect = Anthropic(model) if preset.dialect == "anthropic" else Chat(model)
    if embeds:
        dialect = Embeddings(model)
    client = WireClient(
        reference,
        extras.spoken(dialect),
        transport,
        manner=EndpointQuirks(length_field=preset.length_field, without=_untaken(dialect)),
        secrets=[*filter(None, (key,)), *extras.headers.values(), *url_secrets(url)],
    )
    identity = {
        "provider": provider,
        "endpoint": public_url(url),
        "model": model,
        "adapter": "embeddings" if embeds else preset.dialect,
    }
    return Connection(
        name=reference,
        client=client,
        identity={**identity, **extras.identity},
        prices=prices_for(provider, model),
        key_hint=f"Check the key in the environment variable {preset.keys[0]}." if key else "",
        closing=transport.close,
    )


def _untaken(dialect: Dialect) -> frozenset[str]:
    """Sampling parameters that a dialect has no field for."""
    if isinstance(dialect, Anthropic):
        return anthropic.NEVER_TAKEN
    return responses.NEVER_TAKEN if isinstance(dialect, Responses) else frozenset()


def connect_file(
    loaded: LoadedModel, root: Path, environment: Mapping[str, str], definitions: Definitions = NOTHING
) -> Connection:
    """The model of a model file."""
    file, config = loaded.file, loaded.config
    common: dict[str, Any] = {
        "name": file.key,
        "limits": Limits(
            concurrent=file.max_concurrent_requests or NO_LIMITS.concurrent,
            declared=file.max_concurrent_requests is not None,
            requests_per_minute=file.rate_limit,
            tokens_per_minute=file.tokens_per_minute,
        ),
        "sampling": file.sampling.value if file.sampling is not None else Sampling(),
        "custom_output": file.task == "custom",
        "resources": {} if file.resources is None else file.resources.needs,
    }
    if isinstance(config, CustomConnection):
        spoken = _adapter(loaded, config, root, environment, definitions)
        return Connection(**common, **_custom(loaded, config, spoken, environment))
    if isinstance(config, CustomInference):
        spoken = _adapter(loaded, config, root, environment, definitions)
        return Connection(**common, **_code(loaded, config, spoken))
    if isinstance(config, ProviderConnection):
        return Connection(**common, **_of_provider(loaded, config, environment))
    client = Scripted(file.key, [Line(reply="")])
    return Connection(**common, client=client, identity={"provider": "placeholder"}, prices=FREE)


def _of_provider(loaded: LoadedModel, config: ProviderConnection, environment: Mapping[str, str]) -> dict[str, Any]:
    try:
        preset_named(config.provider_id)
    except SpecError as error:
        raise SpecError(problem_at(loaded, error, ("config", "provider_id"))) from None
    embeds = loaded.file.task == "embeddings"
    connection = connect_provider(
        config.provider_id, config.model_key, environment, _timeouts(loaded.file), embeds=embeds
    )
    return {
        "client": connection.client,
        "identity": connection.identity,
        "prices": _prices(loaded.file) or connection.prices,
        "key_hint": connection.key_hint,
        "closing": connection.closing,
    }


def _custom(
    loaded: LoadedModel, config: CustomConnection, spoken: tuple[Dialect, str], environment: Mapping[str, str]
) -> dict[str, Any]:
    file, url = loaded.file, str(config.url)
    dialect, source = spoken
    endpoint = Endpoint(
        url=url,
        headers=_headers(config, dialect),
        timeouts=_timeouts(file),
        tls=tls_context(url, config.tls_context, environment, folder=loaded.document.path.parent),
        most_bytes=file.max_reply_mb << 20,
    )
    transport = transport_to(endpoint)
    hidden = [value for name, value in config.custom_headers.items() if name not in loaded.plain_headers]
    plain_secrets = [value for name, value in loaded.plain_headers.items() if names_a_secret(name)]
    secrets = [*filter(None, (config.api_key,)), *hidden, *plain_secrets, *file.secrets.values(), *url_secrets(url)]
    provider = provider_at(url)
    listed_prices = prices_for(provider, config.model_key) if provider and config.model_key else None
    return {
        "client": WireClient(
            file.key, dialect, transport, manner=EndpointQuirks(without=_untaken(dialect)), secrets=secrets
        ),
        "identity": _identity(loaded, config, source),
        "prices": _prices(file) or listed_prices,
        "key_hint": _key_hint(loaded),
        "closing": transport.close,
    }


def _code(loaded: LoadedModel, config: CustomInference, spoken: tuple[Dialect, str]) -> dict[str, Any]:
    from assay.models.custom_inference import RETRIES, CodeClient, identity_of

    dialect, source = spoken
    file_variables = loaded.document.data["config"].get("environment") or {}
    hidden = [config.environment[name] for name, text in file_variables.items() if text != config.environment[name]]
    named = [value for name, value in config.environment.items() if names_a_secret(name)]
    secrets = [*hidden, *named, *loaded.file.secrets.values()]
    client = CodeClient(loaded.file.key, config, dialect, secrets=secrets)
    identity = identity_of(config, source, file_variables)
    return {
        "client": client,
        "identity": identity,
        "prices": _prices(loaded.file),
        "retry": RETRIES,
        "closing": client.close,
    }


def _adapter(
    loaded: LoadedModel,
    config: CustomConnection | CustomInference,
    root: Path,
    environment: Mapping[str, str],
    definitions: Definitions,
) -> tuple[Dialect, str]:
    if config.adapter is None and loaded.file.task == "embeddings":
        return Embeddings(config.model_key), "embeddings"
    key = IDENTITY if config.adapter is None else config.adapter.key
    any_answer = loaded.file.task == "custom"
    try:
        return adapter_named(key, config.model_key, root, environment, any_answer=any_answer, definitions=definitions)
    except SpecError as error:
        raise SpecError(problem_at(loaded, error, ("config", "adapter", "key"))) from None


def _headers(config: CustomConnection, dialect: Dialect) -> dict[str, str]:
    """The key as the dialect wants it, then the headers of the file, which win."""
    defaults: dict[str, str] = {}
    if isinstance(dialect, Anthropic):
        defaults = {**ANTHROPIC_HEADERS, **({"x-api-key": config.api_key} if config.api_key else {})}
    elif config.api_key:
        defaults = {"Authorization": f"Bearer {config.api_key}"}
    overridden = {name.lower() for name in config.custom_headers}
    return {
        **{name: value for name, value in defaults.items() if name.lower() not in overridden},
        **config.custom_headers,
    }


def _identity(loaded: LoadedModel, config: CustomConnection, adapter: str) -> dict[str, Any]:
    """Return what determines replies;

    an address from a variable enters by the variable's name and a digest of the rest.
    """
    url = str(config.url)
    endpoint = public_url(url)
    if loaded.url is not None and variable_of(loaded.url) is not None:
        endpoint = f"{loaded.url} {_digest(endpoint)}"
    plain = {name: value for name, value in loaded.plain_headers.items() if not names_a_secret(name)}
    return {
        "provider": provider_at(url) or "custom",
        "endpoint": endpoint,
        "model": config.model_key,
        "adapter": adapter,
        "headers": {name: _digest(plain[name]) if name in plain else "" for name in sorted(config.custom_headers)},
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _key_hint(loaded: LoadedModel) -> str:
    names = loaded.secret_variables
    if not names:
        return f'Check "api_key" in {loaded.document.path.name}.'
    kind = "variable" if len(names) == 1 else "variables"
    return f"Check the key in the environment {kind} {', '.join(names)}."


def _prices(file: ModelFile) -> Prices | None:
    if file.prices is None:
        return None
    input_per_million, output_per_million = file.prices.decimals()
    return Prices(input_per_million=input_per_million, output_per_million=output_per_million)


def _timeouts(file: ModelFile) -> Timeouts:
    timeout, defaults = file.timeout, USUAL_TIMEOUTS
    if timeout is None:
        return defaults
    if isinstance(timeout, float | int):
        return Timeouts(connect_s=min(defaults.connect_s, timeout), first_byte_s=float(timeout), total_s=float(timeout))
    total_s = timeout.total or defaults.total_s
    return Timeouts(
        connect_s=timeout.connect or defaults.connect_s,
        first_byte_s=timeout.first_byte or min(defaults.first_byte_s, total_s),
        total_s=total_s,
    )

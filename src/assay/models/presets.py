"""The known providers: their addresses, the variables with their keys, and their dialects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from assay.errors import Problem, SpecError
from assay.spec.environment import Environment
from assay.spec.model import is_address
from assay.spec.nearest import listing, nearest

DialectName = Literal["chat", "anthropic", "responses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A provider: its address (None: from the environment), its key variables, its dialect."""

    base_url: str | None
    keys: tuple[str, ...] = ()
    dialect: DialectName = "chat"
    length_field: str = "max_tokens"
    needs_key: bool = True


PRESETS: Mapping[str, Preset] = {
    "openai": Preset(
        base_url="https://api.openai.com/v1", keys=("OPENAI_API_KEY",), length_field="max_completion_tokens"
    ),
    "anthropic": Preset(base_url="https://api.anthropic.com/v1", keys=("ANTHROPIC_API_KEY",), dialect="anthropic"),
    "gemini": Preset(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai", keys=("GEMINI_API_KEY", "GOOGLE_API_KEY")
    ),
    "openrouter": Preset(base_url="https://openrouter.ai/api/v1", keys=("OPENROUTER_API_KEY",)),
    "groq": Preset(base_url="https://api.groq.com/openai/v1", keys=("GROQ_API_KEY",)),
    "mistral": Preset(base_url="https://api.mistral.ai/v1", keys=("MISTRAL_API_KEY",)),
    "deepseek": Preset(base_url="https://api.deepseek.com/v1", keys=("DEEPSEEK_API_KEY",)),
    "together": Preset(base_url="https://api.together.xyz/v1", keys=("TOGETHER_API_KEY",)),
    "fireworks": Preset(base_url="https://api.fireworks.ai/inference/v1", keys=("FIREWORKS_API_KEY",)),
    "azure": Preset(base_url=None, keys=("AZURE_OPENAI_API_KEY",), length_field="max_completion_tokens"),
    "ollama": Preset(base_url="http://localhost:11434/v1", keys=("OLLAMA_API_KEY",), needs_key=False),
    "vllm": Preset(base_url="http://localhost:8000/v1", keys=("VLLM_API_KEY",), needs_key=False),
    "lmstudio": Preset(base_url="http://localhost:1234/v1", keys=("LMSTUDIO_API_KEY",), needs_key=False),
}
_ALIASES = {
    "google": "gemini",
    "mistralai": "mistral",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "azure_openai": "azure",
    "lm_studio": "lmstudio",
}
ANTHROPIC_HEADERS = {"anthropic-version": "2023-06-01"}
SERVED_HERE = frozenset({"ollama", "vllm", "lmstudio", "scripted", "local"})
"""Providers that bill nothing."""


def preset_named(provider: str) -> tuple[str, Preset]:
    """Return a provider by name or alias; raise a SpecError with the nearest name if there is none."""
    spelling = provider.lower().replace("-", "_")
    name = _ALIASES.get(spelling, spelling)
    preset = PRESETS.get(name)
    if preset is None:
        suggestion = nearest(provider, PRESETS)
        choices = "" if suggestion else f"; known: {listing(PRESETS)}"
        raise SpecError(Problem(message=f'unknown provider "{provider}"{choices}', suggestion=suggestion))
    return name, preset


def api_key(preset: Preset, reference: str, environment: Mapping[str, str]) -> str | None:
    """The key of a provider, from the first of its variables that is set; a SpecError names the one to set."""
    for variable in preset.keys:
        if environment.get(variable):
            return environment[variable]
    if not preset.needs_key:
        return None
    other = "".join(f" (or {name})" for name in preset.keys[1:])
    raise SpecError(f"{reference} needs a key: set the environment variable {preset.keys[0]}{other}, or put it in .env")


def keyless(environment: Mapping[str, str]) -> Environment:
    """The environment as if every provider's key were set, for plans: nothing is asked, so no key is needed."""
    keys = {variable: "not needed" for preset in PRESETS.values() for variable in preset.keys}
    env_file = environment.env_file if isinstance(environment, Environment) else Path(".env")
    return Environment({**keys, **environment}, env_file, keyless=True)


def address(provider: str, preset: Preset, model: str, environment: Mapping[str, str]) -> str:
    """The address that calls of a model are posted to; `<PROVIDER>_BASE_URL` beats the table."""
    variable = f"{provider.upper()}_BASE_URL"
    base_url = environment.get(variable)
    if provider == "azure" and not base_url:
        return _azure(model, environment)
    base = (base_url or preset.base_url or "").rstrip("/")
    if not is_address(base):
        raise SpecError(f'the environment variable {variable} is not an address: "{base}"')
    if preset.dialect == "anthropic":
        return f"{base}/messages" if base.endswith("/v1") else f"{base}/v1/messages"
    return f"{base}/chat/completions"


def _azure(deployment: str, environment: Mapping[str, str]) -> str:
    endpoint = environment.get("AZURE_OPENAI_ENDPOINT", "").rstrip("/")
    if not is_address(endpoint):
        message = "set the environment variable AZURE_OPENAI_ENDPOINT, such as https://NAME.openai.azure.com"
        raise SpecError(f"azure/{deployment} needs an address: {message}")
    version = environment.get("AZURE_OPENAI_API_VERSION") or environment.get("OPENAI_API_VERSION")
    if not version:
        return f"{endpoint}/openai/v1/chat/completions"
    return f"{endpoint}/openai/deployments/{quote(deployment)}/chat/completions?api-version={quote(version)}"


def headers(provider: str, preset: Preset, key: str | None) -> dict[str, str]:
    """Return the headers that carry the provider's key."""
    if preset.dialect == "anthropic":
        return {**ANTHROPIC_HEADERS, **({"x-api-key": key} if key else {})}
    if not key:
        return {}
    return {"api-key": key} if provider == "azure" else {"Authorization": f"Bearer {key}"}


def provider_at(url: str) -> str | None:
    """Return the provider that owns this address, so that its prices apply."""
    host = urlsplit(url).hostname
    for name, preset in PRESETS.items():
        if preset.base_url and preset.needs_key and urlsplit(preset.base_url).hostname == host:
            return name
    return None

"""Model and adapter files: their settings, and their lookup by key."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from assay.errors import Problem, SpecError
from assay.spec.code import InferenceCode
from assay.spec.definitions import NOTHING, Definitions
from assay.spec.document import Document, Steps
from assay.spec.environment import variable_of, with_environment
from assay.spec.fields import Key, Located, Settings
from assay.spec.isolation import Isolation
from assay.spec.kind import kind_of
from assay.spec.load import read_document
from assay.spec.locate import Checker
from assay.spec.lookup import find_document
from assay.spec.nearest import listing, nearest
from assay.spec.placeholder import PLACEHOLDER
from assay.spec.sampling import SamplingSpec
from assay.spec.source import problem_in
from assay.spec.walk import changed, relocated, strings

Task = Literal["chat_completion", "embeddings", "custom"]
Seconds = Annotated[float, Field(gt=0)]
SECRET_FIELDS = ("api_key", "custom_headers", "environment")
_TRUSTED_CA = ("tls_context", "validation_context", "trusted_ca")
_VENDORS = ("langsmith", "dify", "azure_foundry", "aws_bedrock", "claude_managed_agents")


class PriceSettings(Settings):
    """US dollars a million tokens."""

    input_per_million: float = Field(ge=0)
    output_per_million: float = Field(ge=0)

    def decimals(self) -> tuple[Decimal, Decimal]:
        """Both prices as they were written."""
        return Decimal(str(self.input_per_million)), Decimal(str(self.output_per_million))


class TimeoutSettings(Settings):
    """Seconds until a connection, the first byte, and the whole answer."""

    connect: Seconds | None = None
    first_byte: Seconds | None = None
    total: Seconds | None = None


class ResourceSettings(Settings):
    """What an actor that asks the model needs on a Ray cluster."""

    num_gpus: float | None = Field(default=None, ge=0)
    num_cpus: float | None = Field(default=None, ge=0)

    @property
    def needs(self) -> dict[str, float]:
        """The resources that are set, by Ray's names."""
        return {name: amount for name, amount in self.model_dump().items() if amount is not None}


class ModelFile(Settings):
    """A model: what it is called, what it takes, and how it is reached (`config`, checked by its type)."""

    key: Key
    display_name: str
    description: str | None = None
    task: Task = "chat_completion"
    rate_limit: int | None = Field(default=None, ge=1)
    max_concurrent_requests: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    config: dict[str, Any] = Field(repr=False)
    sampling: SamplingSpec | None = None
    prices: PriceSettings | None = None
    timeout: Seconds | TimeoutSettings | None = None
    max_reply_mb: int = Field(default=64, ge=1, le=4096)
    resources: ResourceSettings | None = None


class AdapterReference(Settings):
    """An adapter by its key: a file of the project, or one that ships."""

    key: str


class ValidationContext(Settings):
    """The trusted certificate authority (PEM in base64), or none to accept any certificate."""

    trusted_ca: str | None = None
    trust_chain_verification: Literal["verify_trust_chain", "accept_untrusted"] = "verify_trust_chain"

    @field_validator("trusted_ca")
    @classmethod
    def _is_pem(cls, text: str | None) -> str | None:
        if text is None or PLACEHOLDER.search(text) or variable_of(text) is not None or "-----BEGIN" in text:
            return text
        try:
            decoded = b64decode("".join(text.split()), validate=True)
        except ValueError:
            decoded = b""
        if b"-----BEGIN CERTIFICATE-----" not in decoded:
            raise ValueError("expected a certificate in PEM format, encoded in base64")
        return text

    @property
    def certificate(self) -> str | None:
        """The certificate as PEM text."""
        if self.trusted_ca is None or "-----BEGIN" in self.trusted_ca:
            return self.trusted_ca
        return b64decode(self.trusted_ca).decode("ascii", errors="replace")


class TlsSettings(Settings):
    """How the server's certificate is verified, and the client certificate."""

    validation_context: ValidationContext | None = None
    verify: bool = True
    ca_file: Located | None = None
    cert_file: Located | None = None
    key_file: Located | None = None


class CustomConnection(Settings):
    """A model at an address."""

    connection_type: Literal["custom_connection"] = "custom_connection"
    url: Located = Field(repr=False)
    api_key: str | None = Field(default=None, repr=False)
    adapter: AdapterReference | None = None
    model_key: str | None = None
    custom_headers: dict[str, str] = Field(default_factory=dict, repr=False)
    tls_context: TlsSettings | None = None


class ProviderConnection(Settings):
    """A model of a provider known by name."""

    connection_type: Literal["provider_connection"]
    provider_id: str
    model_key: str


class CustomInference(Settings):
    """A model implemented by a user's function; `environment` is all that it receives."""

    connection_type: Literal["custom_inference"]
    run_inference_snippet: InferenceCode
    isolation: Isolation | None = None
    environment: dict[str, str] = Field(default_factory=dict, repr=False)
    timeout: Seconds | None = None
    adapter: AdapterReference | None = None
    model_key: str | None = None


class Placeholder(Settings):
    """No model yet: every reply is empty."""

    connection_type: Literal["placeholder"]


ModelConfig = CustomConnection | ProviderConnection | CustomInference | Placeholder
_CONFIGS: Mapping[str, type[Settings]] = {
    "custom_connection": CustomConnection,
    "provider_connection": ProviderConnection,
    "custom_inference": CustomInference,
    "placeholder": Placeholder,
}


class Snippet(Settings):
    """A template in a file."""

    language: Literal["jinja"] = "jinja"
    source_code: Located


class AdapterFile(Settings):
    """Templates that build the body of an endpoint's request and read its answer."""

    key: Key
    display_name: str
    description: str | None = None
    long_description: str | None = None
    provider: str | None = None
    task: Task = "chat_completion"
    process_input: Snippet
    process_output: Snippet


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model file, checked. Values of `$VAR` are in `config` in memory only.

    `url` is the address as the file has it; `plain_headers` are headers whose values stand in the file as they are.
    """

    file: ModelFile
    config: ModelConfig = field(repr=False)
    document: Document = field(repr=False)
    url: str | None = None
    plain_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret_variables: tuple[str, ...] = ()


def load_model(path: Path, *, strict: bool = True, environment: Mapping[str, str] | None = None) -> LoadedModel:
    """A model from its YAML file; a SpecError with all that is wrong with it."""
    document = read_document(path, strict=strict, environment=environment)
    if kind_of(document.data) != "model":
        raise SpecError(document.problem('not a model; a model has "key", "display_name" and "config"', ()))
    return model_of(document)


def find_model(
    key: str,
    root: Path,
    *,
    strict: bool = True,
    environment: Mapping[str, str] | None = None,
    definitions: Definitions = NOTHING,
) -> LoadedModel:
    """The model with a key among what the run file defines and the files of the project."""
    return model_of(find_document("model", key, root, _reader(strict, environment), definitions))


def find_adapter(
    key: str,
    root: Path,
    *,
    strict: bool = True,
    environment: Mapping[str, str] | None = None,
    definitions: Definitions = NOTHING,
) -> AdapterFile:
    """The adapter with a key among what the run file defines and the files of the project."""
    return adapter_of(find_document("adapter", key, root, _reader(strict, environment), definitions))


def adapter_of(document: Document) -> AdapterFile:
    """An adapter from its document; a SpecError with all that is wrong with it."""
    checker = Checker(document)
    file = checker.validated(AdapterFile, document.data, (), "the adapter")
    if file is None or document.problems:
        raise SpecError([*document.problems, *checker.problems])
    return file


def _reader(strict: bool, environment: Mapping[str, str] | None) -> Callable[[Path], Document]:
    return lambda path: read_document(path, strict=strict, environment=environment)


def model_of(document: Document) -> LoadedModel:
    """A model from its document; a SpecError with all that is wrong with it."""
    checker = Checker(document)
    checker.problems += document.problems
    data = with_environment(document.data, document.environment)
    file = checker.validated(ModelFile, data, (), "the model")
    config = _config(data, checker)
    if file is None or config is None or checker.problems:
        raise SpecError(checker.problems)
    settings = document.data["config"]
    return LoadedModel(
        file=file,
        config=config,
        document=document,
        url=settings.get("url"),
        plain_headers=_plain(settings.get("custom_headers") or {}),
        secret_variables=_variables(document.data),
    )


def _config(data: Mapping[str, Any], checker: Checker) -> ModelConfig | None:
    node = data.get("config")
    if not isinstance(node, dict):
        return None
    name = node.get("connection_type", "custom_connection")
    settings = _CONFIGS.get(name) if isinstance(name, str) else None
    if settings is None:
        checker.report(*_no_such_connection(name))
        return None
    secrets = data.get("secrets")
    filled = _with_secrets(node, secrets if isinstance(secrets, dict) else {}, checker)
    config = cast("ModelConfig | None", checker.validated(settings, filled, ("config",), name))
    if isinstance(config, CustomInference):
        checker.problems += [
            problem_in(checker.document.sources, problem.message, problem.place, problem.suggestion)
            for problem in config.run_inference_snippet.problems()
        ]
    if isinstance(config, CustomConnection) and variable_of(config.url) is None and not is_address(config.url):
        message = "url: expected the whole address that is posted to, such as https://host/v1/chat/completions"
        checker.report(message, ("config", "url"))
    return config


def is_address(url: str) -> bool:
    """Return whether the text is a URL to post to.

    >>> is_address("https://host/v1"), is_address("host/v1"), is_address("http://[half")
    (True, False, False)
    """
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _no_such_connection(name: Any) -> tuple[str, Steps, str | None]:
    steps = ("config", "connection_type")
    if name in _VENDORS:
        way = "reach the model by custom_connection (its address) or custom_inference (a function of your own)"
        return f"{name} is a vendor's platform that assay does not speak to; {way}", steps, None
    suggestion = nearest(str(name), _CONFIGS)
    choices = "" if suggestion else f"; known: {listing(_CONFIGS)}"
    return f'unknown connection type "{name}"{choices}', steps, suggestion


def _with_secrets(node: dict[str, Any], secrets: Mapping[str, Any], checker: Checker) -> dict[str, Any]:
    """Replace `<< secrets.NAME >>` in the fields that may contain secrets.

    One that no `secrets` block has is the environment variable of that name.
    """
    environment = checker.document.environment

    def filled(steps: Steps, text: str) -> str:
        names = [name for kind, name in PLACEHOLDER.findall(text) if kind == "secrets"]
        if names and steps[0] not in SECRET_FIELDS and steps != _TRUSTED_CA:
            message = "secrets are allowed only in api_key, custom_headers, environment and trusted_ca"
            checker.report(message, ("config", *steps))
            return text
        for name in names:
            if name in secrets or name in environment:
                value = secrets[name] if name in secrets else environment[name]
                text = relocated(text.replace(f"<< secrets.{name} >>", str(value)), text)
            elif secrets:
                checker.report(f'the model has no secret "{name}"', ("config", *steps), nearest(name, secrets))
        return text

    config: dict[str, Any] = changed(node, filled)
    return config


def _plain(headers: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that are literal in the file, without variables and secrets."""
    return {
        name: value
        for name, value in headers.items()
        if isinstance(value, str) and variable_of(value) is None and not PLACEHOLDER.search(value)
    }


def _variables(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables behind the key, headers and secrets, so that a refusal can name them."""
    config = data.get("config") or {}
    places = {"secrets": data.get("secrets") or {}, **{name: config.get(name) or {} for name in SECRET_FIELDS}}
    texts = [text for _, text in strings(places)]
    named = [variable_of(text) for text in texts]
    secrets = data.get("secrets") or {}
    named += [
        name for text in texts for kind, name in PLACEHOLDER.findall(text) if kind == "secrets" and name not in secrets
    ]
    return tuple(dict.fromkeys(name for name in named if name is not None))


def problem_at(model: LoadedModel, error: SpecError, steps: Steps) -> list[Problem]:
    """Locate problems found while connecting in the model's file, unless they have their own location."""
    return [
        problem if problem.place else model.document.problem(problem.message, steps, problem.suggestion)
        for problem in error.problems
    ]

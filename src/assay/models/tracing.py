"""Runs and calls as OpenTelemetry spans: made from the events of the log, so that nothing is measured twice.

OpenTelemetry is imported only if an address for spans is set. The attributes follow the GenAI conventions (`gen_ai.*`).
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from assay.errors import MissingExtra
from assay.models.logs import DEBUG, LOGGER
from assay.models.redact import redact, url_secrets
from assay.text import clean
from assay.version import __version__

ADDRESSES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Either of these variables names the collector."""
_BEGINNINGS = ("run started", "run resumed", "run reused")
_PROVIDERS = {"azure": "azure.ai.openai", "gemini": "gcp.gemini", "mistral": "mistral_ai"}
"""The providers that the conventions call by another name than assay."""
_ATTRIBUTES = {
    "operation": "gen_ai.operation.name",
    "request_model": "gen_ai.request.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "http": "http.response.status_code",
    "failure": "error.type",
}
"""Fields of events and the attributes that they become; all others are called `assay.` and their name."""


class Spans(logging.Handler):
    """Makes a span of every run, and one below it of every attempt of a call."""

    def __init__(self, provider: Any) -> None:
        super().__init__(DEBUG)
        self._tracer = provider.get_tracer("assay", __version__)
        self._runs: dict[object, Any] = {}

    def emit(self, record: logging.LogRecord) -> None:
        fields: Mapping[str, Any] = getattr(record, "fields", {})
        name, moment_ns = record.getMessage(), int(record.created * 1e9)
        if name in _BEGINNINGS:
            attributes = _attributes({**fields, "start": name.removeprefix("run ")})
            span = self._tracer.start_span(f"run {fields.get('task')}", attributes=attributes, start_time=moment_ns)
            self._runs[fields.get("run")] = span
        elif name == "run finished" and fields.get("run") in self._runs:
            self._end(fields["run"], str(fields["status"]), moment_ns)
        elif name == "call":
            self._add_call(fields, moment_ns)

    def close(self) -> None:
        # a run that crashed has told no end
        for run in list(self._runs):
            self._end(run, "failed", None)
        super().close()

    def _end(self, run: object, status: str, moment_ns: int | None) -> None:
        from opentelemetry.trace import StatusCode

        span = self._runs.pop(run)
        span.set_attribute("assay.status", status)
        if status == "failed":
            span.set_status(StatusCode.ERROR)
        span.end(moment_ns)

    def _add_call(self, fields: Mapping[str, Any], moment_ns: int) -> None:
        from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context

        parent = self._runs.get(fields.get("run"))
        span = self._tracer.start_span(
            f"{fields['operation']} {fields['request_model']}",
            context=None if parent is None else set_span_in_context(parent),
            kind=SpanKind.CLIENT,
            attributes=_attributes(fields),
            start_time=moment_ns - int(fields["latency_s"] * 1e9),
        )
        if fields["status"] != "ok":
            span.set_status(StatusCode.ERROR, fields.get("detail"))
        span.end(moment_ns)


def wants_spans() -> bool:
    """Return whether the environment names a collector."""
    return any(os.environ.get(name) for name in ADDRESSES)


def _attributes(fields: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {_ATTRIBUTES.get(name, f"assay.{name}"): value for name, value in fields.items()}
    if "provider" in fields:
        name = attributes.pop("assay.provider")
        attributes["gen_ai.provider.name"] = _PROVIDERS.get(name, name)
    if "finish_reason" in fields:
        attributes["gen_ai.response.finish_reasons"] = (attributes.pop("assay.finish_reason"),)
    return attributes


class _Troubles(logging.Handler):
    """Prints the first reason why spans could not be sent, and leaves out OpenTelemetry's notes on every retry."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._printed = False

    def emit(self, record: logging.LogRecord) -> None:
        if not self._printed:
            self._printed = True
            # an address may hold a password
            secrets = [secret for name in ADDRESSES for secret in url_secrets(os.environ.get(name, ""))]
            reason = clean(redact(record.getMessage(), secrets), width=300)
            sys.stderr.write(f"spans are missing, the results are not affected: {reason}\n")


@contextmanager
def traced() -> Iterator[None]:
    """Send the spans of a block to the address in the environment; all that are finished are sent at its end."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise MissingExtra("otel", "OTEL_EXPORTER_OTLP_ENDPOINT") from None
    resource = Resource.create({"service.name": "assay", "service.version": __version__})
    # what the environment says about the service wins
    provider = TracerProvider(resource=resource.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    spans, before = Spans(provider), LOGGER.level
    foreign, troubles = logging.getLogger("opentelemetry"), _Troubles()
    propagated = foreign.propagate
    foreign.addHandler(troubles)
    foreign.propagate = False
    LOGGER.addHandler(spans)
    LOGGER.setLevel(DEBUG)
    try:
        yield
    finally:
        LOGGER.setLevel(before)
        LOGGER.removeHandler(spans)
        spans.close()
        provider.shutdown()
        foreign.propagate = propagated
        foreign.removeHandler(troubles)

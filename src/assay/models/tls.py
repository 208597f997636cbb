"""The trusted certificates and the client certificate: from the model file, the environment, or the system."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

from assay.errors import SpecError
from assay.spec.model import TlsSettings, ValidationContext

_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def tls_context(
    url: str, settings: TlsSettings | None, environment: Mapping[str, str], *, folder: Path | None = None
) -> ssl.SSLContext | None:
    """Build the TLS context of an address; None for plain HTTP and for the default checks. Paths start at `folder`."""
    bundle = next((environment[name] for name in _BUNDLES if environment.get(name)), None)
    if not url.startswith("https://") or (settings is None and bundle is None):
        return None
    settings = settings or TlsSettings()
    here = folder or Path()
    ca_file = bundle if settings.ca_file is None else str(here / settings.ca_file)
    validation = settings.validation_context or ValidationContext()
    try:
        context = ssl.create_default_context(cafile=ca_file, cadata=validation.certificate)
        if settings.cert_file is not None:
            key_file = None if settings.key_file is None else here / settings.key_file
            context.load_cert_chain(here / settings.cert_file, key_file)
    except OSError as error:
        trusted = None if validation.certificate is None else "trusted_ca"
        files = ", ".join(filter(None, (trusted, ca_file, settings.cert_file, settings.key_file)))
        raise SpecError(f"the certificates in {files} cannot be used: {error.strerror or error}") from None
    if not settings.verify or validation.trust_chain_verification == "accept_untrusted":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context

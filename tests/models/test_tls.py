from __future__ import annotations

import shutil
import ssl

import pytest

from assay.errors import SpecError
from assay.models.connect import connect
from assay.models.tls import tls_context
from assay.spec.model import TlsSettings

HTTPS = "https://host/v1"


@pytest.fixture
def bundle(certificate, tmp_path):
    shutil.copy(certificate / "cert.pem", tmp_path / "ca.pem")
    return "ca.pem"


def test_plain_http_and_the_usual_checks_need_nothing():
    assert tls_context("http://host", TlsSettings(verify=False), {}) is None
    assert tls_context(HTTPS, None, {}) is None


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_bundle_of_the_environment_is_used(tmp_path, bundle, variable):
    context = tls_context(HTTPS, None, {variable: str(tmp_path / bundle)})
    assert context.verify_mode == ssl.CERT_REQUIRED
    with pytest.raises(SpecError, match="missing.pem"):
        tls_context(HTTPS, None, {variable: str(tmp_path / "missing.pem")})


def test_a_bundle_of_the_file_is_found_beside_it(tmp_path, bundle):
    context = tls_context(HTTPS, TlsSettings(ca_file=bundle), {"SSL_CERT_FILE": "missing"}, folder=tmp_path)
    assert context.check_hostname


def test_checks_can_be_turned_off_by_the_file_only():
    context = tls_context(HTTPS, TlsSettings(verify=False), {})
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)


@pytest.mark.parametrize(
    "settings",
    [TlsSettings(ca_file="no.pem"), TlsSettings(cert_file="no.pem"), TlsSettings(cert_file="a", key_file="b")],
)
def test_a_certificate_that_cannot_be_used_is_told_before_any_call(tmp_path, settings):
    with pytest.raises(SpecError, match="cannot be used"):
        tls_context(HTTPS, settings, {}, folder=tmp_path)


def test_a_certificate_of_ones_own_may_be_shown(certificate):
    settings = TlsSettings(cert_file="cert.pem", key_file="key.pem")
    assert tls_context(HTTPS, settings, {}, folder=certificate).verify_mode == ssl.CERT_REQUIRED


def test_a_model_file_says_which_certificates_count(tmp_path, bundle):
    text = "key: m\ndisplay_name: M\nconfig: {url: 'https://host/v1', tls_context: {ca_file: %s}}\n"
    (tmp_path / "m.yaml").write_text(text % bundle)
    connect(tmp_path / "m.yaml", root=tmp_path, environment={})
    (tmp_path / "m.yaml").write_text(text % "missing.pem")
    with pytest.raises(SpecError, match="missing.pem"):
        connect(tmp_path / "m.yaml", root=tmp_path, environment={})

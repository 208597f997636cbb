"""What the tests of models share: connecting to the loopback server, and asking."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.models.connect import connect
from assay.types import Reply, Request, Sampling

KEY = "sk-canary-0123456789"


def said(text: str, **more: Any) -> Request:
    """A request with one user message."""
    return Request(messages=({"role": "user", "content": text},), **more)


@pytest.fixture
def question() -> Callable[..., Request]:
    return said


@pytest.fixture
def environment(loopback) -> dict[str, str]:
    """Keys and addresses of providers that all lead to the loopback server."""
    return {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": loopback.url,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": loopback.url,
        "MY_KEY": KEY,
    }


@pytest.fixture
def ask(environment, tmp_path) -> Callable[..., Reply]:
    """Connect to a model, ask one thing, close."""

    def asked(reference: Any, text: str = "hello", root: Path = tmp_path, **more: Any) -> Reply:
        async def go() -> Reply:
            connection = connect(reference, root=root, environment=environment)
            try:
                return await connection.client.ask(said(text, **more))
            finally:
                await connection.close()

        return asyncio.run(go())

    return asked


@pytest.fixture
def model_file(tmp_path, loopback) -> Callable[..., Path]:
    """Write a model file for the loopback server; `config` and `more` are YAML lines."""

    def written(config: str = "", more: str = "", path: str = "chat/completions", name: str = "model.yaml") -> Path:
        lines = "".join(f"  {line}\n" for line in config.splitlines())
        url = "" if "url:" in config else f"  url: {loopback.url}/{path}\n"
        text = f"key: mine\ndisplay_name: Mine\n{more}\nconfig:\n{url}{lines}"
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return written


@pytest.fixture
def sampling() -> type[Sampling]:
    return Sampling


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> Path:
    """A folder with `cert.pem`, signed by itself, and `key.pem`."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*made, *names], cwd=folder, check=True, capture_output=True)
    return folder

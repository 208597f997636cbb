from __future__ import annotations

import pytest

from assay.errors import SpecError
from assay.models.presets import PRESETS, address, api_key, headers, preset_named, provider_at
from assay.spec.model import is_address


@pytest.mark.parametrize("provider", PRESETS)
def test_every_provider_has_an_address_and_a_key_variable(provider):
    preset = PRESETS[provider]
    assert preset.keys
    url = address(provider, preset, "m", {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"})
    assert is_address(url)
    assert "//" not in url.removeprefix("https://").removeprefix("http://")


@pytest.mark.parametrize("provider", PRESETS)
def test_the_environment_may_name_another_address(provider):
    variable = f"{provider.upper()}_BASE_URL"
    ending = "/messages" if provider == "anthropic" else "/chat/completions"
    assert address(provider, PRESETS[provider], "m", {variable: "http://x/v1/"}) == f"http://x/v1{ending}"
    with pytest.raises(SpecError, match=variable):
        address(provider, PRESETS[provider], "m", {variable: "nowhere"})


def test_the_messages_address_may_be_given_without_its_version():
    url = address("anthropic", PRESETS["anthropic"], "m", {"ANTHROPIC_BASE_URL": "http://x"})
    assert url == "http://x/v1/messages"


@pytest.mark.parametrize(
    ("more", "url"),
    [
        ({}, "https://e.com/openai/v1/chat/completions"),
        (
            {"AZURE_OPENAI_API_VERSION": "2024-10-21"},
            "https://e.com/openai/deployments/my%20m/chat/completions?api-version=2024-10-21",
        ),
        (
            {"OPENAI_API_VERSION": "2024-06-01"},
            "https://e.com/openai/deployments/my%20m/chat/completions?api-version=2024-06-01",
        ),
    ],
)
def test_azure_is_reached_by_its_endpoint(more, url):
    assert address("azure", PRESETS["azure"], "my m", {"AZURE_OPENAI_ENDPOINT": "https://e.com/", **more}) == url


@pytest.mark.parametrize("endpoint", [{}, {"AZURE_OPENAI_ENDPOINT": "e.com"}])
def test_azure_without_an_endpoint_is_told(endpoint):
    with pytest.raises(SpecError, match="AZURE_OPENAI_ENDPOINT"):
        address("azure", PRESETS["azure"], "m", endpoint)


@pytest.mark.parametrize(
    ("provider", "sent"),
    [
        ("openai", {"Authorization": "Bearer k"}),
        ("azure", {"api-key": "k"}),
        ("anthropic", {"anthropic-version": "2023-06-01", "x-api-key": "k"}),
    ],
)
def test_each_provider_gets_the_key_its_own_way(provider, sent):
    assert headers(provider, PRESETS[provider], "k") == sent


def test_a_server_of_ones_own_needs_no_key_but_takes_one():
    assert api_key(PRESETS["vllm"], "vllm/m", {}) is None
    assert api_key(PRESETS["vllm"], "vllm/m", {"VLLM_API_KEY": "k"}) == "k"
    assert headers("vllm", PRESETS["vllm"], None) == {}
    assert headers("anthropic", PRESETS["anthropic"], None) == {"anthropic-version": "2023-06-01"}


def test_the_second_variable_is_taken_when_the_first_is_not_set():
    assert api_key(PRESETS["gemini"], "gemini/m", {"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "k"}) == "k"
    with pytest.raises(SpecError, match=r"GEMINI_API_KEY \(or GOOGLE_API_KEY\)"):
        api_key(PRESETS["gemini"], "gemini/m", {})


@pytest.mark.parametrize(
    ("written", "name"), [("together_ai", "together"), ("Mistralai", "mistral"), ("lm-studio", "lmstudio")]
)
def test_usual_other_spellings_are_understood(written, name):
    assert preset_named(written) == (name, PRESETS[name])


def test_an_unknown_provider_is_told_with_those_there_are():
    with pytest.raises(SpecError, match="known: openai, anthropic"):
        preset_named("qqq")


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai"),
        ("https://api.openai.com.evil.example/v1", None),
        ("http://localhost:11434/v1", None),
    ],
)
def test_a_providers_own_address_is_known(url, provider):
    assert provider_at(url) == provider

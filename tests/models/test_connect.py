from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import SpecError
from assay.models.connect import connect, model_key, model_of_key
from assay.models.presets import PRESETS
from assay.models.price import known_models

MODEL = """\
key: mine
display_name: Mine
config:
  url: http://127.0.0.1:9/v1/chat/completions
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.yaml").write_text(MODEL)
    (tmp_path / "replies.jsonl").write_text('{"reply": "A"}\n')
    return tmp_path


def said(reference, root, **environment) -> str:
    with pytest.raises(SpecError) as caught:
        connect(reference, root=root, environment=environment)
    return str(caught.value)


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("openai/gpt-4.1-nano", "openai/gpt-4.1-nano"),
        ("OpenAI/gpt-4.1-nano", "openai/gpt-4.1-nano"),
        ("openai$gpt-4-1-nano", "openai/gpt-4.1-nano"),
        ("openai$not-in-the-table", "openai/not-in-the-table"),
        ("google/gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("openrouter/meta-llama/llama-3.3", "openrouter/meta-llama/llama-3.3"),
        ("ollama/llama3", "ollama/llama3"),
        ("scripted/replies.jsonl", "scripted/replies.jsonl"),
        ("mine", "mine"),
        ("models/mine.yaml", "mine"),
        (Path("models/mine.yaml"), "mine"),
    ],
)
def test_a_reference_in_any_form_is_understood(project, reference, name):
    keys = {key: "x" for preset in PRESETS.values() for key in preset.keys}
    assert connect(reference, root=project, environment=keys).name == name


def test_a_file_is_looked_for_where_the_user_stands_first(project, monkeypatch):
    here = project / "here"
    here.mkdir()
    (here / "m.yaml").write_text(MODEL.replace("mine", "here"))
    (project / "m.yaml").write_text(MODEL.replace("mine", "root"))
    monkeypatch.chdir(here)
    assert connect("m.yaml", root=project, environment={}).name == "here"
    monkeypatch.chdir(project / "models")
    assert connect("m.yaml", root=project, environment={}).name == "root"


def test_a_callable_is_a_model(project):
    assert connect(len, root=project, environment={}).name == "builtins.len"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("opnai/gpt-4.1", ['unknown provider "opnai"', 'did you mean "openai/gpt-4.1"']),
        ("opnai$gpt-4-1", ['did you mean "openai/gpt-4-1"']),
        ("scriptd/x", ['did you mean "scripted/x"']),
        ("qqq/x", ["known: openai, anthropic", "scripted, local"]),
        ("openai/", ["names no model"]),
        ("min", ['no model has the key "min"', 'did you mean "mine"']),
        ("gpt-4.1-nano", ['did you mean "openai/gpt-4.1-nano"']),
        ("zzz", ['no model has the key "zzz"', "known: mine"]),
        ("nothing.yaml", ["there is no file nothing.yaml"]),
    ],
)
def test_a_name_that_leads_nowhere_is_told_with_the_nearest(project, reference, words):
    text = said(reference, project)
    for each in words:
        assert each in text


@pytest.mark.parametrize("provider", [name for name, preset in PRESETS.items() if preset.needs_key])
def test_a_missing_key_is_told_by_the_name_of_its_variable(project, provider):
    text = said(f"{provider}/m", project)
    assert f"set the environment variable {PRESETS[provider].keys[0]}" in text


def test_a_file_that_is_no_model_is_told(project):
    (project / "task.yaml").write_text("key: t\ndefinition: {}\n")
    assert "task.yaml:1:1: not a model" in said("task.yaml", project)


def test_two_files_with_one_key_are_told(project):
    (project / "again.yaml").write_text(MODEL)
    assert "more than one file" in said("mine", project)


@pytest.mark.parametrize(
    ("name", "key"),
    [("gpt-4.1-nano", "gpt-4-1-nano"), ("meta-llama/Llama-3.3 (70B)", "meta-llama-llama-3-3-70b"), ("O3", "o3")],
)
def test_the_key_of_a_model_is_its_name_in_small_letters_and_dashes(name, key):
    assert model_key(name) == key


@pytest.mark.parametrize("provider", PRESETS)
def test_every_known_model_is_found_by_its_key_again(provider):
    for name in known_models(provider):
        assert model_of_key(provider, model_key(name)) == name


def test_what_is_neither_a_name_nor_a_function_is_no_model(tmp_path):
    with pytest.raises(SpecError, match="such as openai/gpt-5-mini, or a function; got 3"):
        connect(3, root=tmp_path, environment={})

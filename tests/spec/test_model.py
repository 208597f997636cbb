from __future__ import annotations

import pytest

from assay.errors import SpecError
from assay.spec.model import find_adapter, find_model, is_address, load_model

URL = "url: http://host/v1"


def written(folder, config=URL, more="", key="mine"):
    lines = "".join(f"  {line}\n" for line in config.splitlines())
    path = folder / f"{key}.yaml"
    path.write_text(f"key: {key}\ndisplay_name: Mine\n{more}\nconfig:\n{lines}", encoding="utf-8")
    return path


def said(path, **environment) -> str:
    with pytest.raises(SpecError) as caught:
        load_model(path, environment=environment)
    return str(caught.value)


def test_a_small_model_file_is_a_custom_connection_for_chat(project):
    loaded = load_model(written(project), environment={})
    assert (loaded.file.task, loaded.config.connection_type) == ("chat_completion", "custom_connection")
    assert loaded.url == "http://host/v1"


@pytest.mark.parametrize(
    ("config", "more", "words"),
    [
        (URL, "rate_limt: 5", ['unknown field "rate_limt"', 'did you mean "rate_limit"', "mine.yaml:3:1"]),
        (URL, "rate_limit: 0", ["rate_limit: expected", "mine.yaml:3:13"]),
        (URL, "rate_limit: '5'", ["rate_limit: expected"]),
        (URL, "task: chat", ["task: expected"]),
        (URL, "sampling: {temprature: 1}", ['did you mean "temperature"']),
        (URL, "sampling: {temperature: -1}", ["temperature: expected"]),
        (URL, "prices: {input_per_million: 1}", ['missing field "output_per_million"']),
        (URL, "timeout: 0", ["timeout"]),
        ("model_key: m", "", ['missing field "url"']),
        ("url: host/v1", "", ["the whole address", "mine.yaml:5:8"]),
        (f"{URL}\nadaptor: {{key: x}}", "", ['did you mean "adapter"']),
        (f"{URL}\nadapter: x", "", ["adapter: expected"]),
        (f"{URL}\ncustom_headers: {{a: 1}}", "", ["expected text"]),
        (f"{URL}\ntls_context: {{verfy: false}}", "", ['did you mean "verify"']),
        ("connection_type: custom_conection", "", ['did you mean "custom_connection"', "mine.yaml:5:20"]),
        (
            "connection_type: qqq",
            "",
            ["known: custom_connection, provider_connection, custom_inference, placeholder"],
        ),
        ("connection_type: [a]", "", ["unknown connection type"]),
        ("connection_type: custom_inference", "", ['missing field "run_inference_snippet"']),
        (
            "connection_type: custom_inference\nrun_inference_snippet: 'def run(body): ...'",
            "",
            ["no function run_inference(body, environment, sample)"],
        ),
        ("connection_type: aws_bedrock", "", ["vendor's platform", "custom_connection", "custom_inference"]),
        ("connection_type: langsmith\nanything: 1", "", ["vendor's platform"]),
        ("connection_type: provider_connection", "", ['missing field "provider_id"', 'missing field "model_key"']),
        ("connection_type: placeholder\nurl: x", "", ['unknown field "url"']),
    ],
)
def test_what_is_wrong_is_told_with_its_place(project, config, more, words):
    text = said(written(project, config, more))
    for each in words:
        assert each in text


def test_all_that_is_wrong_comes_at_once(project):
    text = said(written(project, "url: x\nadaptor: 1", "rate_limit: 0\nsampling: {seed: a}"))
    for each in ("rate_limit", "adaptor", "seed"):
        assert each in text


def test_a_config_that_is_no_mapping_is_told(project):
    path = project / "m.yaml"
    path.write_text("key: m\ndisplay_name: M\nconfig: text\n")
    assert "config: expected" in said(path)


@pytest.mark.parametrize(
    ("config", "more", "words"),
    [
        (f"{URL}\napi_key: << secrets.tokn >>", "secrets: {token: a}", ['no secret "tokn"', 'did you mean "token"']),
        (
            "url: http://host/<< secrets.token >>",
            "secrets: {token: a}",
            ["only in api_key, custom_headers, environment and trusted_ca"],
        ),
        (f"{URL}\napi_key: $NOT_SET", "", ["environment variable NOT_SET is not set", "mine.yaml:6:12"]),
        (f"{URL}\napi_key: << secrets.token >>", "secrets: [a]", ["secrets: expected"]),
    ],
)
def test_secrets_that_cannot_be_had_are_told(project, config, more, words):
    text = said(written(project, config, more))
    for each in words:
        assert each in text


def test_values_of_variables_are_in_memory_and_not_in_words(project):
    config = f"{URL}\napi_key: $KEY\ncustom_headers: {{A: << secrets.s >>, B: plain, C: $KEY}}"
    loaded = load_model(written(project, config, "secrets: {s: '${OTHER}'}"), environment={"KEY": "k1", "OTHER": "o1"})
    assert loaded.config.api_key == "k1"
    assert loaded.config.custom_headers == {"A": "o1", "B": "plain", "C": "k1"}
    assert loaded.plain_headers == {"B": "plain"}
    assert loaded.secret_variables == ("OTHER", "KEY")
    for shown in (repr(loaded), repr(loaded.file), repr(loaded.config), str(loaded.config)):
        assert "k1" not in shown
        assert "o1" not in shown


def test_an_unset_variable_is_only_a_note_when_checking(project):
    loaded = load_model(written(project, "url: $WHERE\napi_key: $KEY"), strict=False, environment={})
    assert len(loaded.document.notes) == 2


def test_a_model_is_found_by_its_key(project):
    (project / "sub").mkdir()
    written(project / "sub", key="other")
    written(project)
    assert find_model("other", project, environment={}).file.key == "other"
    with pytest.raises(SpecError, match='did you mean "mine"'):
        find_model("mien", project, environment={})


def test_a_dataset_of_the_same_key_is_not_meant(project):
    (project / "d.yaml").write_text("key: mine\ndisplay_name: D\nsource: {type: local, file_path: x}\n")
    written(project)
    assert find_model("mine", project, environment={}).file.display_name == "Mine"


def test_an_adapter_is_found_by_its_key_and_checked(project):
    text = "key: a\ndisplay_name: A\nprocess_input: {source_code: x}\nprocess_output: {source_code: y}\n"
    (project / "a.yaml").write_text(text)
    found = find_adapter("a", project, environment={})
    assert (found.process_input.source_code, found.process_output.language) == ("x", "jinja")
    (project / "a.yaml").write_text(text.replace("source_code: y", "language: python"))
    with pytest.raises(SpecError) as caught:
        find_adapter("a", project, environment={})
    assert 'missing field "source_code"' in str(caught.value)
    assert "language: expected" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://host/v1", True),
        ("http://127.0.0.1:8/v1", True),
        ("http://[::1]:8/", True),
        ("host/v1", False),
        ("ftp://host", False),
        ("http://", False),
        ("http://host:port", False),
        ("http://[half", False),
        ("", False),
    ],
)
def test_an_address_is_told_from_other_text(url, good):
    assert is_address(url) is good

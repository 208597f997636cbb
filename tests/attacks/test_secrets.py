"""Environment variables in what models are told: noted, and refused where their names say that they are secrets."""

import json

import pytest

TASK = {
    "key": "t",
    "display_name": "T",
    "definition": {
        "dataset": {"source": {"type": "local", "file_path": "rows.csv"}},
        "solver": {
            "type": "single_turn_solver",
            "input_builder": {"type": "chat_completion", "input_messages": [{"role": "user", "content": "$VARIABLE"}]},
        },
        "scorers": [{"type": "string_equals", "ground_truth": "x"}],
    },
}
SECRET = "do-not-tell-anybody"


@pytest.fixture
def asked(project, loopback):
    """Run a task whose prompt is an environment variable; gives what was shown."""

    def ask(name, command="run", **fields):
        task = json.dumps({**TASK, **fields}).replace("$VARIABLE", f"${name}")
        project.write("t.yaml", task)
        project.write("rows.csv", "a\n1\n")
        model = {"key": "m", "display_name": "M", "config": {"url": "$MODEL_URL", "api_key": "$MODEL_API_KEY"}}
        project.write("m.yaml", json.dumps(model))
        options = ("--model", "m") if command == "run" else ()
        environment = {name: SECRET, "MODEL_URL": f"{loopback.url}/chat/completions", "MODEL_API_KEY": "k"}
        return project.assay(command, "t.yaml", *options, **environment)

    return ask


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "GITHUB_TOKEN", "client_secret", "DB_PASSWORD"])
def test_a_secret_in_a_prompt_is_refused(asked, loopback, name, command):
    shown = asked(name, command)
    assert shown.code == 2
    text = shown.out + shown.err
    assert "t.yaml:1:" in text
    assert f"the environment variable {name} looks like a secret" in text
    assert f"`env: [{name}]`" in text
    assert SECRET not in text
    assert loopback.requests() == []


@pytest.mark.parametrize("command", ["run", "check"])
def test_any_other_variable_in_a_prompt_is_noted(asked, loopback, command):
    shown = asked("TONE", command)
    assert shown.code == 0, shown.out + shown.err
    assert shown.err.count("the value of the environment variable TONE is used here") == 1
    assert "t.yaml:1:" in shown.err
    assert SECRET not in shown.out + shown.err
    assert len(loopback.requests()) == (command == "run")


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_declared_secret_is_used_without_a_word(asked, loopback, command):
    shown = asked("GITHUB_TOKEN", command, env=["GITHUB_TOKEN"])
    assert shown.code == 0, shown.out + shown.err
    assert "GITHUB_TOKEN" not in shown.out + shown.err
    if command == "run":
        assert SECRET in str(loopback.requests()[0]["body"])


def test_a_misspelled_declaration_names_the_nearest(asked):
    shown = asked("GITHUB_TOKEN", env=["GITHUB_TOKE"])
    assert shown.code == 2
    assert 'did you mean "GITHUB_TOKE"?' in shown.err


def test_variables_of_models_and_sources_need_no_declaration(project, loopback):
    task = json.dumps(TASK).replace("$VARIABLE", "Hello").replace("rows.csv", "$DATA_KEY_FILE")
    project.write("t.yaml", task)
    project.write("rows.csv", "a\n1\n")
    model = {"key": "m", "display_name": "M", "config": {"url": "$MODEL_URL", "api_key": "$MODEL_API_KEY"}}
    project.write("m.yaml", json.dumps(model))
    environment = {"MODEL_URL": f"{loopback.url}/chat/completions", "MODEL_API_KEY": "k", "DATA_KEY_FILE": "rows.csv"}
    shown = project.assay("run", "t.yaml", "--model", "m", **environment)
    assert shown.code == 0, shown.err
    assert "note:" not in shown.err


@pytest.mark.parametrize(("declared", "code"), [({}, 2), ({"env": ["MY_TOKEN"]}, 0)])
def test_tasks_of_a_run_file_are_no_way_around(project, declared, code):
    project.write("rows.csv", "a\n1\n")
    task = json.loads(json.dumps(TASK).replace("$VARIABLE", "${MY_TOKEN}"))
    project.write("run.yaml", json.dumps({**declared, "tasks": [task]}))
    shown = project.assay("check", "run.yaml", MY_TOKEN=SECRET)
    assert shown.code == code, shown.out + shown.err
    assert ("MY_TOKEN looks like a secret" in shown.out) == bool(code)


def test_prompts_of_generators_are_no_way_around(project):
    generator = {
        "key": "g",
        "display_name": "G",
        "definition": {"dataset": {"type": "empty"}, "synthesizers": [{"type": "template", "template": "$MY_TOKEN"}]},
    }
    project.write("g.yaml", json.dumps(generator))
    shown = project.assay("check", "g.yaml", MY_TOKEN=SECRET)
    assert shown.code == 2
    assert "MY_TOKEN looks like a secret" in shown.out

"""The page about operations lists every variable and exit code, and its examples start commands that exist."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from assay import errors
from assay.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
NAMES = re.compile(
    r"(?:ASSAY|RAY|OTEL)_[A-Z0-9_]+|[A-Z]+_CA_BUNDLE|SSL_CERT_FILE|XDG_[A-Z_]+|OPENBLAS_[A-Z_]+|NO_COLOR"
)


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]


def listed_variables():
    rows = re.findall(r"^\| (.*?) \|", section("Environment variables"), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([A-Z][A-Z0-9_]+)`", row)}


def variables_in_the_code():
    """Every variable by its name in a string of the code, and every name that `os.environ` is asked for."""
    names = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMES.fullmatch(node.value):
                names.add(node.value)
            names.update(_read_from_environ(node))
    return names


def _read_from_environ(node):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        owner, key = node.func.value, node.args[0]
    elif isinstance(node, ast.Subscript):
        owner, key = node.value, node.slice
    else:
        return set()
    is_environ = isinstance(owner, ast.Attribute) and owner.attr == "environ"
    return {key.value} if is_environ and isinstance(key, ast.Constant) else set()


def test_every_environment_variable_of_the_code_is_listed():
    names = variables_in_the_code()
    assert {"ASSAY_STORE", "ASSAY_LOCAL_THREADS", "RAY_ADDRESS", "COLUMNS", "XDG_CACHE_HOME"} <= names
    assert names - listed_variables() == set()


def test_every_variable_of_our_own_that_is_listed_is_read():
    ours = {name for name in listed_variables() if name.startswith("ASSAY_")}
    assert ours - variables_in_the_code() == set()


def test_every_exit_code_is_listed():
    codes = {kind.exit_code for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "exit_code")}
    assert {str(code) for code in codes | {0, 1}} == set(
        re.findall(r"^\| (\d+) \|", section("Exit codes"), re.MULTILINE)
    )


def started_commands():
    """Every `assay` command inside a unit, a job script, a container or a manifest."""
    job = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1])
    [container] = job["spec"]["template"]["spec"]["containers"]
    lines = [
        re.search(r"^ExecStart=\S*/(assay .*)$", PAGE, re.MULTILINE)[1],
        re.search(r"^srun (assay .*)$", PAGE, re.MULTILINE)[1],
        re.search(r"^docker run .*? (assay run .*)$", PAGE, re.MULTILINE)[1],
        container["args"][0].removeprefix("exec "),
    ]
    # what the shell would fill in
    return [re.sub(r'"\$\(\(.*?\)\)/4"|"\$SLURM\w+/\$SLURM\w+"', "1/4", line) for line in lines]


@pytest.mark.parametrize("line", started_commands())
def test_every_deployment_example_starts_a_command_that_is_understood(line):
    program, name, *words = shlex.split(line)
    assert program == "assay"
    command = cli.get_command(click.Context(cli), name)
    with click.Context(command, info_name=name) as context:
        command.parse_args(context, words)


def test_the_image_contains_only_what_the_dockerfile_copies():
    docker = (ROOT / "Dockerfile").read_text()
    copied = {word for line in re.findall(r"^COPY (.*) \S+$", docker, re.MULTILINE) for word in line.split()}
    sent = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert copied == set(sent)
    assert all((ROOT / name).exists() for name in copied)

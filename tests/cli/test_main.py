"""Finding commands, help that teaches, and exit codes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import click
import pytest

from assay.cli.main import COMMANDS, cli

GROUP = cli

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HEARTBEAT = re.compile(r"\r*\x1b\[2K(?:working, \d+ s\r*)?")


def test_the_help_lists_every_command_and_the_exit_codes(cli):
    said = cli("--help")
    assert said.code == 0
    for name, summary in COMMANDS.items():
        assert f"  {name} " in said.out
        assert summary[:40] in said.out
    assert "130" in said.out


def every_command():
    """The words that lead to each command, those of groups included."""
    for name in COMMANDS:
        yield name
        command = GROUP.get_command(click.Context(GROUP), name)
        if isinstance(command, click.Group):
            yield from (f"{name} {part}" for part in command.commands)


@pytest.mark.parametrize("name", list(every_command()))
def test_the_help_of_every_command_teaches(cli, name):
    said = cli(*name.split(), "--help")
    assert said.code == 0
    command = GROUP
    for part in name.split():
        command = command.get_command(click.Context(GROUP), part)
    examples = re.search(r"Examples?:\n((?: +assay .*\n?)+)", said.out)
    assert examples, "a help without an example"
    assert f"assay {name}" in examples[1]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts} says nothing"
            assert parameter.opts[0] in said.out


@pytest.mark.parametrize("name", list(every_command()))
def test_the_help_says_whether_json_is_one_document_or_lines(cli, name):
    said = " ".join(cli(*name.split(), "--help").out.split())
    if " --json " not in said.partition("Options:")[2]:
        return
    lines = name in ("runs", "samples")
    assert ("Print JSON Lines: one object per" in said) == lines
    assert ("Print one JSON document" in said) != lines


def test_every_module_of_the_room_that_has_a_command_is_listed():
    for name in COMMANDS:
        assert cli.get_command(click.Context(cli), name).name == name
    assert cli.get_command(click.Context(cli), "nothing") is None
    assert cli.list_commands(click.Context(cli)) == list(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rnu", "task.yaml"], 'no such command "rnu"; did you mean "run"?'),
        (["evaluate"], 'no such command "evaluate"'),
        (["run", "--modle", "x"], "--model"),
        (["--versoin"], "--version"),
        (["run"], "Missing argument 'FILE'"),
        (["run", "task.yaml", "--config", "novalue"], '"novalue" is not of the form key=value'),
        (["run", "task.yaml", "--max-cost", "cheap"], '"cheap" is not an amount of US dollars'),
        (["run", "task.yaml", "--max-cost", "-1"], '"-1" is not an amount of US dollars'),
        (["run", "task.yaml", "--limit", "0"], "--limit"),
        (["run", "task.yaml", "--max-failures", "7"], "--max-failures"),
    ],
)
def test_a_wrong_word_on_the_command_line_is_exit_code_2_with_a_hint(cli, arguments, words):
    said = cli(*arguments)
    assert said.code == 2
    assert words in said.err
    assert said.out == ""


def test_no_arguments_show_the_help(cli):
    said = cli()
    assert "Commands:" in said.out + said.err
    assert said.code == 2


def test_the_version(cli):
    from assay import __version__

    assert cli("--version").out == f"assay {__version__}\n"


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "stopped"),
        (click.exceptions.Abort(), 130, ""),
        (click.exceptions.Exit(5), 5, ""),
    ],
)
def test_being_stopped_is_exit_code_130(cli, monkeypatch, raised, code, words):
    from assay.cli import main

    def stop(*arguments, **extra):
        raise raised

    monkeypatch.setattr(main.cli, "main", stop)
    said = cli("runs")
    assert (said.code, said.err.strip()) == (code, words)


def test_an_error_shows_no_control_characters_of_foreign_text(cli, project):
    project.write("task.yaml", 'key: "\\e[31mred"\n')
    said = cli("run", "task.yaml")
    assert said.code == 2
    assert "\x1b" not in said.err


@pytest.mark.parametrize(
    "arguments",
    [["samples", "--json"], ["samples", "--limit", "4000"], ["runs"], ["show", "--json"], ["show"], ["--help"]],
    ids=" ".join,
)
def test_a_reader_that_leaves_early_is_no_error(recorded, arguments):
    rows = [{"answer": "yes", "output": "yes", "text": "long " * 100}] * 1_000
    recorded.write("data.jsonl", rows)
    assert recorded.assay("run", "task.yaml").code == 0
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        cwd=recorded.folder,
        env=recorded.environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(writing)
    assert (process.returncode, process.stderr) == (0, b"")


def on_terminal(project, *arguments, **extra):
    """What a command writes when its output is a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", *arguments],
        cwd=project.folder,
        env={**project.environment(TERM="xterm-256color"), **extra},
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    written = b""
    try:
        while chunk := os.read(master, 65_536):
            written += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    process.wait(timeout=60)
    os.close(master)
    return written.decode()


def test_colours_only_on_a_terminal_and_never_with_no_color(recorded):
    recorded.assay("run", "task.yaml")
    assert "\x1b" not in recorded.assay("samples").out
    # on a busy machine the command also shows for how long it has been at work
    coloured = HEARTBEAT.sub("", on_terminal(recorded, "samples"))
    assert "\x1b[36m" in coloured
    plain = HEARTBEAT.sub("", on_terminal(recorded, "samples", NO_COLOR="1"))
    styles = {code for found in COLOUR.findall(plain) for code in found[2:-1].split(";")}
    assert styles <= {"0", "1", "2", "3", ""}, "bold, dim and italic are not colours"
    assert COLOUR.sub("", plain) == COLOUR.sub("", coloured)


def test_sigterm_stops_as_ctrl_c_does(cli, recorded, monkeypatch):
    import signal

    from assay.api import run

    def interrupted(*arguments, **options):
        signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(run, "run_file", interrupted)
    said = cli("run", "task.yaml")
    assert said.code == 130
    assert signal.getsignal(signal.SIGTERM) is before

"""What the documentation shows is true: examples load and run, commands and links exist, lists are complete."""

from __future__ import annotations

import doctest
import importlib
import json
import logging
import pkgutil
import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest
import yaml

import assay
from assay.api.run import run_file
from assay.builtin import registry
from assay.cli.main import COMMANDS, cli
from assay.prepare.plan import Options
from assay.spec import load_task

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = {"scorers.md", "solvers.md", "datasets.md", "models.md", "generators.md", "evaluations.md", "extending.md"}
ELSEWHERE |= {"operations.md"}
"""Pages whose examples are loaded elsewhere: by the tests of their package, run files below, and test_operations.py."""
ROWS = [
    {"question": "Is ice cold?", "answer": "yes", "output": "yes", "reply": "yes"},
    {"question": "Is fire cold?", "answer": "no", "output": "yes", "reply": "yes"},
]


def blocks(language, pages=PAGES):
    """Every fenced block in a language, with the page and the line on which it begins."""
    for page in pages:
        fence, start, lines = None, 0, []
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.startswith("```"):
                lines.append(line)
            elif fence is None:
                fence, start, lines = line.removeprefix("```"), number, []
            else:
                if fence == language:
                    yield pytest.param(page, "\n".join(lines) + "\n", id=f"{page.name}:{start}")
                fence = None


def is_task(text):
    return "definition" in (yaml.safe_load(text.replace("<<", "").replace(">>", "")) or {})


def yaml_examples(*, tasks):
    pages = [page for page in PAGES if page.name not in ELSEWHERE]
    return [entry for entry in blocks("yaml", pages) if is_task(entry.values[1]) is tasks]


TASKS = yaml_examples(tasks=True)
PARTS = yaml_examples(tasks=False)


def test_there_are_examples():
    assert len(TASKS) >= 2
    assert len(PARTS) >= 15


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project with every data file that an example may name, and the dataset file of the task reference."""
    (tmp_path / ".assay").mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    for name in ("answers.jsonl", "data.jsonl", "questions.jsonl"):
        (tmp_path / name).write_text(lines)
    table = [list(ROWS[0]), *(list(row.values()) for row in ROWS)]
    (tmp_path / "capitals.csv").write_text("".join(",".join(row) + "\n" for row in table))
    datasets = [text for entry in PARTS for text in [entry.values[1]] if "source:" in text and "key:" in text]
    for number, text in enumerate(datasets):
        (tmp_path / f"dataset{number}.yaml").write_text(text)
    (tmp_path / "replies.jsonl").write_text('{"reply": "yes"}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("page", "text"), TASKS)
def test_every_task_in_the_docs_loads_and_runs(folder, page, text):
    (folder / "task.yaml").write_text(text)
    loaded = load_task(folder / "task.yaml", registry(), strict=True)
    assert loaded.problems == ()
    asks = loaded.solver is not None and loaded.solver.kind.asks_model
    options = Options(model="scripted/replies.jsonl" if asks else None, allow_code=page.name == "user-code.md")
    report, _ = run_file(folder / "task.yaml", options)
    assert (report.n_samples, report.n_failed) == (0 if loaded.evidence is not None else 2, 0)
    assert report.scorers[0].metrics[0].result.values


@pytest.mark.parametrize(("page", "text"), PARTS)
def test_every_part_of_a_task_in_the_docs_is_valid(page, text):
    part = yaml.safe_load(text)
    if "source" in part:
        settings = registry().sources[part["source"]["type"]].settings
        settings.model_validate(part["source"])
        return
    known = registry()
    every = (known.metrics, known.scorers, known.solvers, known.sources)
    # code is called "python" wherever it may stand
    shelves = (known.metrics,) if page.name == "metrics.md" else every
    found = [shelf[part["type"]] for shelf in shelves if part.get("type") in shelf]
    assert len(found) == 1, f"{part.get('type')} is no metric, scorer, solver or source"
    found[0].settings.model_validate(part)


RUN_FILES = list(blocks("yaml", [ROOT / "docs" / name for name in ("evaluations.md", "generators.md")]))


@pytest.mark.parametrize(("page", "text"), [e for e in RUN_FILES if "evaluation:" in e.values[1]])
def test_every_run_file_in_the_docs_runs(folder, page, text):
    (folder / "run.yaml").write_text(text)
    report = assay.run_evaluation("run.yaml", config={})
    assert report.specifications
    for each in report.specifications:
        assert each.error is None
        assert each.report.n_samples >= 2


def test_the_page_of_generators_shows_every_synthesizer_and_every_field():
    text = (ROOT / "docs" / "generators.md").read_text()
    known = registry().synthesizers
    parts = [yaml.safe_load(e.values[1]) for e in RUN_FILES if e.values[1].startswith("type:")]
    assert {part["type"] for part in parts} == set(known)
    for part in parts:
        known[part["type"]].settings.model_validate(part)
    for kind in known.values():
        for name in kind.settings.model_fields:
            assert f"`{name}`" in text or name == "type", (kind.name, name)


def test_the_page_of_metrics_shows_every_metric_and_every_field():
    text = (ROOT / "docs" / "metrics.md").read_text()
    examples = {yaml.safe_load(e.values[1])["type"] for e in PARTS if e.values[0].name == "metrics.md"}
    assert examples == set(registry().metrics)
    for kind in registry().metrics.values():
        for name, field in kind.settings.model_fields.items():
            assert f"`{field.alias or name}`" in text or name == "type", (kind.name, name)


def commands():
    """Every `assay ...` line of the console blocks."""
    for entry in [*blocks("console"), *blocks(""), *blocks("sh")]:
        page, text = entry.values
        for line in text.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:1] == ["assay"]:
                yield pytest.param(words[1:], id=f"{page.name}: {' '.join(words)}")


@pytest.mark.parametrize("words", list(commands()))
def test_every_command_in_the_docs_is_understood(words):
    if words == ["--help"]:
        return
    assert words[0] in COMMANDS
    command = cli.get_command(click.Context(cli), words[0])
    with click.Context(command, info_name=words[0]) as context:
        command.parse_args(context, list(words[1:]))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_named_in_passing_exists(page):
    for name in re.findall(r"`assay ([a-z]+)", page.read_text(encoding="utf-8")):
        assert name in COMMANDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.is_file(), f"{page.name} links to {target}"
        if anchor:
            titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in slugs, f"{page.name} links to {target}"


def test_the_readme_leads_to_every_page():
    text = (ROOT / "README.md").read_text()
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"(docs/{page.name})" not in text] == []


def test_the_readme_can_be_followed_line_by_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = [ROOT / "README.md"]
    files = {}
    for entry in blocks("yaml", readme):
        name, _, task = entry.values[1].partition("\n")
        files[name.removeprefix("# ")] = task
        (tmp_path / name.removeprefix("# ")).write_text(task)
    lines = [line for entry in blocks("console", readme) for line in entry.values[1].splitlines()]
    for line in lines:
        if line.startswith("$ echo"):
            subprocess.run(["sh", "-c", line.removeprefix("$ ")], check=True)
    (tmp_path / "replies.jsonl").write_text('{"reply": "yes"}\n')
    run = [shlex.split(line)[3:] for line in lines if line.startswith("$ assay run ")]
    assert [words[0] for words in run] == ["task.yaml", *files], "the starter of `assay init`, then our own"
    for name, *options in run[1:]:
        asks = "single_turn_solver" in files[name]
        assert ("--model" in options) == asks
        report, _ = run_file(tmp_path / name, Options(model="scripted/replies.jsonl" if asks else None))
        assert (report.n_samples, report.n_failed) == (2, 0)


@pytest.mark.parametrize(("page", "text"), list(blocks("python")))
def test_every_python_example_runs(folder, page, text, capsys):
    task = next(entry.values[1] for entry in TASKS if entry.values[0].name == "README.md")
    (folder / "task.yaml").write_text(task)
    runs = [entry.values[1] for entry in RUN_FILES if entry.values[0] == page and "evaluation:" in entry.values[1]]
    for run in runs:
        (folder / "run.yaml").write_text(run)
    logger = logging.getLogger("assay")
    level, handlers = logger.level, list(logger.handlers)
    try:
        exec(compile(text, f"{page.name}", "exec"), {})
    finally:
        logger.setLevel(level)
        logger.handlers[:] = handlers


def command_line():
    return (ROOT / "docs" / "command-line.md").read_text()


def section(title):
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", command_line(), re.DOTALL | re.MULTILINE)
    assert found, title
    return found[1]


def test_the_page_of_the_command_line_lists_exactly_the_commands():
    listed = re.findall(r"^\| `assay ([a-z]+)", command_line(), re.MULTILINE)
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_the_command_line_lists_every_option_of_a_command(name):
    command = cli.get_command(click.Context(cli), name)
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    options = {option for part in parts for p in part.params if isinstance(p, click.Option) for option in p.opts}
    if f"## `assay {name}`" in command_line():
        said = " ".join(re.findall(r"^\| (`-.*?) \|", section(f"`assay {name}`"), re.MULTILINE))
    else:
        said = next(line for line in section("Other commands").splitlines() if line.startswith(f"| `{name}` |"))
    assert set(re.findall(r"`(-[-\w]+)", said)) == options


@pytest.mark.parametrize("page", ["command-line.md", "errors.md"])
def test_exit_codes_are_listed(page):
    text = (ROOT / "docs" / page).read_text()
    assert re.findall(r"^\| (\d+) \|", text, re.MULTILINE) == ["0", "1", "2", "3", "130"]


def modules():
    names = [info.name for info in pkgutil.walk_packages(assay.__path__, "assay.") if "__main__" not in info.name]
    return ["assay", *(name for name in names if ".migrations" not in name)]


@pytest.mark.parametrize("name", modules())
def test_the_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_every_dependency_is_accounted_for():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [entry for entries in project["optional-dependencies"].values() for entry in entries]
    wanted = {re.match(r"[\w.-]+", entry)[0].lower() for entry in [*project["dependencies"], *extras]}
    table = (ROOT / "docs" / "dependencies.md").read_text()
    listed = {name.lower() for name in re.findall(r"^\| ([\w.-]+)(?: \(`.*?`\))? \|", table, re.MULTILINE)}
    assert listed - {"package"} == wanted

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from assay.cli import demo
from assay.models.local import PULLABLE


@pytest.fixture
def no_model(monkeypatch, tmp_path):
    """A machine on which no model was pulled."""
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def test_the_demo_runs_without_key_network_or_model_and_says_what_numbers_mean(cli, no_model):
    said = cli("demo")
    assert said.code == 0
    for step in demo.RECORDED:
        assert f"$ {step.command}" in said.out
        assert step.meaning.split("\n")[0] in said.out
    assert "95 % interval" in said.out
    assert "Skipped the live model" in said.out
    assert "What to try next" in said.out
    report = next(Path(line.strip()) for line in said.out.splitlines() if line.endswith("report.html"))
    assert "B is worse than A by" in report.read_text(encoding="utf-8")
    report.unlink()
    report.parent.rmdir()
    assert all(len(line) <= 80 for line in said.out.splitlines())
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```text\n")[1].split("```")[0].splitlines()
    # the id of a run differs every time
    assert {line for line in shown if not line.startswith("run ")} <= set(said.out.splitlines())


def test_a_demo_that_is_kept_can_be_run_again_command_by_command(cli, project, no_model, monkeypatch):
    said = cli("demo", "--folder", "kept")
    assert "The project is in kept" in said.out
    again = cli("demo", "--folder", "kept")
    assert again.code == 2
    assert "nothing was written" in again.err
    monkeypatch.chdir(project.folder / "kept")
    for step in demo.RECORDED:
        result = cli(*step.command.split()[1:], "--json")
        assert result.code == 0
        assert result.json["n_cached"] == result.json["n_samples"]


@pytest.mark.parametrize(("extra", "words"), [(None, "pip install 'assay[local]'"), (object(), "assay pull smollm2")])
def test_what_the_live_part_lacks_is_named_with_the_command(monkeypatch, no_model, extra, words):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: extra)
    assert words in demo._why_no_local_model()


def test_with_extra_and_model_nothing_is_in_the_way(monkeypatch, no_model):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    no_model.mkdir()
    (no_model / PULLABLE["smollm2"].file).touch()
    assert demo._why_no_local_model() == ""


def test_the_live_part_asks_20_of_the_questions(cli, project, monkeypatch):
    project.write("replies.jsonl", [{"reply": "B"}])
    live = demo.Step(file="ask.yaml", model="scripted/replies.jsonl", limit=demo.ASKED, meaning="It was asked.")
    monkeypatch.setattr(demo, "ASKED_NOW", live)
    monkeypatch.setattr(demo, "_why_no_local_model", lambda: "")
    from assay.cli import projects

    copied = projects.copy_project

    def with_replies(name, folder):
        names = copied(name, folder)
        (folder / "replies.jsonl").write_text((project.folder / "replies.jsonl").read_text())
        return names

    monkeypatch.setattr(projects, "copy_project", with_replies)
    said = cli("demo")
    assert said.code == 0
    assert "$ assay run ask.yaml --model scripted/replies.jsonl --limit 20" in said.out
    assert "20 samples" in said.out
    assert "It was asked." in said.out

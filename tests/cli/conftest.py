"""The command line in this process, as `assay ...` in the project folder."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Said:
    """What a user sees of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def cli(project, monkeypatch, capfd):
    """Run `assay ...` here and now; the second half of what a process would show is its exit code."""
    from assay.cli.main import main

    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("ASSAY_STORE", raising=False)

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        sys.stdout.flush()
        said = capfd.readouterr()
        return Said(left.value.code or 0, said.out, said.err)

    return run


TASK = """
key: yes-no
display_name: Yes or no
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics: [{type: mean, field: is_correct, name: Accuracy}]
"""


@pytest.fixture
def recorded(project):
    """A project with recorded answers: two right, one wrong, one missing."""
    project.write("task.yaml", TASK)
    rows = [
        {"sample_id": "first", "question": "Is ice cold?", "answer": "yes", "output": "yes"},
        {"sample_id": "second", "question": "Is fire cold?", "answer": "no", "output": "yes"},
        {"sample_id": "third", "question": "Is snow cold?", "answer": "yes", "output": "yes"},
        {"sample_id": "fourth", "question": "Is steam cold?", "answer": "no"},
    ]
    project.write("data.jsonl", rows)
    return project

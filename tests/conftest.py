"""What all tests share: running the command line as a user does, in a project folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Outcome:
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


class Project:
    """A folder with `.assay/` in it, and the `assay` command run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".assay").mkdir(parents=True, exist_ok=True)

    def write(self, name: str, text: str | list[dict]) -> Path:
        """Write a file; a list of objects becomes JSONL."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(text, str):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in text)
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_") and k != "COLUMNS"}
        return {**kept, "COLUMNS": "80", **extra}

    def start(self, *arguments: str, **extra: str) -> subprocess.Popen:
        """Begin `assay ...` in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "assay", *arguments],
            cwd=self.folder,
            env=self.environment(**extra),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def assay(self, *arguments: str, **extra: str) -> Outcome:
        """Run `assay ...` to its end, as a process of its own."""
        process = self.start(*arguments, **extra)
        out, err = process.communicate(timeout=300)
        assert "Traceback" not in err, err
        return Outcome(process.returncode, out, err)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "project")


@pytest.fixture(scope="session")
def real_data():
    folder = os.environ.get("ASSAY_REAL_DATA")
    if not folder:
        pytest.skip("ASSAY_REAL_DATA is not set")
    return Path(folder)

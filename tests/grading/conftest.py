from __future__ import annotations

import json
import re
import threading

import pytest

from assay.rubric import CriterionGrader, JudgeSpec, LLMConfig, Rubric

ISSUE_YAML = """
- {name: satisfaction, requirement: "How satisfied would you be with this response?", weight: 10.0, scale_type: ordinal,
   options: [{label: "1", value: 0.0}, {label: "2", value: 0.33}, {label: "3", value: 0.67}, {label: "4", value: 1.0}]}
- {name: efficiency, requirement: "Is the number of exchange turns appropriate?", weight: 5.0, scale_type: nominal,
   options: [{label: "Too few interactions", value: 0.0}, {label: "Too many interactions", value: 0.0},
             {label: "Just right", value: 1.0}]}
- {name: references, requirement: "Are the claims backed by the references?",
   options: [{label: "None", value: 0.0}, {label: "All claims", value: 1.0},
             {label: "NA - No references provided", na: true}]}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Every test has a project folder, and so a store, of its own."""
    (tmp_path / ".assay").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def three_scales():
    """The three criteria that the format's own example shows."""
    return Rubric.from_yaml(ISSUE_YAML)


class Judge:
    """A judge that answers what a function says of the question, and counts how often it is asked."""

    def __init__(self, answer):
        self._answer = answer
        self._lock = threading.Lock()
        self.questions = []

    def __call__(self, messages, **parameters):
        text = messages[-1]["content"]
        with self._lock:
            self.questions.append(text)
        said = self._answer(text)
        if isinstance(said, Exception):
            raise said
        return said

    # what a callable depends on decides the keys of its replies: all judges of these tests are one model
    __qualname__ = "Judge"
    __assay_version__ = "1"


def status(word):
    return json.dumps({"explanation": f"because {word}", "criterion_status": word})


def pick(text, label):
    found = re.search(rf"^([A-Z]+)\) {re.escape(label)}$", text, re.MULTILINE)
    return json.dumps({"explanation": "e", "selected_option": found[1]})


@pytest.fixture
def judge():
    """A judge from a function of the question's text, or from a verdict."""
    return lambda answer: Judge(answer if callable(answer) else lambda text: status(answer))


@pytest.fixture
def choose():
    """The answer that picks a label."""
    return pick


@pytest.fixture
def panel():
    """A grader from judges by name."""

    def make(**judges):
        rules = {name: judges.pop(name) for name in list(judges) if not callable(judges[name])}
        specs = [JudgeSpec(LLMConfig(judge), name) for name, judge in judges.items()]
        return CriterionGrader(judges=specs, seed=rules.pop("seed", 42), **rules)

    return make

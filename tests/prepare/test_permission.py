"""Who may run code, and what is said when nobody may."""

from __future__ import annotations

import pytest

from assay.builtin import registry
from assay.errors import SpecError
from assay.prepare.permission import CodeOptions, code_in, code_problems, require_permission, with_sandbox
from assay.sandbox import linux
from assay.spec import load_task

TASK = """
key: t
display_name: t
definition:
  dataset: {source: {type: inline_samples, samples: [{x: 1}]}}
  scorers:
    - type: python
      compute_scores_snippet: "def compute_scores(sample): return {'x': 1}"
      metrics: [{type: python, compute_metrics_snippet: "def compute_metrics(scores): return {'y': 2}"}]
    - {type: string_equals, ground_truth: a, value: a}
"""


@pytest.fixture
def loaded(project):
    def load(text: str = TASK):
        return load_task(project.write("task.yaml", text), registry(plugins=False), strict=True)

    return load


def test_every_snippet_is_found_with_its_place(loaded):
    found = [(code.place.line, code.function) for code in code_in(loaded())]
    assert found == [(8, "compute_scores"), (9, "compute_metrics")]


def test_without_permission_the_places_are_listed(loaded):
    with pytest.raises(SpecError) as refused:
        require_permission(loaded(), CodeOptions())
    assert "task.yaml:8:31: compute_scores\n" in str(refused.value)


def test_where_code_cannot_be_confined_only_trust_lets_it_run(loaded, monkeypatch):
    monkeypatch.setattr(linux, "unsupported", lambda: "no Landlock here")
    task = loaded()
    with pytest.raises(SpecError, match=r"cannot confine code: no Landlock here\. --trust-code runs it"):
        require_permission(task, CodeOptions(allow_code=True))
    require_permission(task, CodeOptions(trust_code=True))


def test_a_task_without_code_needs_neither_permission_nor_a_sandbox(loaded):
    plain = loaded(TASK[: TASK.index("    - type: python")] + TASK[TASK.index("    - {type: string") :])
    assert not code_in(plain)
    require_permission(plain, CodeOptions())
    with with_sandbox(plain, CodeOptions()) as ready:
        assert ready is plain


def test_kinds_that_are_code_are_bound_to_the_sandbox_and_others_are_not(loaded):
    task = loaded()
    with with_sandbox(task, CodeOptions(trust_code=True)) as ready:
        code, plain = ready.scorers
        assert code.kind.score.sandbox is code.metrics[0].kind.compute.sandbox is not None
        assert plain.kind is task.scorers[1].kind


def test_a_problem_in_text_on_one_line_is_at_its_beginning(loaded):
    text = TASK.replace("return {'x': 1}", "return {").replace("def compute_metrics", "def compute_metric")
    first, second = code_problems(loaded(text))
    assert (first.place.line, first.place.column) == (8, 31)
    assert first.message.startswith("not Python: '{' was never closed")
    assert second.suggestion == "compute_metrics"

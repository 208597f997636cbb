"""Tasks that programs build."""

from __future__ import annotations

import pytest

from assay.builtin import registry
from assay.datasets.open import first_rows
from assay.prepare.plan import Options, prepare_loaded
from assay.scorers.exact import KIND
from assay.spec.in_memory import task_in_memory

SETTINGS = {"type": "string_equals", "value": "{{ sample.reply }}", "ground_truth": "{{ sample.truth }}"}
SAMPLES = [{"sample_id": "a", "reply": "yes", "truth": "yes"}, {"sample_id": "b", "reply": "no", "truth": "yes"}]


def _task(folder, **changes):
    settings = {**SETTINGS, **changes}
    scorer = KIND.settings.model_validate(settings)
    return task_in_memory("any name: at all", SAMPLES, scorer, settings, registry(), root=folder)


def test_a_task_in_memory_describes_itself(tmp_path):
    task = _task(tmp_path)
    assert task.task.key == "any name: at all"
    assert first_rows(task.dataset.kind, task.dataset.settings, task.dataset.folder) == SAMPLES
    (scorer,) = task.scorers
    assert (scorer.key, scorer.kind.name, [metric.key for metric in scorer.metrics]) == (
        "string_equals",
        "string_equals",
        ["mean"],
    )
    (stored,) = task.resolved["definition"]["scorers"]
    assert {name: stored[name] for name in SETTINGS} == SETTINGS
    assert stored["metrics"] == scorer.settings.default_metrics()


def test_a_task_in_memory_is_prepared_like_one_from_a_file(tmp_path):
    plan = prepare_loaded(_task(tmp_path), registry(), Options(kind="grade"))
    assert plan.spec.kind == "grade"
    assert plan.spec.scorers[0].type == "string_equals"
    again = prepare_loaded(_task(tmp_path), registry(), Options(kind="grade"))
    other = prepare_loaded(_task(tmp_path, ground_truth="no"), registry(), Options(kind="grade"))
    assert plan.identity == again.identity != other.identity


@pytest.mark.parametrize("kind", ["run", "grade", "audit"])
def test_the_spec_of_a_plan_says_what_the_run_is_for(tmp_path, kind):
    assert prepare_loaded(_task(tmp_path), registry(), Options(kind=kind)).spec.kind == kind

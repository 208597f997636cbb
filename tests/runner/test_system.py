"""Evidence gathered by code: what counts as such, and what makes the run fail."""

from __future__ import annotations

import pytest

from assay.api.run import run_file
from assay.errors import RunError, SpecError
from assay.prepare.plan import Options
from assay.sandbox.linux import unsupported
from assay.store import runs
from assay.store.store import open_store

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")


@pytest.fixture
def gathered(project):
    """Run a system task whose function has this body."""

    def run(body: str, **options):
        task = "key: s\ndisplay_name: S\ndefinition:\n  type: system_task\n  compute_evidence_snippet: |\n"
        path = project.write("task.yaml", f"{task}    def compute_evidence():\n        {body}\n")
        return run_file(path, Options(**{"allow_code": True, **options}))[0]

    return run


@pytest.mark.parametrize(
    ("given", "value", "reason"),
    [
        ("{'value': 1}", 1.0, None),
        ("{'value': 0.5, 'reason': 'half'}", 0.5, "half"),
        ("True", 1.0, None),
        ("3", 3.0, None),
        ("{'value': None, 'reason': 'not measured'}", None, "not measured"),
        ("{'value': float('nan')}", None, "the code returned a number (nan)"),
        ("'high'", None, 'the code returned text ("high")'),
        ("{}", None, "the code returned nothing"),
    ],
)
def test_a_value_is_a_number_with_its_reason_or_undefined(gathered, given, value, reason):
    report = gathered(f"return {{'metrics': {{'m': {given}}}}}")
    (found,) = report.scorers[0].metrics[0].result.values.values()
    assert (found.value, found.reason) == (value, reason)
    assert (found.interval is None) == (value is None)
    assert (report.n_samples, report.status) == (0, "completed")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('no')", "no evidence: ValueError: no"),
        ("return {'value': 1}", "no evidence: compute_evidence gave a mapping, not"),
        ("return {'metrics': {}}", "with a metric in it"),
        ("return None", "compute_evidence gave nothing"),
        ("return open('/etc/passwd').read()", "PermissionError"),
    ],
)
def test_without_evidence_the_run_has_failed(gathered, project, body, words):
    with pytest.raises(RunError) as failed:
        gathered(body)
    assert words in str(failed.value)
    store = open_store(str(project.folder / ".assay" / "assay.db"))
    assert runs.find(store, "latest").status == "failed"
    store.close()


def test_evidence_is_gathered_anew_in_every_run(gathered):
    body = "import time; return {'metrics': {'now': time.time_ns() % 10**15}}"
    first, second = (gathered(body).scorers[0].metrics[0].result.values["now"].value for _ in range(2))
    assert first != second


def test_a_system_task_has_neither_samples_nor_a_model(gathered, project):
    with pytest.raises(SpecError, match="a system task has no samples"):
        gathered("return 1", dataset=project.write("data.jsonl", [{"x": 1}]))
    with pytest.raises(SpecError, match="asks no model"):
        gathered("return 1", model="openai/x")

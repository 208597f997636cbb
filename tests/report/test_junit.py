"""JUnit XML is well formed whatever a model or a task is called."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from assay.report.junit import junit
from assay.results.gate import Check, Gate
from assay.results.run import RunReport
from assay.types import MetricValue


def report(task, model):
    return RunReport(
        run="r",
        status="completed",
        task=task,
        model=model,
        n_samples=1,
        n_failed=0,
        n_cached=0,
        scorers=(),
        failures={},
    )


@given(st.text(), st.text(), st.booleans())
def test_foreign_text_never_breaks_the_document(task, rule, passed):
    check = Check(rule=rule, address="a", passed=passed, reason=rule, value=MetricValue(value=None, n=0))
    root = ElementTree.fromstring(junit(Gate(report=report(task, rule), checks=(check,))))
    assert len(list(root.iter("testcase"))) == 1
    assert len(list(root.iter("failure"))) == (not passed)

"""Markdown of a gate: foreign text stays text, long lists are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.report.markdown import NUMBERS_SHOWN, gate_markdown, plain
from assay.results.gate import Check, Gate
from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.types import Interval, MetricResult, MetricValue


@given(st.text())
def test_foreign_text_stays_on_its_line_and_opens_no_markup(text):
    made = plain(text)
    assert "\n" not in made
    assert "<" not in made
    for mark in "|`*_[":
        assert made.count(mark) == made.count(f"\\{mark}")


def test_more_numbers_than_a_reader_wants_are_cut():
    bounds = Interval(low=0.4, high=0.6, method="wilson", caveat="few clusters")
    values = {f"v{i}": MetricValue(value=0.5, n=9, interval=bounds) for i in range(NUMBERS_SHOWN + 3)}
    metric = MetricReport(key="m", type="mean", result=MetricResult(values=values))
    scorer = ScorerReport(key="s", type="s", purpose="score", n_scored=9, n_failed=1, n_excluded=0, metrics=(metric,))
    report = RunReport(
        run="r",
        status="completed",
        task="t",
        model="m",
        n_samples=9,
        n_failed=1,
        n_cached=0,
        scorers=(scorer,),
        failures={},
    )
    check = Check(rule="v1 > 0", address="s/m/v1", passed=True, reason="0.5 is > 0", value=values["v1"])
    text = gate_markdown(Gate(report=report, checks=(check,), baseline="b"))
    assert "3 more numbers: `assay show r`" in text
    assert "against run `b`: 9 samples, 1 with failures." in text
    assert "0.400 to 0.600 (few clusters)" in text
    bare = RunReport(
        run="r", status="completed", task="t", model=None, n_samples=1, n_failed=0, n_cached=0, scorers=(), failures={}
    )
    assert "| number |" not in gate_markdown(Gate(report=bare, checks=()))

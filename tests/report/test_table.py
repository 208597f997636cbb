"""The table of a run fits its terminal and says what a reader must know."""

import io

import pytest
from rich.console import Console

from assay.report.table import GROUPS_SHOWN, run_table
from assay.types import Interval, MetricReport, MetricResult, MetricValue, RunReport, ScorerReport


def value(number=0.5, **extra):
    return MetricValue(value=number, n=1_000, interval=Interval(low=0.25, high=0.75, method="wilson", **extra))


def report(values=None, *, groups=None, purpose="score", metrics=True, **extra):
    result = MetricResult(values=values or {"Accuracy": value()}, n_excluded=3, groups=groups)
    scorer = ScorerReport(
        key="string_equals",
        type="string_equals",
        purpose=purpose,
        n_scored=1_000,
        n_failed=2,
        n_excluded=1,
        metrics=(MetricReport(key="m", type="mean", result=result),) if metrics else (),
    )
    counts = {"n_samples": 1_002, "n_failed": 2, "n_cached": 0, "failures": {"parse": 2}}
    about = {"run": "abc123", "status": "completed", "task": "t", "model": "openai/x", "scorers": (scorer,)}
    return RunReport(**{**counts, **about, **extra})


def shown(made, width=80):
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(run_table(made))
    return out.getvalue()


def test_value_interval_method_and_counts_are_all_there():
    text = shown(report())
    for part in ("0.500", "0.250 to 0.750", "wilson", "95 % interval", "1,000 scored, 2 failed, 1 excluded", "parse 2"):
        assert part in text
    assert "(3 left out)" in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_it_fits_the_terminal_with_names_of_any_length(width):
    values = {f"a very long name of a metric number {i} that goes on and on": value() for i in range(3)}
    text = shown(report(values, groups={"g" * 70: values, "h": values}), width)
    assert max(len(line) for line in text.splitlines()) <= width


def test_undefined_is_a_word_with_its_reason():
    text = shown(report({"f1": MetricValue(value=None, n=4, reason="no positives at all")}))
    assert "undefined" in text
    assert "no positives at all" in text


def test_a_caveat_stands_beside_the_method():
    assert "few clusters" in shown(report({"x": value(caveat="few clusters")}))


def test_markup_in_names_is_shown_not_obeyed():
    text = shown(report({"[red]x[/red]\x1b[0m": value()}, display_name="[bold]title", model="[link]m"))
    assert "[red]x[/red]" in text
    assert "[bold]title" in text
    assert "\x1b" not in text


def test_many_groups_are_cut_with_a_word_about_the_rest():
    groups = {f"g{i:03}": {"Accuracy": value()} for i in range(GROUPS_SHOWN + 5)}
    text = shown(report(groups=groups))
    assert "(+5 more groups: --json)" in text
    assert "g000" in text


def test_quality_checks_stand_apart_from_the_headline():
    assert "Quality checks (not part of the headline)" in shown(report(purpose="qa"))


def test_a_scorer_without_metrics_and_a_task_without_scorers_say_so():
    assert "no metrics asked for" in shown(report(metrics=False))
    assert "nothing was scored" in shown(report(scorers=(), n_cached=5, status="partial"))

"""The table of a run fits its terminal and says what a reader must know."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from assay.report.table import GROUPS_SHOWN, run_table
from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.types import Interval, MetricResult, MetricValue


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
    assert "wilson; 3 excluded" in next(line for line in text.splitlines() if line.startswith("Accuracy"))


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
    assert "no metrics requested" in shown(report(metrics=False))
    assert "nothing was scored" in shown(report(scorers=(), n_cached=5, status="partial"))


def several(*metrics, **extra):
    """A report of one scorer with these metrics."""
    made = report(**extra)
    return replace(made, scorers=(replace(made.scorers[0], metrics=metrics),))


def metric(key, *names, **extra):
    return MetricReport(key=key, type="mean", result=MetricResult(values={name: value() for name in names}), **extra)


def lines(made, width=80):
    return shown(made, width).splitlines()


def first_words(made):
    """The names of the rows, with their indentation."""
    rows = lines(made)
    start = next(at for at, line in enumerate(rows) if "interval" in line) + 1
    return [row.split("  0.500")[0].rstrip() for row in rows[start:]]


def test_the_display_name_of_a_metric_is_its_row_or_the_line_above_its_rows():
    made = several(metric("a", "accuracy", display_name="Share right"), metric("b", "x", "y", display_name="Both"))
    assert first_words(made) == ["Share right", "Both", "  x", "  y"]


def test_metrics_whose_values_could_be_taken_for_each_other_s_have_a_heading():
    made = several(metric("m", "Accuracy"), metric("two", "accuracy", "f1"), metric("three", "accuracy", "f1"))
    assert first_words(made) == ["Accuracy", "two", "  accuracy", "  f1", "three", "  accuracy", "  f1"]
    assert first_words(several(metric("m", "Accuracy"), metric("two", "x", "y"))) == ["Accuracy", "x", "y"]
    assert first_words(several(metric("m", "Accuracy"), metric("two", "accuracy", "y")))[1] == "two"


def test_an_empty_label_or_group_is_shown_as_such():
    found = MetricResult(values={"choice_": value(), "choice_A": value()}, groups={"": {"choice_A": value()}})
    text = shown(several(MetricReport(key="f", type="frequency", result=found)))
    assert "choice_(empty) " in text
    assert "\n  (empty) " in text


def test_one_sample_is_no_samples():
    assert "· 1 sample\n" in shown(report(n_samples=1, n_failed=0, failures={}))
    assert "· 1,002 samples" in shown(report())


def test_no_line_ends_in_blanks():
    found = {"a": value(), "b": value(caveat="few clusters"), "c": MetricValue(value=None, n=0)}
    assert not [line for line in lines(report(found)) if line != line.rstrip()]


def test_bounds_for_failed_samples_are_named():
    found = MetricResult(values={"Accuracy": value()}, detail={"if_failed": {"Accuracy": [0.1, 0.9]}})
    text = shown(several(MetricReport(key="m", type="mean", result=found)))
    assert "  with the failed at worst/best         0.100 to 0.900" in text


def test_a_long_remark_stands_once_below_the_table():
    why = "perfect, or perfect or undefined without one of the pairs"
    rows = lines(report({"a": value(caveat=why), "b": value(caveat=why), "c": value(caveat="x" * 30)}), 100)
    marks = [row.split("wilson")[1] for row in rows if "wilson" in row]
    assert marks == ["; (1); 3 excluded", "; (1); 3 excluded", "; (2); 3 excluded"]
    assert rows[-2:] == [f"(1) {why}", f"(2) {'x' * 30}"]


def test_rows_made_of_samples_are_called_rows():
    assert "· 7 rows of 5 samples\n" in shown(report(n_samples=7, n_sources=5, n_failed=0, failures={}))


def test_a_system_task_has_no_samples_to_count():
    found = MetricReport(
        key="evidence", type="system_task", result=MetricResult(values={"days_left": replace(value(), n=0)})
    )
    made = several(found)
    scorer = replace(made.scorers[0], type="system_task", n_scored=0, n_failed=0)
    text = shown(replace(made, n_samples=0, n_failed=0, failures={}, scorers=(scorer,)))
    assert "sample" not in text
    assert "scored" not in text
    assert " 0\n" not in text

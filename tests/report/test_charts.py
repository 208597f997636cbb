"""Charts: well-formed SVG with a title, a description and the data behind it, whatever the labels hold."""

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.charts import (
    Bar,
    agreement_matrix,
    calibration_plot,
    confusion_matrix,
    cost_over_time,
    heat_map,
    histogram,
    interval_bar,
    interval_bars,
    ranks,
)

NAME = "<script>alert(1)</script>\u202e&\x00"
SVG = "{http://www.w3.org/2000/svg}"


def every_chart(label=NAME):
    bars = [Bar(label=label, value=0.5, low=0.4, high=0.6, n=9), Bar(label="b", value=None)]
    return [
        interval_bars(bars, title=label, reference=(label, 0.25)),
        ranks(bars, title=label),
        heat_map([label, "c"], [(label, [0.2, None])], title=label),
        confusion_matrix([label, "no"], [[3, 1], [0, 2]], title=label),
        agreement_matrix([label, "j"], {(label, "j"): 0.7}, title=label),
        histogram([0.0, 0.5, 1.0], [3, 0], title=label),
        calibration_plot([(0.1, 0.2, 4)], title=label, across=label, up="actual"),
        cost_over_time([("2026-01-01", 0.5), ("2026-01-02", 0.25)], title=label),
    ]


@pytest.mark.parametrize("chart", every_chart(), ids=lambda chart: chart.name)
def test_a_chart_is_well_formed_described_and_has_its_data(chart):
    root = ElementTree.fromstring(chart.svg)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text
    assert root.find(f"{SVG}desc").text
    assert not root.findall(f".//{SVG}script")
    assert not [name for part in root.iter() for name in part.attrib if name == "style" or name.startswith("on")]
    assert chart.rows
    assert all(len(row) == len(chart.columns) for row in chart.rows)


def test_a_bar_stands_where_its_value_lies():
    drawn = ElementTree.fromstring(interval_bar(Bar(label="x", value=0.5, low=0.25, high=1.0), (0.0, 1.0), 0.25))
    circle = drawn.find("circle")
    line = next(part for part in drawn.findall("line") if part.get("class") == "ci")
    assert float(circle.get("cx")) == 130
    assert float(line.get("x1")) == 6 + 0.25 * 248
    assert float(line.get("x2")) == 254
    assert drawn.get("aria-label") == "0.500, 0.250 to 1.000"


def test_ranks_put_the_greatest_value_first():
    chart = ranks([Bar(label="low", value=0.1), Bar(label="high", value=0.9), Bar(label="none", value=None)], title="r")
    assert [row[0] for row in chart.rows] == ["1. high", "2. low"]


@given(st.lists(st.tuples(st.text(max_size=50), st.floats(-1e9, 1e9)), min_size=1, max_size=5))
def test_any_labels_and_values_give_well_formed_drawings(lines):
    bars = [Bar(label=label, value=value, low=value - 1, high=value + 1) for label, value in lines]
    ElementTree.fromstring(interval_bars(bars, title="t").svg)


@pytest.mark.parametrize("counts", [[], [0], [5]])
def test_a_histogram_of_nothing_or_one_column_can_be_drawn(counts):
    ElementTree.fromstring(histogram([0.0] * (len(counts) + 1), counts, title="t").svg)


def test_differences_have_zero_in_the_middle():
    chart = interval_bars(
        [Bar(label="x", value=0.2, low=0.1, high=0.3)], title="t", reference=("none", 0.0), around_zero=True
    )
    root = ElementTree.fromstring(chart.svg)
    zero = next(line for line in root.iter(f"{SVG}line") if line.get("class") == "chance")
    ticks = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "soft"]
    assert "-0.2" in ticks
    assert "0.2" in ticks
    value = next(root.iter(f"{SVG}circle"))
    assert float(value.get("cx")) > float(zero.get("x1"))

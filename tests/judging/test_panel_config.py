"""Who sits on a panel and how it works."""

from __future__ import annotations

import pytest

from assay.judging.criteria import Criterion
from assay.judging.examples import Example, FewShot
from assay.judging.panel_config import (
    Judge,
    PanelConfig,
    check_panel,
    example_notes,
    lenient_notes,
    weight_notes,
    with_replicas,
)
from assay.judging.rubric import Rubric
from assay.types import Sampling

THREE = [Judge(id=name, model=name) for name in ("a", "b", "c")]


def test_a_strategy_that_is_lenient_on_a_fault_is_named(scale):
    rubric = Rubric((Criterion(requirement="r", weight=-1.0, name="fault"), scale([0.0, 1.0], weight=-2.0)))
    notes = lenient_notes(rubric, PanelConfig(aggregation="unanimous", ordinal_aggregation="min"))
    assert len(notes) == 2
    assert '"unanimous" is lenient on "fault"' in notes[0]
    assert lenient_notes(rubric, PanelConfig()) == []


def test_a_panel_is_checked_before_anybody_is_asked():
    check_panel(THREE)
    for judges, message in (
        ([], "at least one judge"),
        ([THREE[0], THREE[0]], 'two judges with the id "a"'),
        ([Judge(id="a", model="a", weight=0.0)], "must be a positive number"),
        ([Judge(id="a", model="a", weight=float("inf"))], "must be a positive number"),
        ([Judge(id="a", model="a", weight=float("nan"))], "must be a positive number"),
    ):
        with pytest.raises(ValueError, match=message):
            check_panel(judges)
    with pytest.raises(ValueError, match='"bogus"'):
        PanelConfig(nominal_aggregation="bogus")


def test_judges_that_are_one_model_asked_in_one_way_are_twins():
    warm = Sampling(temperature=1.0)
    judges = [Judge(id="a", model="m"), Judge(id="b", model="m"), Judge(id="c", model="m", sampling=warm)]
    assert [judge.replica for judge in with_replicas(judges)] == [0, 1, 0]


def test_a_criterion_that_no_example_fits_is_named():
    rubric = Rubric((Criterion(requirement="Polite.", name="polite"), Criterion(requirement="Short.")))
    examples = [Example(requirement="Polite.", text="hello", label="MET")]
    assert example_notes(rubric, PanelConfig()) == []
    assert example_notes(rubric, PanelConfig(few_shot=FewShot(examples, count=0))) == []
    (note,) = example_notes(rubric, PanelConfig(few_shot=FewShot(examples)))
    assert 'no training example was judged by "criterion_2"' in note


def test_weights_that_no_criterion_is_decided_by_are_told(scale):
    rubric = Rubric((Criterion(requirement="r"), scale([0.0, 1.0])))
    heavy = [Judge(id="a", model="a", weight=2.0), *THREE[1:]]
    (note,) = weight_notes(heavy, rubric, PanelConfig())
    assert note.startswith("the weights of the judges change nothing: majority and mean count every judge alike")
    assert weight_notes(THREE, rubric, PanelConfig()) == []
    assert weight_notes(heavy, rubric, PanelConfig(ordinal_aggregation="weighted_mean")) == []

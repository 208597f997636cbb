"""Kinds by type: what they say of themselves, where they belong, and those of plug-ins written for 0.1."""

from __future__ import annotations

from typing import Literal

import pytest

from assay.datasets.synthesizers.common import SynthesizerSpec
from assay.errors import SpecError
from assay.registry import (
    AskingSolverKind,
    AskingSynthesizerKind,
    BatchScorerKind,
    BatchSolverKind,
    BatchSynthesizerKind,
    InSandbox,
    JudgeScorerKind,
    Kind,
    MetricKind,
    Registry,
    SourceKind,
    WholeRunScorerKind,
)
from assay.spec.fields import MetricSpec, ScorerSpec, SolverSpec, SourceSpec


class Scored(ScorerSpec):
    """A scorer."""

    type: Literal["scored"]


class Measured(MetricSpec):
    """A metric."""

    type: Literal["measured"]


class Solved(SolverSpec):
    """A solver."""

    type: Literal["solved"]


class Read(SourceSpec):
    """A source."""

    type: Literal["read"]


class Made(SynthesizerSpec):
    """A synthesizer."""

    type: Literal["made"]


def function(*arguments, sandbox=None):
    return sandbox


@pytest.mark.parametrize(
    ("settings", "flags", "expected", "part"),
    [
        (Scored, {}, BatchScorerKind, "score"),
        (Scored, {"live": True}, JudgeScorerKind, "score"),
        (Scored, {"whole": True}, WholeRunScorerKind, "score"),
        (Measured, {}, MetricKind, "compute"),
        (Solved, {}, BatchSolverKind, "solve"),
        (Solved, {"live": True}, AskingSolverKind, "solve"),
        (Read, {}, SourceKind, "read"),
        (Made, {}, BatchSynthesizerKind, "synthesize"),
        (Made, {"live": True}, AskingSynthesizerKind, "synthesize"),
    ],
)
def test_a_kind_of_version_0_1_becomes_the_typed_one_of_its_settings(settings, flags, expected, part):
    kind = Kind(settings=settings, function=function, **flags)
    assert type(kind) is expected
    assert getattr(kind, part) is function
    assert kind.asks_model == flags.get("live", False)
    assert not kind.runs_code
    code = Kind(settings=settings, function=function, code=True, **flags)
    assert type(code) is expected
    assert code.runs_code


def test_a_scorer_of_version_0_1_keeps_its_fields_ranges_and_detail():
    detail = {"values": ("v",), "metadata": ("m",), "ranges": {"v": (0.0, 1.0)}, "detail": function}
    kind = Kind(settings=Scored, function=function, **detail)
    assert {name: getattr(kind, name) for name in detail} == detail
    assert Kind(settings=Scored, function=function).values is None


def test_only_functions_that_run_code_are_bound_to_the_sandbox():
    plain = BatchScorerKind(settings=Scored, score=function)
    assert plain.with_sandbox("box") is plain
    code = BatchScorerKind(settings=Scored, score=InSandbox(function))
    assert code.with_sandbox("box").score(None, None) == "box"
    assert code.with_sandbox("box").runs_code
    with pytest.raises(AssertionError, match="bound to a sandbox before it runs"):
        code.score(None, None)


def test_a_kind_goes_to_the_table_of_its_sort_and_no_other():
    known = Registry()
    kinds = [Kind(settings=settings, function=function) for settings in (Scored, Measured, Solved, Read, Made)]
    for kind in kinds:
        known.add(kind)
    tables = (known.scorers, known.metrics, known.solvers, known.sources, known.synthesizers)
    assert [list(table) for table in tables] == [["scored"], ["measured"], ["solved"], ["read"], ["made"]]
    with pytest.raises(SpecError, match=r'expected a scorer \(ScorerKind\), got the metric "measured"'):
        known.scorers.add(kinds[1])
    with pytest.raises(SpecError, match=r"expected a metric \(MetricKind\), got a function"):
        known.metrics.add(function)

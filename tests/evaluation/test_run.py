"""Which specifications may run side by side, and how their progress is shown as one."""

from decimal import Decimal
from types import SimpleNamespace

import pytest

from assay.evaluation.run import _Together, chains
from assay.runner.progress import Progress


def step(name, *models):
    """A specification that asks the given models."""
    connections = {model: SimpleNamespace(identity={"model": model}) for model in models}
    return name, SimpleNamespace(connections=connections)


@pytest.mark.parametrize(
    ("steps", "groups"),
    [
        ([("a", "x"), ("b", "y")], [["a"], ["b"]]),
        ([("a", "x"), ("b", "y"), ("c", "x")], [["b"], ["a", "c"]]),
        ([("a", "x", "judge"), ("b", "y", "judge")], [["a", "b"]]),
        ([("a", "x"), ("b", "y"), ("c", "x", "y"), ("d", "z")], [["a", "b", "c"], ["d"]]),
    ],
    ids=str,
)
def test_specifications_that_share_a_model_come_after_each_other(steps, groups):
    found = [[name for name, _ in chain] for chain in chains([step(*each) for each in steps])]
    assert sorted(found) == sorted(groups)


def test_the_progress_of_several_runs_is_one():
    heard = []
    together = _Together(heard.append)
    together.expect(30)
    together.of("a")(Progress(done=3, failed=1, total=10, in_flight=2, cost_usd=Decimal("0.5")))
    together.of("b")(Progress(done=4, failed=0, total=20, cached=2, in_flight=1, waiting="for b"))
    assert heard[-1] == Progress(
        done=7, failed=1, total=30, cached=2, in_flight=3, cost_usd=Decimal("0.5"), waiting="for b"
    )
    together.over("b")
    together.of("c")(Progress(done=0, failed=0))
    assert (heard[-1].in_flight, heard[-1].waiting, heard[-1].total) == (2, "", 30)

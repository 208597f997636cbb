from __future__ import annotations

from assay.metrics.context import Context
from assay.stats.random import generator


def test_random_numbers_belong_to_the_address_of_the_value() -> None:
    context = Context(seed=3, address="scorer/metric")
    assert context.random("name").random() == generator(3, "scorer/metric/name").random()


def test_a_group_has_random_numbers_of_its_own() -> None:
    context = Context(seed=3, address="scorer/metric", level=0.9)
    group = context.group("law")
    assert (group.address, group.level, group.seed) == ("scorer/metric[law]", 0.9, 3)

from __future__ import annotations

from datetime import date
from decimal import Decimal
from importlib.resources import files

import orjson
import pytest

from assay.models.presets import PRESETS, SERVED_HERE
from assay.models.price import FREE, Prices, known_models, prices_for
from assay.types import Usage

TABLE = orjson.loads(files("assay.models").joinpath("prices.json").read_bytes())


def test_the_table_is_dated_and_holds_decimals_of_known_providers():
    assert date.fromisoformat(TABLE["as_of"])
    for provider, models in TABLE["usd_per_million_tokens"].items():
        assert provider in PRESETS
        for prices in models.values():
            assert len(prices) == 2
            assert all(isinstance(price, str) and Decimal(price) > 0 for price in prices)
    assert sum(map(len, TABLE["usd_per_million_tokens"].values())) >= 36


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "gpt-4.1-nano", ("0.1", "0.4")),
        ("openai", "gpt-4.1-nano-2025-04-14", ("0.1", "0.4")),
        ("anthropic", "claude-haiku-4-5-20251001", ("1", "5")),
        ("anthropic", "claude-haiku-4-5-latest", ("1", "5")),
    ],
)
def test_a_dated_name_costs_what_its_undated_name_costs(provider, model, expected):
    assert prices_for(provider, model) == Prices(
        input_per_million=Decimal(expected[0]), output_per_million=Decimal(expected[1])
    )


@pytest.mark.parametrize(("provider", "model"), [("openai", "gpt-99"), ("nobody", "gpt-4.1"), ("azure", "mine")])
def test_an_unknown_price_is_none_and_not_zero(provider, model):
    assert prices_for(provider, model) is None


@pytest.mark.parametrize("provider", sorted(SERVED_HERE))
def test_what_runs_here_is_free(provider):
    assert prices_for(provider, "anything") == FREE


def test_names_of_models_are_known_by_provider():
    assert "gpt-4.1-nano" in known_models("openai")
    assert known_models("nobody") == ()


def test_a_cost_is_exact():
    prices = Prices(input_per_million=Decimal("0.1"), output_per_million=Decimal("0.4"))
    assert prices.cost(Usage(prompt_tokens=3, completion_tokens=7)) == Decimal("0.0000031")

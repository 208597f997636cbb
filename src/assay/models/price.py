"""The cost of calls: exact prices per million tokens, from the model's file or the shipped table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

import orjson

from assay.models.presets import SERVED_HERE
from assay.types import Usage

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars a million tokens."""

    input_per_million: Decimal
    output_per_million: Decimal

    def cost(self, usage: Usage) -> Decimal:
        """Return the cost of this usage.

        >>> Prices(input_per_million=Decimal(1), output_per_million=Decimal(2)).cost(Usage(prompt_tokens=500_000))
        Decimal('0.5')
        """
        spent = usage.prompt_tokens * self.input_per_million + usage.completion_tokens * self.output_per_million
        return spent / MILLION


FREE = Prices(input_per_million=Decimal(0), output_per_million=Decimal(0))


@cache
def _table() -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """The prices that ship: provider, model, dollars a million tokens in and out, as text."""
    document = orjson.loads(files("assay.models").joinpath("prices.json").read_bytes())
    models: Mapping[str, Mapping[str, tuple[str, str]]] = document["usd_per_million_tokens"]
    return models


def known_models(provider: str) -> tuple[str, ...]:
    """The models of a provider that the price table names."""
    return tuple(_table().get(provider, ()))


def prices_for(provider: str, model: str) -> Prices | None:
    """Return the shipped price of a model; None if unknown. Local models are free.

    A dated name (`gpt-4.1-2025-04-14`, `claude-sonnet-4-5-20250929`) costs what its undated name costs.
    """
    if provider in SERVED_HERE:
        return FREE
    table = _table().get(provider, {})
    undated = re.sub(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$", "", model)
    prices = table.get(model) or table.get(undated)
    if prices is None:
        return None
    return Prices(input_per_million=Decimal(prices[0]), output_per_million=Decimal(prices[1]))

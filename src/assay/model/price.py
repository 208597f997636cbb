"""What a call costs: prices a million tokens, as decimals, from the model's file or the table that ships."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from assay.model.client import Client
from assay.types import Reply, Request, Usage

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars a million tokens."""

    input_per_million: Decimal
    output_per_million: Decimal

    def cost(self, usage: Usage) -> Decimal:
        """What this usage costs.

        >>> Prices(input_per_million=Decimal(1), output_per_million=Decimal(2)).cost(Usage(prompt_tokens=500_000))
        Decimal('0.5')
        """
        spent = usage.prompt_tokens * self.input_per_million + usage.completion_tokens * self.output_per_million
        return spent / MILLION


class Priced:
    """A client that puts a price on every reply; without a price the cost is unknown, not zero."""

    def __init__(self, client: Client, prices: Prices | None) -> None:
        self.name = client.name
        self._client = client
        self._prices = prices

    async def ask(self, request: Request) -> Reply:
        reply = await self._client.ask(request)
        if self._prices is None:
            return reply
        return replace(reply, cost_usd=self._prices.cost(reply.usage))

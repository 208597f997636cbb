"""The agreement of judges with the ground truth, with human labels and with each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.results.display import render
from assay.stats.abstention import Abstentions
from assay.stats.human_ceiling import HumanCeiling
from assay.stats.noise import Noise
from assay.types import MetricValue

PANEL = "panel"
"""The name of the panel's combined verdict; no single judge has it."""


Values = Mapping[str, MetricValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstTruth:
    """The agreement of a judge or the panel with the ground truth on one criterion;

    rows of `confusion` are the ground truth.

    `n_failed` votes could not be had; they are no abstentions and enter no number.
    """

    values: Values
    per_option: Mapping[str, Values]
    confusion: tuple[tuple[int, ...], ...]
    abstentions: Abstentions
    n_failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """The agreement of raters with each other: all together, every pair, and all but one."""

    raters: tuple[str, ...]
    values: Values
    pairs: Mapping[tuple[str, str], Values]
    without: Mapping[str, Values] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAgreement:
    """The agreement on one criterion; statistics that cannot be computed are empty or None.

    `given_to_all` is the one option that every item got: the criterion tells no items apart. `noise` is how much the
    judges that were asked several times vary.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    n_items: int
    n_without_truth: int
    judges: Mapping[str, AgainstTruth]
    between: Between | None = None
    people: Between | None = None
    ceilings: Mapping[str, HumanCeiling] = field(default_factory=dict)
    noise: Mapping[str, Noise] = field(default_factory=dict)
    given_to_all: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundant:
    """Two criteria that order the items almost alike: one of them tells little that the other does not."""

    first: str
    second: str
    spearman: MetricValue


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AgreementResult:
    """Agreement per criterion, per judge and overall; every value has an interval, or a reason why it is None.

    `overall` holds, by judge, `micro_accuracy` (all pairs pooled) and the `macro_` means over criteria; `defined`
    says over how many. `between` holds the means of the agreement between judges. `scores` compares total scores with
    those of the truth, `totals` those of the judges with each other. `redundant` are criteria that order items alike.
    """

    criteria: tuple[CriterionAgreement, ...]
    overall: Mapping[str, Values]
    defined: Mapping[str, Mapping[str, int]]
    between: Values
    scores: Mapping[str, Values] = field(default_factory=dict)
    totals: Values = field(default_factory=dict)
    redundant: tuple[Redundant, ...] = ()
    notes: tuple[str, ...] = ()

    def __getitem__(self, criterion: str) -> CriterionAgreement:
        """The agreement on a criterion, by its name."""
        return {agreement.name: agreement for agreement in self.criteria}[criterion]

    def to_dict(self) -> dict[str, Any]:
        """Return the values as a JSON document."""
        document: dict[str, Any] = render(self, "json")
        return document

    def __repr__(self) -> str:
        """The table that `assay agreement` prints."""
        return str(render(self, "text"))

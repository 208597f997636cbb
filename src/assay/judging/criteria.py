"""The criteria of a rubric: binary ones, which are met or not, and ones with options."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from assay.judging.option_key import option_key

AggregationStrategy = Literal["majority", "weighted", "unanimous", "any", "worst", "best"]
OrdinalAggregation = Literal["mean", "median", "weighted_mean", "mode", "min", "max", "worst", "best"]
NominalAggregation = Literal["mode", "weighted_mode", "unanimous", "worst", "best"]
ScaleType = Literal["ordinal", "nominal"]
CriterionKind = Literal["binary", "ordinal", "nominal"]

STRATEGIES: dict[str, tuple[str, ...]] = {
    "binary": get_args(AggregationStrategy),
    "ordinal": get_args(OrdinalAggregation),
    "nominal": get_args(NominalAggregation),
}
"""The aggregation strategies for each kind of criterion."""
ABSTAIN_LABEL = "Cannot assess"
"""The label of an option that is added so that a judge may abstain."""

# a text from a file remembers its place; a criterion is the same wherever it was written
Text = Annotated[str, AfterValidator(str)]


def _number(value: Any) -> Any:
    """Convert a number written as text, such as "0.5"."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value


Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]


class CriterionVerdict(StrEnum):
    """The possible verdicts on a criterion without options."""

    MET = "MET"
    UNMET = "UNMET"
    CANNOT_ASSESS = "CANNOT_ASSESS"


class Value(BaseModel):
    """The base of all that judging passes on: strict, closed, frozen."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class CriterionOption(Value):
    """One option of a criterion; `na` marks an option for abstaining.

    >>> CriterionOption(label="Good", value=1.0).value
    1.0
    """

    label: Text
    value: Number
    na: bool = False

    @model_validator(mode="before")
    @classmethod
    def _without_a_value(cls, option: Any) -> Any:
        """An option that is no judgment needs no value."""
        if isinstance(option, dict) and option.get("na") is True and option.get("value") is None:
            return {**option, "value": 0.0}
        return option

    @field_validator("label")
    @classmethod
    def _not_blank(cls, label: str) -> str:
        if not label.strip():
            raise ValueError("a label is empty")
        return label

    @model_validator(mode="after")
    def validate_value_range(self) -> Self:
        """Return the option; a ValueError unless its value is in [0, 1]."""
        if not self.na and not 0 <= self.value <= 1:
            raise ValueError(f"Option value must be in [0, 1], got {self.value:g}")
        return self


class Criterion(Value):
    """One thing to look for; without options it is met or not, and a negative weight makes it a fault.

    >>> Criterion(requirement="Names the capital").is_binary
    True
    """

    requirement: Text
    name: Text | None = None
    weight: Number = 10.0
    options: list[CriterionOption] | None = None
    scale_type: ScaleType = "ordinal"
    aggregation: Text | None = None

    @field_validator("options", mode="before")
    @classmethod
    def _as_list(cls, options: Any) -> Any:
        return list(options) if isinstance(options, tuple) else options

    @field_validator("requirement")
    @classmethod
    def _asks_something(cls, requirement: str) -> str:
        if not requirement.strip():
            raise ValueError("the requirement is empty")
        return requirement

    @field_validator("options")
    @classmethod
    def _a_real_choice(cls, options: list[CriterionOption] | None) -> list[CriterionOption] | None:
        if options is None:
            return None
        seen: set[str] = set()
        for option in options:
            label = option.label.strip().casefold()
            if label in seen:
                raise ValueError(f'the label "{option.label.strip()}" appears twice')
            seen.add(label)
        if sum(not option.na for option in options) < 2:
            raise ValueError("a criterion with options needs at least two that are not NA")
        return options

    @model_validator(mode="after")
    def _known_aggregation(self) -> Self:
        if self.aggregation is not None:
            check_strategy(self.aggregation, self.kind)
        return self

    def __hash__(self) -> int:
        # the list of options is never changed in place
        return hash((self.requirement, self.name, self.weight, self.choices, self.scale_type, self.aggregation))

    def validate_options(self) -> Self:
        """Return the criterion; its options were checked when it was created."""
        return self

    @property
    def is_binary(self) -> bool:
        """Return whether the criterion is binary (without options)."""
        return self.options is None

    @property
    def is_multi_choice(self) -> bool:
        """Return whether the criterion has options."""
        return self.options is not None

    @property
    def kind(self) -> CriterionKind:
        """Return the kind of criterion, which decides how votes are aggregated."""
        return "binary" if self.options is None else self.scale_type

    @property
    def choices(self) -> tuple[CriterionOption, ...]:
        """The options; none for a binary criterion."""
        return tuple(self.options or ())

    @property
    def na_index(self) -> int | None:
        """Return the index of the option for abstaining."""
        return next((place for place, option in enumerate(self.choices) if option.na), None)

    @property
    def na_option_index(self) -> int | None:
        """Return the index of the option for abstaining; an alias of `na_index`."""
        return self.na_index

    @property
    def values(self) -> tuple[float, ...]:
        """All values that a judgment can have: of the options that are not NA, or 0 and 1."""
        if self.options is None:
            return (0.0, 1.0)
        return tuple(option.value for option in self.options if not option.na)

    def find_option_by_label(self, label: str) -> int:
        """Return the index of the option with this label, ignoring case; equal numbers are the same label.

        A ValueError names the labels there are.

        >>> yes, no = CriterionOption(label="Yes", value=1.0), CriterionOption(label="No", value=0.0)
        >>> Criterion(requirement="Polite?", options=[yes, no]).find_option_by_label(" no ")
        1
        """
        # the labels of a rubric may be equal numbers ("1" and "1.0"): a label as written goes first
        for key in (lambda text: text.strip().casefold(), option_key):
            label_key = key(label)
            for place, option in enumerate(self.choices):
                if key(option.label) == label_key:
                    return place
        labels = ", ".join(f'"{option.label}"' for option in self.choices)
        raise ValueError(f'"{label}" is not one of the labels {labels}' if labels else "the criterion has no options")

    def worst_option_among(self, candidate_indices: Iterable[int]) -> int:
        """Return the index of the worst option: the lowest value, or for a fault the highest; the first of equals."""
        sign = -1.0 if self.weight < 0 else 1.0
        indices = tuple(candidate_indices)
        if not indices:
            raise ValueError("there is no option to choose from")
        return min(indices, key=lambda place: (sign * self.choices[place].value, place))

    def worst_scored_option(self) -> tuple[int, CriterionOption]:
        """The index and the option that costs the most, of those that do not abstain."""
        if self.options is None:
            raise ValueError("the criterion has no options")
        index = self.worst_option_among(n for n, option in enumerate(self.options) if not option.na)
        return index, self.options[index]

    def get_option_value(self, index: int) -> float:
        """The value of an option by its index."""
        if self.options is None:
            raise ValueError("the criterion has no options")
        if not 0 <= index < len(self.options):
            raise ValueError(f"there is no option {index}; the criterion has {len(self.options)}")
        return self.options[index].value

    def with_guaranteed_na_option(self) -> Criterion:
        """The criterion with an option to abstain; a ValueError for a criterion without options."""
        if self.options is None:
            raise ValueError("the criterion has no options")
        return self.with_abstention()

    def with_abstention(self) -> Criterion:
        """The criterion with an option to abstain at its end, unless it has one or needs none."""
        if self.options is None or self.na_index is not None:
            return self
        taken = {option.label.strip().casefold() for option in self.options}
        label = ABSTAIN_LABEL
        while label.casefold() in taken:
            label = f"{label} (none of these)"
        return self.model_copy(update={"options": [*self.options, CriterionOption(label=label, value=0.0, na=True)]})


def check_strategy(name: str, kind: CriterionKind) -> None:
    """Raise a ValueError unless this strategy exists for this kind of criterion."""
    strategies = STRATEGIES[kind]
    if name not in strategies:
        raise ValueError(f'unknown aggregation "{name}" for {kind} votes; known: {", ".join(strategies)}')


def same(a: float, b: float) -> bool:
    """Return whether two sums are equal up to rounding: 0.1 + 0.2 equals 0.3.

    >>> same(0.1 + 0.2, 0.3), same(0.3, 0.31)
    (True, False)
    """
    return math.fabs(a - b) <= 1e-9 * max(1.0, math.fabs(a), math.fabs(b))

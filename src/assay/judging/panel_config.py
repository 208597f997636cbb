"""The settings of a panel, validated before any judge is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from assay.judging.aggregation import BY_WEIGHT, LENIENT_ON_FAULTS
from assay.judging.criteria import Criterion, CriterionKind, check_strategy
from assay.judging.escalation import Escalation
from assay.judging.examples import FewShot
from assay.judging.judge import Judge
from assay.judging.question import Wishes
from assay.judging.rubric import Rubric
from assay.judging.shuffle import Shuffle
from assay.judging.total import Scoring

LLMCalls = Literal["per_criterion", "per_item"]
"""One call per criterion, or one call per submission about all criteria."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelConfig:
    """The settings of a panel. `seed` None keeps the options in the order of the rubric.

    Every judge is asked `repeats` times about a criterion, with the options in another order each time. With an
    `escalation` the doubtful verdicts of these judges are decided by other ones, which are asked once.
    """

    aggregation: str = "majority"
    ordinal_aggregation: str = "mean"
    nominal_aggregation: str = "mode"
    shuffle: Shuffle = "random"
    seed: int | None = 0
    auto_na_option: bool = True
    llm_calls: LLMCalls = "per_criterion"
    repeats: int = 1
    min_votes: int = 0
    skip_failed: bool = False
    few_shot: FewShot | None = None
    binary_wishes: Wishes = field(default_factory=Wishes)
    choice_wishes: Wishes = field(default_factory=Wishes)
    scoring: Scoring = field(default_factory=Scoring)
    escalation: Escalation | None = None

    def __post_init__(self) -> None:
        check_strategy(self.aggregation, "binary")
        check_strategy(self.ordinal_aggregation, "ordinal")
        check_strategy(self.nominal_aggregation, "nominal")
        if self.shuffle not in get_args(Shuffle):
            raise ValueError(f'unknown shuffle "{self.shuffle}"; known: {", ".join(get_args(Shuffle))}')
        if self.llm_calls not in get_args(LLMCalls):
            raise ValueError(f'llm_calls is "per_criterion" or "per_item", not "{self.llm_calls}"')
        if self.repeats < 1:
            raise ValueError(f"repeats must be at least 1, not {self.repeats}")

    def strategy(self, criterion: Criterion) -> str:
        """Return the aggregation for a criterion: its own, else the panel's default for its kind."""
        defaults: dict[CriterionKind, str] = {
            "binary": self.aggregation,
            "ordinal": self.ordinal_aggregation,
            "nominal": self.nominal_aggregation,
        }
        return criterion.aggregation or defaults[criterion.kind]

    def seen(self, criterion: Criterion) -> Criterion:
        """The criterion as judges see it: with an option to abstain, unless they must choose."""
        return criterion.with_abstention() if self.auto_na_option else criterion


def with_replicas(judges: Sequence[Judge]) -> tuple[Judge, ...]:
    """Number the judges that share a model and settings, so that they are asked separately."""
    ways = [(judge.model, judge.sampling) for judge in judges]
    return tuple(replace(judge, replica=ways[:place].count(ways[place])) for place, judge in enumerate(judges))


def check_panel(judges: Sequence[Judge]) -> None:
    """Raise a ValueError unless there is a judge, all ids are unique and all weights are positive."""
    if not judges:
        raise ValueError("a panel needs at least one judge")
    ids = [judge.id for judge in judges]
    repeated = next((name for place, name in enumerate(ids) if name in ids[:place]), None)
    if repeated is not None:
        raise ValueError(f'there are two judges with the id "{repeated}"; give each an id of its own')
    for judge in judges:
        if not 0 < judge.weight < float("inf"):
            raise ValueError(f'the weight of judge "{judge.id}" must be a positive number, not {judge.weight}')


def example_notes(rubric: Rubric, config: PanelConfig) -> list[str]:
    """Criteria that no example was judged by: their texts, or the labels of their options, are others."""
    few_shot = config.few_shot
    if few_shot is None or not few_shot.count:
        return []
    return [
        f'no training example was judged by "{name}": it is asked without examples'
        for name, criterion in zip(rubric.names, rubric.criteria, strict=True)
        if not few_shot.shown_with(config.seen(criterion), "")
    ]


def weight_notes(judges: Sequence[Judge], rubric: Rubric, config: PanelConfig) -> list[str]:
    """A sentence about weights of judges that change nothing, because no criterion is decided by them."""
    used = list(dict.fromkeys(config.strategy(criterion) for criterion in rubric.criteria))
    if len({judge.weight for judge in judges}) < 2 or set(used) & set(BY_WEIGHT):
        return []
    names = f"{' and '.join(used)} {'counts' if len(used) == 1 else 'count'}"
    return [
        f"the weights of the judges change nothing: {names} every judge alike; {', '.join(BY_WEIGHT)} go by weights"
    ]


def lenient_notes(rubric: Rubric, config: PanelConfig) -> list[str]:
    """Criteria whose aggregation sounds strict and is not, because they describe a fault."""
    return [
        f'"{config.strategy(criterion)}" is lenient on "{name}", which describes a fault: one judge can let it pass; '
        'use "worst" to be strict whatever the sign'
        for name, criterion in zip(rubric.names, rubric.criteria, strict=True)
        if criterion.weight < 0 and config.strategy(criterion) in LENIENT_ON_FAULTS
        if not (config.strategy(criterion) == "unanimous" and criterion.kind == "nominal")
    ]

"""The settings of an escalation in Python: which judges decide when the first judge is unsure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.errors import SpecError
from assay.grading.config import JudgeSpec, LLMConfig
from assay.judging.criteria import Criterion
from assay.judging.escalation import check_thresholds
from assay.spec.arguments import keywords_named

ONE_ESCALATION_JUDGE = "escalation"
"""The name of a judge to whom alone doubtful criteria are escalated."""


@keywords_named
@dataclass(frozen=True, slots=True)
class EscalationConfig:
    """The stronger judges, and the confidence below which a criterion goes to them.

    `judges` is one model or a panel. `per_criterion` has thresholds of single criteria, by name.

    >>> config = EscalationConfig(LLMConfig("openai/gpt-5"), 0.8, per_criterion={"accuracy": 0.95})
    >>> config.judges[0].judge_id, config.threshold_for(Criterion(name="accuracy", requirement="All facts are right"))
    ('escalation', 0.95)
    """

    judges: LLMConfig | Sequence[JudgeSpec]
    threshold: float
    per_criterion: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        check_thresholds(self.threshold, self.per_criterion)
        if not self.panel:
            raise SpecError("the judges of an escalation are an LLMConfig or a list of JudgeSpec with at least one")
        # copies, so that a change to the caller's own cannot change a panel after it was checked
        object.__setattr__(self, "judges", self.panel)
        object.__setattr__(self, "per_criterion", None if self.per_criterion is None else dict(self.per_criterion))

    @property
    def panel(self) -> list[JudgeSpec]:
        """The stronger judges as a panel; one model alone is the judge `escalation`."""
        if isinstance(self.judges, LLMConfig):
            return [JudgeSpec(self.judges, ONE_ESCALATION_JUDGE)]
        return [judge for judge in self.judges if isinstance(judge, JudgeSpec)]

    def threshold_for(self, criterion: Criterion) -> float:
        """The confidence that a criterion needs to stay with the first judge."""
        thresholds = self.per_criterion or {}
        return thresholds.get(criterion.name, self.threshold) if criterion.name is not None else self.threshold

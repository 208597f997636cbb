"""The rubric scorer over submissions: what grading adds to the settings that a task file can name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from pydantic import ConfigDict, Field

from assay.grading.config import JudgeSpec, LLMConfig
from assay.grading.dataset import RubricDataset
from assay.grading.escalation_config import EscalationConfig
from assay.judging.examples import FewShot
from assay.judging.length import LengthPenalty
from assay.judging.panel_config import PanelConfig
from assay.judging.question import Submission, Wishes
from assay.judging.rubric import Rubric
from assay.judging.total import Scoring
from assay.judging.verdicts import verdict_in_words
from assay.scorers.common import looked_at
from assay.scorers.rubric import EscalationSettings, JudgeSettings, RubricItem, RubricScorer
from assay.spec.fields import Located, Template
from assay.spec.sampling import SamplingSpec
from assay.types import Failure, Rows

SUBMISSION = Template("{{ sample.submission }}")


class SubmissionScorer(RubricScorer):
    """A panel of judges grades submissions; the sample holds the text, its prompt, its reference and its ground truth.

    Items may have rubrics of their own, by their numbers. Examples, a length penalty and totals that are not
    normalized are for programs: files cannot name them.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    rubric: Any = None
    item_rubrics: Mapping[int, Any] = Field(default_factory=dict)
    few_shot: FewShot | None = None
    system_prompt: str | None = None
    multi_choice_system_prompt: str | None = None
    binary_fields: tuple[tuple[str, str], ...] | None = None
    multi_choice_fields: tuple[tuple[str, str], ...] | None = None
    durations: dict[int, float] = Field(default_factory=dict, exclude=True)
    normalize: bool = True
    length_penalty: LengthPenalty | None = None

    keeps_abstentions: ClassVar[bool] = True

    def for_dataset(self, dataset: RubricDataset) -> SubmissionScorer:
        """The scorer with the rubrics of a dataset."""
        rubrics = {number: dataset.get_item_rubric(number) for number in range(len(dataset))}
        shared = rubrics[0]
        return self.changed(
            rubric=shared, item_rubrics={number: rubric for number, rubric in rubrics.items() if rubric != shared}
        )

    @property
    def examples(self) -> FewShot | None:
        """Return the few-shot examples."""
        return self.few_shot

    @cached_property
    def config(self) -> PanelConfig:
        """Return the settings of the panel."""
        return replace(
            super().config,
            binary_wishes=Wishes(instructions=self.system_prompt, further_fields=self.binary_fields or ()),
            choice_wishes=Wishes(
                instructions=self.multi_choice_system_prompt, further_fields=self.multi_choice_fields or ()
            ),
        )

    @property
    def scoring(self) -> Scoring:
        """Return the settings that turn verdicts into a score."""
        return replace(super().scoring, normalize=self.normalize, length_penalty=self.length_penalty)

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        """Every rubric that an item is graded by, each once, in the order of the items."""
        return tuple(dict.fromkeys((self.rubric, *self.item_rubrics.values())))

    def content(self) -> Mapping[str, Any]:
        """Return the rubric of most items, and those that items have of their own."""
        shared, *others = self.rubrics
        return shared.content() | ({"others": [rubric.content() for rubric in others]} if others else {})

    def definition(self) -> dict[str, Any]:
        """The settings as they may be stored; the rubrics are the content, examples are named by their digest."""
        settings = self.model_dump(
            mode="json", exclude={"rubric", "item_rubrics", "few_shot", "metrics"}, exclude_none=True
        )
        return settings | ({} if self.few_shot is None else {"few_shot": self.few_shot.identity})

    def took(self, position: int, seconds: float) -> None:
        """Note how long the panel took for a row; all copies of the settings share the notes."""
        self.durations[position] = seconds

    def item(self, rows: Rows) -> RubricItem | Failure:
        """Build the item for one row."""
        sample = rows.samples[0]
        rubric: Rubric = self.item_rubrics.get(sample["item"], self.rubric)
        submission = Submission(
            text=looked_at(self, rows).values[0],
            prompt=sample.get("prompt"),
            reference=sample.get("reference_submission"),
            guidelines=rubric.guidelines,
            row=rows.positions[0],
        )
        words = sample.get("ground_truth")
        truth = None
        if words is not None:
            truth = [verdict_in_words(criterion, word) for criterion, word in zip(rubric.criteria, words, strict=True)]
        return RubricItem(submission=submission, rubric=rubric, truth=truth)


def judge_settings(
    judges: Sequence[JudgeSpec | JudgeSettings],
) -> tuple[list[JudgeSettings], dict[str, LLMConfig]]:
    """The judges as settings, and the endpoints that they name, by key.

    Judges of one endpoint share its key, and with it its connection and its limits.
    """
    settings: list[JudgeSettings] = []
    endpoints: dict[str, LLMConfig] = {}
    for judge in judges:
        if isinstance(judge, JudgeSettings):
            endpoints[str(judge.model_key)] = LLMConfig(str(judge.model_key)).endpoint
            settings.append(judge)
            continue
        config = judge.llm_config
        key = _endpoint_key(config.endpoint, endpoints)
        endpoints[key] = config.endpoint
        # not validated: CriterionGrader says what is wrong in its own words
        settings.append(
            JudgeSettings.model_construct(
                model_key=Located(key),
                id=judge.judge_id,
                weight=judge.weight,
                sampling=SamplingSpec.model_construct(
                    temperature=config.temperature,
                    top_p=config.top_p,
                    max_tokens=config.max_tokens,
                    seed=config.seed,
                    reasoning_effort=config.reasoning_effort,
                ),
            )
        )
    return settings, endpoints


def escalation_settings(config: EscalationConfig | None, judges: Sequence[JudgeSettings]) -> EscalationSettings | None:
    """Convert a program's escalation to scorer settings, with judges as they are named there."""
    if config is None:
        return None
    return EscalationSettings.model_construct(
        judges=list(judges), threshold=float(config.threshold), per_criterion=dict(config.per_criterion or {})
    )


def _endpoint_key(endpoint: LLMConfig, taken: Mapping[str, LLMConfig]) -> str:
    """Return the model's name, numbered if another endpoint has the same."""
    model = endpoint.model
    name = model if isinstance(model, str) else str(getattr(model, "__qualname__", type(model).__qualname__))
    key, number = name, 1
    while key in taken and taken[key] != endpoint:
        number += 1
        key = f"{name}#{number}"
    return key

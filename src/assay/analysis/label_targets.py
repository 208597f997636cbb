"""The targets that people can label in a run, with their options and the values of these."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from assay.analysis.means import sample_means
from assay.analysis.votes import scales_of
from assay.builtin import registry
from assay.judging.outcome import value_names
from assay.judging.rubric import stored_rubrics
from assay.store.decoder import Sample
from assay.store.run_spec import RunSpec, StoredScorer
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.templates import columns_read

TRUTH = "ground_truth_label"
MOST_STEPS = 8
RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A field of a scorer that people can label; `address` is `scorer/name`.

    `options` are the labels to choose from, empty where any number between the bounds may be given. `worth` says what a
    label counts as. `metric` is the address of the metric that the labels correct, `hidden` holds the columns that a
    labelling page leaves out, because they say what others think of the answer.
    """

    address: str
    scorer: str
    name: str
    question: str
    options: tuple[str, ...]
    worth: Mapping[str, float]
    metric: str
    bounds: tuple[float, float] | None
    hidden: frozenset[str] = field(default_factory=frozenset)


def label_targets(store: Store, record: RunRecord) -> dict[str, Target]:
    """Return the label targets of a finished run, by address: criteria and judges' labels first.

    Nothing of it depends on a score: a page that is made of it stays blind.
    """
    targets: dict[str, Target] = {}
    for address, measure in sample_means(store, record, registry()).items():
        scorer = record.spec.scorer(measure.scorer)
        if scorer is None or len(measure.fields) != 1:
            continue
        name = measure.fields[0]
        target = f"{scorer.key}/{name}"
        if target not in targets:
            targets[target] = _target(scorer, name, address, measure.bounds)
    criteria = [t for t in targets.values() if t.options and t.name != "score"]
    return {target.address: target for target in [*criteria, *(t for t in targets.values() if t not in criteria)]}


def _target(scorer: StoredScorer, name: str, metric: str, bounds: tuple[float, float] | None) -> Target:
    judged = bool(scorer.rubrics) or "model_key" in scorer.settings or "judges" in scorer.settings
    hidden = {TRUTH}
    if judged:
        # the truth of a judge is what somebody else said of the answer
        for setting, value in scorer.settings.items():
            if setting.startswith("ground_truth") and isinstance(value, str):
                hidden |= {use.name for use in columns_read(value)}
    question, options, worth = _question(scorer, name, bounds)
    return Target(
        address=f"{scorer.key}/{name}",
        scorer=scorer.key,
        name=name,
        question=question,
        options=options,
        worth=worth,
        metric=metric,
        bounds=bounds,
        hidden=frozenset(hidden),
    )


def _question(
    scorer: StoredScorer, name: str, bounds: tuple[float, float] | None
) -> tuple[str, tuple[str, ...], dict[str, float]]:
    for rubric in scorer.rubrics:
        for sheet in stored_rubrics(rubric):
            scale = scales_of(sheet).get(name)
            if scale is not None:
                criterion = sheet.criteria[value_names(sheet).index(name)]
                values = scale.values or ()
                return criterion.requirement, scale.labels, dict(zip(scale.labels, values, strict=False))
    sides = ((1.0, scorer.settings.get("correct_labels")), (0.0, scorer.settings.get("incorrect_labels")))
    declared = {str(label): worth for worth, labels in sides for label in labels or ()}
    if declared:
        return "Which label fits this answer?", tuple(declared), declared
    if name == "is_correct":
        return "Is this answer right?", (WRONG, RIGHT), {WRONG: 0.0, RIGHT: 1.0}
    steps = _steps(bounds)
    question = f"What {name.replace('_', ' ')} does this answer deserve"
    question += "?" if bounds is None else f", from {bounds[0]:g} to {bounds[1]:g}?"
    return question, steps, {step: float(step) for step in steps}


def _steps(bounds: tuple[float, float] | None) -> tuple[str, ...]:
    """Return the options for a range: its whole numbers if there are few, else five steps from 0 to 1."""
    if bounds is None:
        return ()
    low, high = bounds
    if bounds == (0.0, 1.0):
        return ("0", "0.25", "0.5", "0.75", "1")
    if low.is_integer() and high.is_integer() and high - low <= MOST_STEPS:
        return tuple(f"{step:g}" for step in range(int(low), int(high) + 1))
    return ()


def content_digest(spec: RunSpec, sample: Sample) -> bytes:
    """The digest of an input and its answer: what a label is about, whatever run the answer is in."""
    return digest_of(spec, sample.sample, sample.output)


def digest_of(spec: RunSpec, columns: Mapping[str, Any], output: str | None) -> bytes:
    """The digest of the columns of an input, but its id, and of its answer."""
    ids = {"sample_id", spec.dataset.id_column}
    document = [{name: value for name, value in columns.items() if name not in ids}, output]
    text = orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    return hashlib.blake2b(text, digest_size=32).digest()

"""From votes to agreement: with the truth, between judges, between people, per criterion and overall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from assay.judging.criteria import Criterion
from assay.report.agreement import PANEL, AgainstTruth, Between, CriterionAgreement, MetricsResult, Values
from assay.stats.abstention import abstentions, assessed
from assay.stats.additive import Additive, macro
from assay.stats.alpha import Scale as AlphaScale
from assay.stats.alpha import alpha_sums, krippendorffs_alpha
from assay.stats.classification import Pairs, accuracy, binary, one_class
from assay.stats.correlation import Name, correlation
from assay.stats.errors_between import adjacent_accuracy, errors_between
from assay.stats.fleiss import fleiss_kappa, fleiss_sums, gwet_sums, gwets_ac
from assay.stats.kappa import Weighting, cohens_kappa, kappa_sums
from assay.stats.overall import accuracy_sums, micro_accuracy
from assay.stats.panel import pairwise_kappas, panel_agreement
from assay.stats.people import human_ceiling
from assay.stats.random import generator
from assay.stats.ratings import MISSING, Ratings
from assay.stats.units import FloatArray, IntArray
from assay.types import MetricValue

ABSENT = -2
"""The code of a vote that nobody gave: no row, a failed call, a reply that could not be read."""
_KAPPAS: dict[str, Weighting] = {"kappa": "none", "kappa_linear": "linear", "kappa_quadratic": "quadratic"}
CORRELATIONS: tuple[Name, ...] = ("spearman", "kendall", "pearson")
_ALPHAS: tuple[AlphaScale, ...] = ("nominal", "ordinal", "interval")

ScaleKind = Literal["binary", "ordinal", "nominal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The declared options of a criterion, without those that abstain; `values` None where labels are just names."""

    kind: ScaleKind
    labels: tuple[str, ...]
    values: tuple[float, ...] | None = None
    abstaining: frozenset[str] = frozenset()

    @classmethod
    def of(cls, criterion: Criterion) -> Scale:
        """The scale that a rubric declares.

        >>> Scale.of(Criterion(requirement="Polite")).labels
        ('UNMET', 'MET')
        """
        if criterion.is_binary:
            return cls(
                kind="binary", labels=("UNMET", "MET"), values=(0.0, 1.0), abstaining=frozenset({"cannot_assess"})
            )
        judged = [option for option in criterion.choices if not option.na]
        gone = {option.label.strip().casefold() for option in criterion.choices if option.na}
        return cls(
            kind=criterion.scale_type,
            labels=tuple(option.label for option in judged),
            values=tuple(option.value for option in judged),
            abstaining=frozenset({*gone, "cannot_assess"}),
        )

    def code(self, label: str | None) -> int:
        """The place of a label, -1 for an abstention; a ValueError names the labels there are."""
        if label is None:
            return MISSING
        wanted = label.strip().casefold()
        for place, known in enumerate(self.labels):
            if known.strip().casefold() == wanted:
                return place
        if wanted in self.abstaining:
            return MISSING
        raise ValueError(f'"{label}" is none of the labels {", ".join(self.labels)}')

    def numbers(self) -> FloatArray:
        """A number an option; for mere names any will do."""
        return np.asarray(range(len(self.labels)) if self.values is None else self.values, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """What was said of one criterion, a code a row: the place of an option, -1 an abstention, -2 nothing.

    `items` says which rows are of one item. `panel_values` are the panel's numbers before snapping to an option,
    NaN where there is none.
    """

    name: str
    scale: Scale
    items: IntArray
    judges: Mapping[str, IntArray]
    truth: IntArray
    panel: IntArray | None = None
    panel_values: FloatArray | None = None
    people: Mapping[str, IntArray] = field(default_factory=dict)

    def raters(self) -> dict[str, IntArray]:
        """The panel, where there is one, and every judge."""
        return {**({} if self.panel is None else {PANEL: self.panel}), **self.judges}

    def pairs(self, codes: IntArray) -> Pairs:
        """A rater beside the truth, where neither is missing or abstained."""
        rows = (self.truth != ABSENT) & (codes != ABSENT)
        return assessed(self.truth[rows], codes[rows], len(self.scale.labels), self.items[rows])

    def ratings(self, codes: Mapping[str, IntArray]) -> Ratings:
        """Several raters side by side."""
        columns = [np.maximum(each, MISSING) for each in codes.values()]
        table = np.column_stack(columns) if columns else np.zeros((len(self.items), 0), dtype=np.int64)
        return Ratings(codes=table, values=self.scale.numbers(), clusters=self.items)


def agreed_truth(people: Mapping[str, IntArray], scale: Scale, rows: int) -> IntArray:
    """What most people say of each row: nothing where they tie, an abstention where all who spoke abstained.

    >>> scale = Scale(kind="nominal", labels=("a", "b"))
    >>> agreed_truth({"x": np.array([0, 0, -1]), "y": np.array([0, 1, -1])}, scale, 3).tolist()
    [0, -2, -1]
    """
    if not people:
        return np.full(rows, ABSENT, dtype=np.int64)
    table = np.column_stack(list(people.values()))
    most = Ratings(codes=np.maximum(table, MISSING), values=scale.numbers()).majority()
    nobody = table.max(axis=1) < 0
    spoke = (table == MISSING).any(axis=1)
    return np.where(most >= 0, most, np.where(nobody & spoke, MISSING, ABSENT))


@dataclass(frozen=True, slots=True)
class _Measure:
    """What all numbers share: the seed of their intervals and the level."""

    seed: int
    level: float

    def rng(self, *address: str) -> np.random.Generator:
        return generator(self.seed, "/".join(("agreement", *address)))


def agreement(
    criteria: Sequence[Votes],
    *,
    scores: Mapping[str, Values] | None = None,
    notes: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> MetricsResult:
    """The agreement on every criterion and over all of them; the same votes and seed give the same intervals."""
    measure = _Measure(seed, level)
    overall: dict[str, dict[str, MetricValue]] = {}
    defined: dict[str, dict[str, int]] = {}
    compared = [each for each in criteria if (each.truth != ABSENT).any()]
    for name in dict.fromkeys(rater for each in compared for rater in each.raters()):
        overall[name], defined[name] = _overall(compared, name, measure)
    return MetricsResult(
        criteria=tuple(_criterion(each, measure) for each in criteria),
        overall=overall,
        defined=defined,
        between=_between_overall(criteria, measure),
        scores=dict(scores or {}),
        notes=tuple(notes),
    )


def _criterion(votes: Votes, measure: _Measure) -> CriterionAgreement:
    known = votes.truth != ABSENT
    raters = votes.raters() if known.any() else {}
    ceilings = {}
    if len(votes.people) > 1:
        people = votes.ratings(votes.people)
        for name, codes in votes.raters().items():
            rng = measure.rng(votes.name, name, "ceiling")
            ceilings[name] = human_ceiling(people, np.maximum(codes, MISSING), rng=rng, level=measure.level)
    return CriterionAgreement(
        name=votes.name,
        kind=votes.scale.kind,
        labels=votes.scale.labels,
        n_items=len(np.unique(votes.items)),
        n_without_truth=int((~known).sum()),
        judges={name: _against(votes, name, codes, measure) for name, codes in raters.items()},
        between=_between(votes, votes.judges, measure),
        people=_between(votes, votes.people, measure),
        ceilings=ceilings,
    )


def _against(votes: Votes, name: str, codes: IntArray, measure: _Measure) -> AgainstTruth:
    pairs, level = votes.pairs(codes), measure.level
    rows = (votes.truth != ABSENT) & (codes != ABSENT)
    per_option = {}
    for place, label in enumerate(votes.scale.labels):
        found = one_class(pairs, place, level=level)
        per_option[label] = dict(zip(("precision", "recall", "f1"), found, strict=True))
    return AgainstTruth(
        values=_discrete(votes, name, pairs, measure) | _continuous(votes, name, codes, measure),
        per_option=per_option,
        confusion=tuple(tuple(int(n) for n in row) for row in pairs.confusion()),
        abstentions=abstentions(
            votes.truth[rows],
            codes[rows],
            votes.items[rows],
            rng=measure.rng(votes.name, name, "abstentions"),
            level=level,
        ),
        n_failed=int(((votes.truth != ABSENT) & (codes == ABSENT)).sum()),
    )


def _discrete(votes: Votes, name: str, pairs: Pairs, measure: _Measure) -> dict[str, MetricValue]:
    """Numbers of the options that were chosen."""
    scale, level = votes.scale, measure.level
    values = {"accuracy": accuracy(pairs, level=level)}
    if scale.kind == "binary":
        found = binary(pairs, level=level)
        values |= {"precision": found["precision"], "recall": found["recall"], "f1": found["f1_score"]}
    if scale.kind == "ordinal":
        values["adjacent_accuracy"] = adjacent_accuracy(pairs, scale.numbers(), level=level)
    for key, weighting in _KAPPAS.items():
        if weighting == "none" or scale.values is not None:
            rng = measure.rng(votes.name, name, key)
            values[key] = cohens_kappa(pairs, scale.numbers(), weighting, rng=rng, level=level)
    return values


def _continuous(votes: Votes, name: str, codes: IntArray, measure: _Measure) -> dict[str, MetricValue]:
    """Numbers of the options' values; the panel's are those before snapping."""
    if votes.scale.values is None:
        return {}
    values, level = votes.scale.numbers(), measure.level
    both = (votes.truth >= 0) & (codes >= 0)
    said, truth, items = values[codes[both]], values[votes.truth[both]], votes.items[both]
    if name == PANEL and votes.panel_values is not None:
        said = votes.panel_values[both]
    rng, bounds = measure.rng(votes.name, name, "errors"), (float(values.min()), float(values.max()))
    errors = errors_between(said, truth, items, rng=rng, bounds=bounds, level=level)
    found = {"bias": errors.bias, "mae": errors.mae, "rmse": errors.rmse}
    return found | {kind: correlation(said, truth, kind, items, level=level) for kind in CORRELATIONS}


def _between(votes: Votes, raters: Mapping[str, IntArray], measure: _Measure) -> Between | None:
    if len(raters) < 2:
        return None
    ratings, level, names = votes.ratings(raters), measure.level, tuple(raters)
    valued = votes.scale.values is not None

    def rng(key: str) -> np.random.Generator:
        return measure.rng(votes.name, *names, key)

    values = {"agreement": panel_agreement(ratings, level=level)}
    for scale in _ALPHAS if valued else _ALPHAS[:1]:
        values[f"alpha_{scale}"] = krippendorffs_alpha(ratings, scale, rng=rng(f"alpha_{scale}"), level=level)
    values["fleiss_kappa"] = fleiss_kappa(ratings, rng=rng("fleiss"), level=level)
    values["ac1"] = gwets_ac(ratings, rng=rng("ac1"), level=level)
    if valued:
        values["ac2"] = gwets_ac(ratings, "quadratic", rng=rng("ac2"), level=level)
    pairs: dict[tuple[str, str], dict[str, MetricValue]] = {}
    for key, weighting in _KAPPAS.items():
        if weighting == "none" or valued:
            for found in pairwise_kappas(ratings, weighting, rng=rng(key), level=level):
                pairs.setdefault((names[found.first], names[found.second]), {})[key] = found.value
    return Between(raters=names, values=values, pairs=pairs)


def _overall(criteria: Sequence[Votes], name: str, measure: _Measure) -> tuple[dict[str, MetricValue], dict[str, int]]:
    """Pooled accuracy, the means over criteria, and over how many each is taken."""
    there = [(each, each.pairs(each.raters()[name])) for each in criteria if name in each.raters()]
    found = {"micro_accuracy": micro_accuracy([pairs for _, pairs in there], level=measure.level)}
    sums: dict[str, list[Additive]] = {"macro_accuracy": [accuracy_sums(pairs) for _, pairs in there]}
    for key, weighting in _KAPPAS.items():
        sums[f"macro_{key}"] = [
            kappa_sums(pairs, each.scale.numbers(), weighting)
            for each, pairs in there
            if weighting == "none" or each.scale.values is not None
        ]
    defined = {}
    for key, parts in sums.items():
        mean = macro(parts, rng=measure.rng("overall", name, key), level=measure.level)
        if parts:
            found[key], defined[key] = mean.value, mean.defined
    return found, defined


def _between_overall(criteria: Sequence[Votes], measure: _Measure) -> dict[str, MetricValue]:
    tables = [each.ratings(each.judges) for each in criteria if len(each.judges) > 1]
    if not tables:
        return {}
    sums = {
        "alpha_nominal": [alpha_sums(table) for table in tables],
        "fleiss_kappa": [fleiss_sums(table) for table in tables],
        "ac1": [gwet_sums(table) for table in tables],
    }
    return {
        key: macro(parts, rng=measure.rng("between", key), level=measure.level).value for key, parts in sums.items()
    }

"""Compute agreement from votes: with the ground truth, between judges, between people, per criterion and overall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from assay.analysis.panels import (
    Totals,
    given_to_all,
    redundant,
    together,
    together_on_totals,
    unsteadiness,
    without_each,
)
from assay.analysis.scale import ABSENT, MOST_RATERS, Intervals, Votes
from assay.results.agreement import PANEL, AgainstTruth, AgreementResult, Between, CriterionAgreement, Values
from assay.stats.abstention import abstentions
from assay.stats.additive_stats import Additive, macro
from assay.stats.alpha import Scale as AlphaScale
from assay.stats.alpha import alpha_sums, krippendorffs_alpha
from assay.stats.classification import Pairs, accuracy, binary, one_class
from assay.stats.clusters import IntArray
from assay.stats.correlation import Name, correlation
from assay.stats.errors_between import adjacent_accuracy, errors_between
from assay.stats.fleiss import fleiss_kappa, fleiss_sums, gwet_sums, gwets_ac
from assay.stats.human_ceiling import human_ceiling
from assay.stats.kappa import Weighting, cohens_kappa, kappa_sums
from assay.stats.micro_macro import accuracy_sums, micro_accuracy
from assay.stats.panel import pairwise_kappas, panel_agreement
from assay.stats.ratings import MISSING
from assay.types import MetricValue

_KAPPAS: dict[str, Weighting] = {"kappa": "none", "kappa_linear": "linear", "kappa_quadratic": "quadratic"}
CORRELATIONS: tuple[Name, ...] = ("spearman", "kendall", "pearson")
DEFAULT = Intervals()
_ALPHAS: tuple[AlphaScale, ...] = ("nominal", "ordinal", "interval")


def agreement(
    criteria: Sequence[Votes],
    *,
    scores: Mapping[str, Values] | None = None,
    totals: Totals | None = None,
    notes: Sequence[str] = (),
    measure: Intervals = DEFAULT,
    on_criterion: Callable[[str], None] = lambda _name: None,
) -> AgreementResult:
    """Compute the agreement on every criterion and overall; the same votes and seed give the same intervals.

    `scores` compares total scores with those of the truth; `totals` holds what each judge alone would give.
    `on_criterion` is told the name of every criterion before its numbers are computed.
    """
    by_criterion = []
    for votes in criteria:
        on_criterion(votes.name)
        by_criterion.append(_criterion(votes, measure))
    on_criterion("all criteria")
    overall: dict[str, dict[str, MetricValue]] = {}
    defined: dict[str, dict[str, int]] = {}
    compared = [votes for votes in criteria if (votes.truth != ABSENT).any()]
    for name in dict.fromkeys(rater for votes in compared for rater in votes.raters()):
        overall[name], defined[name] = _overall(compared, name, measure)
    return AgreementResult(
        criteria=tuple(by_criterion),
        overall=overall,
        defined=defined,
        between=_between_overall(criteria, measure),
        scores=dict(scores or {}),
        totals={} if totals is None else together_on_totals(totals, measure),
        redundant=redundant(criteria, measure),
        notes=(*notes, *_without_intervals(criteria, measure)),
    )


def _without_intervals(criteria: Sequence[Votes], measure: Intervals) -> Iterator[str]:
    most = max((len(raters) for votes in criteria for raters in (votes.judges, votes.people)), default=0)
    if not measure.covers_pairs(most):
        yield (
            f"{most} raters: the kappas of two raters and the alphas of the others have no intervals above "
            f"{MOST_RATERS} raters; --pair-intervals computes them, which takes long"
        )


def _criterion(votes: Votes, measure: Intervals) -> CriterionAgreement:
    labelled = votes.truth != ABSENT
    raters = votes.raters() if labelled.any() else {}
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
        n_without_truth=int((~labelled).sum()),
        judges={name: _against(votes, name, codes, measure) for name, codes in raters.items()},
        between=_between(votes, votes.judges, measure),
        people=_between(votes, votes.people, measure),
        ceilings=ceilings,
        noise=unsteadiness(votes, measure),
        given_to_all=given_to_all(votes),
    )


def _against(votes: Votes, name: str, codes: IntArray, measure: Intervals) -> AgainstTruth:
    pairs, level = votes.pairs(codes), measure.level
    rows = (votes.truth != ABSENT) & (codes != ABSENT)
    per_option = {}
    for place, label in enumerate(votes.scale.labels):
        numbers = one_class(pairs, place, level=level)
        per_option[label] = dict(zip(("precision", "recall", "f1"), numbers, strict=True))
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


def _discrete(votes: Votes, name: str, pairs: Pairs, measure: Intervals) -> dict[str, MetricValue]:
    """Numbers of the options that were chosen."""
    scale, level = votes.scale, measure.level
    values = {"accuracy": accuracy(pairs, level=level)}
    if scale.kind == "binary":
        numbers = binary(pairs, level=level)
        values |= {"precision": numbers["precision"], "recall": numbers["recall"], "f1": numbers["f1_score"]}
    if scale.kind == "ordinal":
        values["adjacent_accuracy"] = adjacent_accuracy(pairs, scale.numbers(), level=level)
    for key, weighting in _KAPPAS.items():
        if weighting == "none" or scale.values is not None:
            rng = measure.rng(votes.name, name, key)
            values[key] = cohens_kappa(pairs, scale.numbers(), weighting, rng=rng, level=level)
    return values


def _continuous(votes: Votes, name: str, codes: IntArray, measure: Intervals) -> dict[str, MetricValue]:
    """Numbers of the options' values; the panel's are those before snapping."""
    if votes.scale.values is None:
        return {}
    values, level = votes.scale.numbers(), measure.level
    both = (votes.truth >= 0) & (codes >= 0)
    predicted, truth, items = values[codes[both]], values[votes.truth[both]], votes.items[both]
    if name == PANEL and votes.panel_values is not None:
        predicted = votes.panel_values[both]
    rng, bounds = measure.rng(votes.name, name, "errors"), (float(values.min()), float(values.max()))
    errors = errors_between(predicted, truth, items, rng=rng, bounds=bounds, level=level)
    numbers = {"bias": errors.bias, "mae": errors.mae, "rmse": errors.rmse}
    return numbers | {kind: correlation(predicted, truth, kind, items, level=level) for kind in CORRELATIONS}


def _between(votes: Votes, raters: Mapping[str, IntArray], measure: Intervals) -> Between | None:
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
    values |= together(votes, raters, measure)
    pairs: dict[tuple[str, str], dict[str, MetricValue]] = {}
    for key, weighting in _KAPPAS.items():
        if weighting == "none" or valued:
            random = rng(key) if measure.covers_pairs(len(names)) else None
            for pair in pairwise_kappas(ratings, weighting, rng=random, level=level):
                pairs.setdefault((names[pair.first], names[pair.second]), {})[key] = pair.value
    without = without_each(votes, raters, "ordinal" if votes.scale.kind == "ordinal" else "nominal", measure)
    return Between(raters=names, values=values, pairs=pairs, without=without)


def _overall(criteria: Sequence[Votes], name: str, measure: Intervals) -> tuple[dict[str, MetricValue], dict[str, int]]:
    """Pooled accuracy, the means over criteria, and over how many each is taken."""
    rated = [(votes, votes.pairs(votes.raters()[name])) for votes in criteria if name in votes.raters()]
    values = {"micro_accuracy": micro_accuracy([pairs for _, pairs in rated], level=measure.level)}
    sums: dict[str, list[Additive]] = {"macro_accuracy": [accuracy_sums(pairs) for _, pairs in rated]}
    for key, weighting in _KAPPAS.items():
        sums[f"macro_{key}"] = [
            kappa_sums(pairs, votes.scale.numbers(), weighting)
            for votes, pairs in rated
            if weighting == "none" or votes.scale.values is not None
        ]
    defined = {}
    for key, parts in sums.items():
        mean = macro(parts, rng=measure.rng("overall", name, key), level=measure.level)
        if parts:
            values[key], defined[key] = mean.value, mean.defined
    return values, defined


def _between_overall(criteria: Sequence[Votes], measure: Intervals) -> dict[str, MetricValue]:
    tables = [votes.ratings(votes.judges) for votes in criteria if len(votes.judges) > 1]
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

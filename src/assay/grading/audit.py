"""An audit of judges: four probes on the engine and the store of every other run, planned before anything is paid."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from assay.errors import SpecError
from assay.grading.config import EvalConfig, JudgeSpec
from assay.grading.dataset import RubricDataset
from assay.grading.evaluate import EvalRunner
from assay.grading.grader import CriterionGrader
from assay.grading.judge_models import here
from assay.grading.probes import (
    NO_OPTIONS,
    changed,
    injected,
    noise_probe,
    padded,
    position_probe,
    score_probe,
    with_options_only,
)
from assay.grading.results import EvalResult
from assay.judging.aggregation import RubricWarning
from assay.judging.reports import EnsembleEvaluationReport
from assay.results.audit import AuditPlan, AuditResult, Probe, ProbeName
from assay.results.estimate import Estimate
from assay.runner.progress import Listener, silent
from assay.scorers.rubric import JudgeSettings, RubricScorer
from assay.spec.arguments import keywords_named
from assay.store.store import default_location, open_store

PROBES: tuple[ProbeName, ...] = get_args(ProbeName)
LONGEST_REASON = 200
_FROM_SCORER = (
    "aggregation",
    "ordinal_aggregation",
    "nominal_aggregation",
    "auto_na_option",
    "cannot_assess",
    "partial_credit",
    "min_votes",
    "min_coverage",
    "score_value",
    "on_failed_criterion",
    "llm_calls",
)
"""The scorer settings of a task that apply to its audit; the probes set orders and repeats themselves."""


@keywords_named
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """The probes to run, their thresholds, and the options of the calls.

    `threshold` is the largest effect of position, length or instructions that is allowed, `max_noise` the largest
    share of verdicts that may change. `scorer` is the rubric scorer of a task whose judges are audited: they are asked,
    and their verdicts become scores, as it says. An audit that is only `planned` needs no keys.
    """

    probes: Sequence[ProbeName] = PROBES
    threshold: float = 0.05
    max_noise: float = 0.1
    level: float = 0.95
    seed: int | None = None
    store: str | None = None
    max_cost: Decimal | None = None
    max_concurrency: int | None = None
    fresh: bool = False
    scorer: RubricScorer | None = None
    planned: bool = False

    def __post_init__(self) -> None:
        unknown = [name for name in self.probes if name not in PROBES]
        if unknown or not self.probes:
            raise SpecError(f"the probes are {', '.join(PROBES)}, not {', '.join(unknown) or 'none'}")
        for name in ("threshold", "max_noise"):
            if not 0 < getattr(self, name) < 1:
                raise SpecError(f"{name} must be between 0 and 1, not {getattr(self, name):g}")


@dataclass(frozen=True, slots=True)
class _Part:
    """One run of an audit: its texts, how judges see them, and the indices of its items in the whole audit."""

    dataset: RubricDataset
    grader: CriterionGrader
    numbers: Sequence[int]


@keywords_named
class Audit:
    """Asks judges about texts as they are, again, padded, with instructions in them, and with options turned round.

    Every reply is kept: an audit that was stopped goes on where it stopped, and one that is made again is free.
    """

    def __init__(
        self,
        target: str,
        dataset: RubricDataset,
        judges: Sequence[JudgeSpec | JudgeSettings],
        options: AuditOptions | None = None,
    ) -> None:
        if not len(dataset):
            raise SpecError("there are no texts to audit judges with")
        self._target = target
        self._dataset = dataset
        self._options = options or AuditOptions()
        scorer = self._options.scorer
        with warnings.catch_warnings():
            # every judge is audited by itself: ties of the panel do not matter
            warnings.simplefilter("ignore", RubricWarning)
            grader = CriterionGrader(judges=judges, planned=self._options.planned)
            if scorer is not None:
                grader = grader.changed(**{name: getattr(scorer, name) for name in _FROM_SCORER})
            self._parts = self._graded_parts(grader)
        self._judges = [judge.id for judge in grader.judges]

    def plan(self) -> AuditPlan:
        """Estimate the calls and cost of the audit without asking anyone."""
        if not self._options.planned:
            # the audit writes there, so that an older store is migrated before it is read
            open_store(self._options.store or default_location(here())).close()
        return audit_plan(len(self._dataset), [self._runner(name).plan_sync() for name in self._parts])

    def run(self, plan: AuditPlan, listener: Listener = silent) -> AuditResult:
        """Make the probes; what was asked before is taken from the store."""
        results: dict[str, EvalResult] = {}
        left = self._options.max_cost
        for name in self._parts:
            results[name] = self._runner(name, max_cost=left, listener=listener).run_sync()
            if left is not None:
                left = max(left - (results[name].cost_usd or Decimal(0)), Decimal(0))
        reports: dict[str, dict[int, EnsembleEvaluationReport]] = {}
        for name, result in results.items():
            # a part may grade only some of the items: reports are kept by their numbers in the whole dataset
            numbers = self._parts[name].numbers
            reports[name] = {
                numbers[item_result.item_idx]: item_result.graded
                for item_result in result.item_results
                if item_result.graded is not None
            }
        costs = [result.cost_usd for result in results.values()]
        partial = any(result.status == "partial" for result in results.values())
        judges = {judge: self._probes(judge, reports) for judge in self._judges}
        warning_texts = dict.fromkeys(note for result in results.values() for note in result.warnings)
        lost = [f"{name}: {note}" for name, result in results.items() for note in _lost(result)]
        return AuditResult(
            target=self._target,
            n_items=len(self._dataset),
            judges=judges,
            plan=plan,
            runs={name: result.run for name, result in results.items()},
            cost_usd=None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0)),
            status="partial" if partial else "failed" if (warning_texts or lost) and no_effect(judges) else "completed",
            notes=(
                *warning_texts,
                *lost,
                *(["the spending limit was reached: these are the texts asked so far"] if partial else []),
            ),
        )

    def _graded_parts(self, grader: CriterionGrader) -> dict[str, _Part]:
        """The runs that the probes need; the texts as they are serve three of them."""
        probes, everything = self._options.probes, range(len(self._dataset))
        parts: dict[str, _Part] = {}
        if set(probes) - {"position"}:
            plain = grader.changed(shuffle=False, repeats=2 if "noise" in probes else 1)
            parts["plain"] = _Part(self._dataset, plain, everything)
        for name, change in (("verbosity", padded), ("injection", injected)):
            if name in probes:
                parts[name] = _Part(changed(self._dataset, change), grader.changed(shuffle=False), everything)
        turned = with_options_only(self._dataset) if "position" in probes else None
        if turned is not None:
            both = grader.changed(shuffle="both_orders", seed=self._options.seed)
            parts["position"] = _Part(turned[0], both, turned[1])
        return parts

    def _runner(self, name: str, *, max_cost: Decimal | None = None, listener: Listener = silent) -> EvalRunner:
        part, options = self._parts[name], self._options
        config = EvalConfig(
            show_progress=False,
            store=options.store,
            experiment_name=f"audit:{self._target}:{name}",
            max_concurrency=options.max_concurrency,
            max_cost=max_cost,
            fresh=options.fresh,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RubricWarning)
            return EvalRunner(part.dataset, part.grader, config, listener=listener, kind="audit")

    def _probes(
        self, judge: str, reports: Mapping[str, Mapping[int, EnsembleEvaluationReport]]
    ) -> dict[ProbeName, Probe]:
        options = self._options
        config = next(iter(self._parts.values())).grader.config
        probes: dict[ProbeName, Probe] = {}
        for name in PROBES:
            if name not in options.probes:
                continue
            if name == "position" and name not in reports:
                probes[name] = Probe(finding=None, note=NO_OPTIONS)
            elif name == "position":
                probes[name] = position_probe(reports[name], judge, options.threshold, level=options.level)
            elif name == "noise":
                probes[name] = noise_probe(reports["plain"], judge, options.max_noise, config, level=options.level)
            else:
                both = (reports["plain"], reports[name])
                probes[name] = score_probe(*both, judge, options.threshold, config, level=options.level)
        return probes


def _lost(result: EvalResult) -> list[str]:
    """A sentence about the texts that no judge could be asked about, with the reason of the first."""
    if not result.errors:
        return []
    (_, reason), *_ = result.errors
    return [f"{result.failed_items:,} of {result.total_items:,} texts could not be judged: {shortened(reason)}"]


def shortened(reason: str) -> str:
    """A reason that fits into a note."""
    return reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}..."


def no_effect(judges: Mapping[str, Mapping[ProbeName, Probe]]) -> bool:
    """Return whether there is no effect to report."""
    findings = [probe.finding for probes in judges.values() for probe in probes.values() if probe.finding is not None]
    return all(finding.effect.value is None for finding in findings)


def audit_plan(n_items: int, plans: Sequence[Estimate]) -> AuditPlan:
    """The calls and costs of the runs of an audit, added up."""
    costs = [plan.cost_usd for plan in plans if plan.models]
    priced = [cost for cost in costs if cost is not None]
    low, expected, high = (sum((cost[end] for cost in priced), Decimal(0)) for end in range(3))
    return AuditPlan(
        n_items=n_items,
        calls=sum(model.calls for plan in plans for model in plan.models),
        cached=sum(model.cached for plan in plans for model in plan.models),
        cost_usd=(low, expected, high) if len(priced) == len(costs) else None,
    )

"""Improving a rubric: grade it, revise it, keep what is better."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson

from assay.errors import RunError, SpecError
from assay.grading.dataset import RubricDataset
from assay.grading.evaluate import EvalRunner
from assay.grading.grader import CriterionGrader
from assay.grading.improvement import (
    CriterionErrorReport,
    HeldOutValidationResult,
    ImprovementConfig,
    ImprovementResult,
    IssueDetail,
    IterationResult,
)
from assay.grading.judge_models import Clients, here
from assay.grading.labels import labels_of, option_word
from assay.grading.meta_rubric import flaws, grade_rubric
from assay.grading.results import EvalResult
from assay.grading.revision import REVISER, Brief, revise
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.question import fenced
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport, TokenUsage, mean_of
from assay.judging.rubric import Rubric

STUCK = 3
"""The number of consecutive rejections after which improvement stops."""
MOST_SHOWN = 1_500
"""Characters of a submission that the reviser is shown."""
FEWEST_TO_SPLIT = 4
"""With fewer labelled items than this, a held-out part is too small to decide by."""
_TINY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One verdict with its human label."""

    item: int
    criterion: int
    text: str
    label: str
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assessment:
    """The quality of one version of a rubric; `problem` explains why it could not be measured."""

    quality: float | None = None
    agreement: float | None = None
    per_criterion: dict[str, float] | None = None
    issues: list[IssueDetail] = field(default_factory=list)
    evidence: str = ""
    report: EnsembleEvaluationReport | None = None
    held_out: HeldOutValidationResult | None = None
    problem: str | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    costs: tuple[Decimal | float | None, ...] = ()


class Improvement:
    """The improvement of one rubric through its versions."""

    def __init__(self, rubric: Rubric, task_prompt: str | None, config: ImprovementConfig) -> None:
        self._original, self._task, self._config = rubric, task_prompt, config
        _check(rubric, task_prompt, config)
        self._labelled = _is_labelled(config.validation_data)
        self._shown = _shown_items(config.validation_data) if self._labelled else frozenset()
        self._grader = CriterionGrader(judges=config.panel, seed=0)
        self._reviser = Clients({REVISER: config.revision_llm.endpoint})
        _require_prices(config, self._grader.clients, self._reviser)
        self._costs: list[Decimal | float | None] = []

    async def run(self) -> ImprovementResult:
        """Every version until one is good enough, or nothing gets better any more."""
        config = self._config
        first = await self._assess(self._original)
        if first.problem is not None or first.quality is None:
            raise RunError(f"the rubric could not be graded: {first.problem}")
        iterations = [self._iteration(0, self._original, first, previous=None)]
        current, evidence = iterations[0], first.evidence
        flat = rejected = 0
        reason = self._reason(current, iterations, flat, rejected)
        while reason is None:
            brief = Brief(
                rubric=current.rubric,
                issues=current.issues,
                task_prompt=self._task,
                evidence=evidence,
                history=iterations,
                labelled=self._labelled,
            )
            revision = await revise(self._reviser, brief, config)
            self._costs.append(revision.cost_usd)
            number = len(iterations)
            if revision.rubric is None:
                version = _invalid(number, current, f"invalid revision: {revision.problem}", revision.cost_usd)
            else:
                assessed = await self._assess(revision.rubric)
                costs = (*assessed.costs, revision.cost_usd)
                assessed = replace(assessed, usage=assessed.usage + TokenUsage.of(revision.usage), costs=costs)
                version = self._iteration(number, revision.rubric, assessed, previous=current)
            iterations.append(version)
            rejected = 0 if version.accepted else rejected + 1
            if version.accepted:
                gained = version.quality_score - current.quality_score
                flat = flat + 1 if gained < config.score_plateau_threshold else 0
                current, evidence = version, assessed.evidence
            reason = self._reason(version, iterations, flat, rejected)
        return self._result(iterations, reason)

    def _iteration(
        self, number: int, rubric: Rubric, assessed: _Assessment, *, previous: IterationResult | None
    ) -> IterationResult:
        """Build the record of a version, accepted or rejected in comparison with the previous one."""
        if assessed.quality is None and previous is not None:
            ungraded = f"the revision could not be graded: {assessed.problem}"
            return replace(_invalid(number, previous, ungraded, _total(assessed.costs)), rubric=rubric)
        assert assessed.quality is not None
        names = [issue.criterion_name for issue in assessed.issues]
        before = [] if previous is None else [issue.criterion_name for issue in previous.issues]
        rejection = None if previous is None else self._rejection(assessed, previous)
        version = IterationResult(
            iteration=number,
            rubric=rubric,
            quality_score=assessed.quality,
            agreement=assessed.agreement,
            per_criterion_agreement=assessed.per_criterion,
            issues=assessed.issues,
            issues_fixed=[name for name in before if name not in names],
            issues_introduced=[name for name in names if name not in before] if previous is not None else [],
            accepted=rejection is None,
            rejection_reason=rejection,
            quality_report=assessed.report,
            token_usage=assessed.usage,
            completion_cost=_total(assessed.costs),
            held_out_diagnostics=assessed.held_out,
        )
        if self._config.show_progress:
            print(iteration_line(version), file=sys.stderr)
        return version

    def _rejection(self, assessed: _Assessment, previous: IterationResult) -> str | None:
        """Return why a version may not replace the previous one."""
        assert assessed.quality is not None
        both = assessed.agreement is not None and previous.agreement is not None
        if self._config.reject_agreement_regression and previous.agreement is not None:
            if assessed.agreement is None:
                return "the agreement on the validation data could not be measured"
            if both and assessed.agreement < previous.agreement - _TINY:
                return f"agreement fell from {previous.agreement:.3f} to {assessed.agreement:.3f}"
        if self._config.strategy == "meta_rubric" and assessed.quality < previous.quality_score - _TINY:
            return f"quality fell from {previous.quality_score:.3f} to {assessed.quality:.3f}"
        return None

    def _reason(
        self, version: IterationResult, iterations: list[IterationResult], flat: int, rejected: int
    ) -> str | None:
        """Return why to stop after a version; None to continue."""
        config = self._config
        self._save(iterations, None)
        spent = _total(self._costs)
        over = config.max_total_cost is not None and spent is not None and spent >= config.max_total_cost
        if config.convergence_fn is not None:
            # a reason of the user's takes the place of all others, but never lets the money run out
            return config.convergence_fn(version, iterations) or ("cost_limit" if over else None)
        tests = {
            "no_issues": version.accepted and not version.issues,
            "thresholds_met": version.accepted and self._good_enough(version),
            "max_iterations": len(iterations) >= config.max_iterations,
            "score_plateau": flat >= config.plateau_patience,
            "pareto_stuck": rejected >= STUCK,
            "cost_limit": over,
        }
        return next((name for name, holds in tests.items() if holds), None)

    def _good_enough(self, version: IterationResult) -> bool:
        config = self._config
        if config.strategy == "held_out":
            return version.quality_score >= config.held_out_min_accuracy
        agreed = version.agreement is not None and version.agreement >= config.min_agreement
        return version.quality_score >= config.min_quality_score and (agreed or config.validation_data is None)

    async def _assess(self, rubric: Rubric) -> _Assessment:
        """Grade a version: by the meta-rubric, on the validation data, or both."""
        config = self._config
        report: EnsembleEvaluationReport | None = None
        validated = _Assessment()
        if config.strategy == "meta_rubric":
            task = self._task if config.mode == "in_context" else None
            report = await grade_rubric(rubric, config.panel, task)
            self._costs.append(report.completion_cost)
            if report.score is None:
                return _Assessment(problem=report.error or report.reason, costs=(report.completion_cost,))
        if config.validation_data is not None:
            validated = await self._validate(rubric, config.validation_data)
        if report is None:
            return replace(validated, quality=validated.agreement)
        issues = [_issue(flaw) for flaw in flaws(report)]
        usage = (report.token_usage or TokenUsage()) + validated.usage
        costs = (*validated.costs, report.completion_cost)
        return replace(validated, quality=report.score, issues=issues, report=report, usage=usage, costs=costs)

    async def _validate(self, rubric: Rubric, data: RubricDataset) -> _Assessment:
        """Grade the validation data with a version: agreement with labels, or between judges without labels."""
        items = [replace(item, ground_truth=None, annotators=None, ground_truth_reasons=None) for item in data]
        copy = RubricDataset(data.prompt or self._task, rubric, items, data.name, data.reference_submission)
        # steps of an improvement are kept, so that nothing is paid for twice, and are nobody's latest run
        result = await EvalRunner(copy, self._grader, kind="audit").run()
        self._costs.append(result.total_completion_cost)
        usage, costs = result.total_token_usage or TokenUsage(), (result.total_completion_cost,)
        if not self._labelled:
            agreement, by_name = _between_judges(result, rubric)
            problem = None if agreement is not None else "no item was judged by two judges"
            return _Assessment(agreement=agreement, per_criterion=by_name, problem=problem, usage=usage, costs=costs)
        cases = list(_cases(result, data, rubric, self._config.cannot_assess))
        shown_cases = [case for case in cases if case.item in self._shown]
        held_out = [case for case in cases if case.item not in self._shown] if self._shown else cases
        by_criterion = {
            number: _accuracy([case for case in held_out if case.criterion == number]) for number in range(len(rubric))
        }
        agreement = mean_of(list(by_criterion.values()))
        wrong = [case for case in (shown_cases or cases) if case.verdict != case.label]
        return _Assessment(
            agreement=agreement,
            per_criterion={rubric.names[n]: value for n, value in by_criterion.items() if value is not None},
            issues=_issues_of(wrong, shown_cases or cases, rubric),
            evidence=_evidence(wrong, rubric, self._config.max_exemplars_per_criterion),
            held_out=HeldOutValidationResult(
                mean_accuracy=agreement,
                per_criterion=[
                    CriterionErrorReport(
                        criterion_index=number,
                        criterion_name=rubric.names[number],
                        n_samples=sum(case.criterion == number for case in held_out),
                        accuracy=value,
                    )
                    for number, value in by_criterion.items()
                ],
                n_items=len({case.item for case in held_out}),
                n_shown=len({case.item for case in shown_cases}),
                total_cost=_total(costs),
            ),
            problem=None
            if agreement is not None
            else next((item.error for item in result.item_results if item.error), "no labelled item was judged"),
            usage=usage,
            costs=costs,
        )

    def _result(self, iterations: list[IterationResult], reason: str) -> ImprovementResult:
        accepted = [version for version in iterations if version.accepted]
        best = max(
            accepted, key=lambda v: (v.quality_score, -1.0 if v.agreement is None else v.agreement, -v.iteration)
        )
        result = ImprovementResult(
            original_rubric=self._original,
            final_rubric=accepted[-1].rubric,
            iterations=iterations,
            best_rubric=best.rubric,
            best_iteration=best.iteration,
            convergence_reason=reason,
            total_completion_cost=_total(self._costs),
        )
        self._save(iterations, result)
        return result

    @property
    def artifacts(self) -> Path | None:
        """The folder of the versions; None if none are written."""
        if not self._config.save_artifacts:
            return None
        if self._config.artifacts_dir is not None:
            return Path(self._config.artifacts_dir)
        digest = hashlib.sha256(orjson.dumps([self._original.content(), self._task, self._config.strategy])).hexdigest()
        return here() / ".assay" / "improvements" / digest[:12]

    def _save(self, iterations: Sequence[IterationResult], result: ImprovementResult | None) -> None:
        """Write every version immediately, so that a crash loses none."""
        folder = self.artifacts
        if folder is None:
            return
        if self._config.artifacts_dir is None:
            folder.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        iterations[-1].rubric.save(folder / f"version_{iterations[-1].iteration}.yaml")
        document: dict[str, Any] = {"iterations": [_summary(version) for version in iterations]}
        if result is not None:
            result.best_rubric.save(folder / "best.yaml")
            document["best_iteration"] = result.best_iteration
            document["convergence_reason"] = result.convergence_reason
            document["total_completion_cost"] = result.total_completion_cost
        (folder / "improvement.json").write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))


def iteration_line(version: IterationResult) -> str:
    """One version of a rubric in a line."""
    agreement = "" if version.agreement is None else f", agreement {version.agreement:.3f}"
    verdict = "accepted" if version.accepted else f"rejected: {version.rejection_reason}"
    issues = f"{len(version.issues)} {'issue' if len(version.issues) == 1 else 'issues'}"
    return f"version {version.iteration}: quality {version.quality_score:.3f}{agreement}, {issues}, {verdict}"


def _check(rubric: Rubric, task_prompt: str | None, config: ImprovementConfig) -> None:
    """Reject invalid inputs before anyone is asked."""
    data = config.validation_data
    if config.strategy == "meta_rubric" and config.mode == "in_context" and not (task_prompt or "").strip():
        raise SpecError('mode="in_context" needs a task prompt; mode="standalone" grades a rubric without one')
    if config.strategy == "held_out" and not _is_labelled(data):
        raise SpecError('strategy="held_out" needs validation_data with a ground truth')
    if data is None:
        return
    if not len(data):
        raise SpecError("the validation data has no items")
    for index in range(len(data)):
        item_rubric = data.get_item_rubric(index)
        if [_form(criterion) for criterion in item_rubric] != [_form(criterion) for criterion in rubric]:
            raise SpecError(f"item {index} of the validation data is labelled by another rubric")
    if not _is_labelled(data) and len(config.panel) < 2:
        raise SpecError(
            "validation data without a ground truth needs two judges or more: eval_llm=[JudgeSpec(...), ...]"
        )


def _form(criterion: Criterion) -> tuple[str, ...]:
    return tuple(option.label for option in criterion.choices)


def _is_labelled(data: RubricDataset | None) -> bool:
    return data is not None and any(item.ground_truth is not None or item.annotators for item in data)


def _shown_items(data: RubricDataset | None) -> frozenset[int]:
    """The labelled items from which the reviser learns: half of each combination of labels; the rest decides."""
    assert data is not None
    labelled = [index for index, item in enumerate(data) if item.ground_truth is not None or item.annotators]
    # by a digest of the content and not by position: datasets are often sorted by their labels
    digests = {index: hashlib.sha256(data[index].submission.encode()).hexdigest() for index in labelled}
    labelled.sort(key=lambda index: (str(labels_of(data, index)), digests[index]))
    return frozenset(labelled[::2] if len(labelled) >= FEWEST_TO_SPLIT else ())


def _require_prices(config: ImprovementConfig, *clients: Clients) -> None:
    if config.max_total_cost is None:
        return
    for client in clients:
        for connection in client.connections.values():
            if connection.prices is None:
                raise SpecError(f"max_total_cost needs the price of every model, and {connection.name} has none")


def _cases(result: EvalResult, data: RubricDataset, rubric: Rubric, unsure: str) -> list[_Case]:
    """Return every verdict on a labelled criterion; abstentions are excluded, a class of their own, or UNMET."""
    cases: list[_Case] = []
    for item in result.item_results:
        labels = labels_of(data, item.item_idx)
        if item.graded is None or labels is None:
            continue
        for number, (criterion_report, label) in enumerate(zip(item.graded.criteria, labels, strict=True)):
            if criterion_report.error is not None:
                continue
            criterion = rubric.criteria[number]
            verdict = _counted(option_word(criterion_report.criterion, criterion_report.verdict), criterion, unsure)
            human_label = _counted(label, criterion, unsure)
            if verdict is not None and human_label is not None:
                case = _Case(
                    item=item.item_idx,
                    criterion=number,
                    text=data[item.item_idx].submission,
                    label=human_label,
                    verdict=verdict,
                    reason=criterion_report.reason or "",
                )
                cases.append(case)
    return cases


def _counted(word: str | None, criterion: Criterion, unsure: str) -> str | None:
    """A verdict or a label, with an abstention as `unsure` counts it; None leaves the pair out."""
    if word is not None or unsure == "exclude":
        return word
    if unsure == "as_category":
        return CriterionVerdict.CANNOT_ASSESS.value
    return CriterionVerdict.UNMET.value if criterion.is_binary else None


def _accuracy(cases: Sequence[_Case]) -> float | None:
    return sum(case.verdict == case.label for case in cases) / len(cases) if cases else None


def _between_judges(result: EvalResult, rubric: Rubric) -> tuple[float | None, dict[str, float] | None]:
    """The mean share of pairs of judges that agree, and the same by criterion."""
    reports = [item.graded.criteria for item in result.item_results if item.graded is not None]
    by_name = {
        name: mean_of([report[number].pairwise_agreement for report in reports])
        for number, name in enumerate(rubric.names)
    }
    return mean_of(list(by_name.values())), {name: value for name, value in by_name.items() if value is not None}


def _issue(criterion_report: EnsembleCriterionReport) -> IssueDetail:
    criterion = criterion_report.criterion
    fault = criterion.weight < 0
    return IssueDetail(
        criterion.name or criterion.requirement,
        criterion.requirement,
        criterion.weight,
        fault,
        criterion_report.reason or "",
    )


def _issues_of(wrong: Sequence[_Case], cases: Sequence[_Case], rubric: Rubric) -> list[IssueDetail]:
    """The criteria whose verdicts differ from the labels, the most often wrong first."""
    issues: list[tuple[int, IssueDetail]] = []
    for number, (name, criterion) in enumerate(zip(rubric.names, rubric.criteria, strict=True)):
        off = [case for case in wrong if case.criterion == number]
        total = sum(case.criterion == number for case in cases)
        if off:
            kinds: Mapping[tuple[str, str], int] = {
                pair: sum((case.verdict, case.label) == pair for case in off)
                for pair in dict.fromkeys((case.verdict, case.label) for case in off)
            }
            words = ", ".join(f"{verdict} instead of {label}: {n}" for (verdict, label), n in kinds.items())
            feedback = f"{len(off)} of {total} verdicts differ from what people say ({words})."
            issues.append((len(off), IssueDetail(name, criterion.requirement, criterion.weight, False, feedback)))
    return [issue for _, issue in sorted(issues, key=lambda entry: -entry[0])]


def _evidence(wrong: Sequence[_Case], rubric: Rubric, most: int) -> str:
    """Return submissions with wrong verdicts, with the judges' reasons."""
    parts: list[str] = []
    for number, name in enumerate(rubric.names):
        for case in [case for case in wrong if case.criterion == number][:most]:
            text = case.text if len(case.text) <= MOST_SHOWN else f"{case.text[:MOST_SHOWN]}..."
            disagreement = f'By "{name}" people say {case.label}; the judge said {case.verdict}: {case.reason}'
            parts.append(f"{disagreement}\n{fenced('SUBMISSION', text)}")
    return "\n\n".join(parts)


def _invalid(number: int, current: IterationResult, reason: str, cost: Decimal | float | None) -> IterationResult:
    """Record an unusable version with the values of the previous one."""
    return replace(
        current,
        iteration=number,
        accepted=False,
        rejection_reason=reason,
        issues_fixed=[],
        issues_introduced=[],
        completion_cost=None if cost is None else float(cost),
    )


def _total(costs: Sequence[Decimal | float | None]) -> float | None:
    """Return the total spending; None if a price is unknown."""
    return None if not costs or any(cost is None for cost in costs) else float(sum(Decimal(str(c)) for c in costs))


def _summary(version: IterationResult) -> dict[str, Any]:
    return {
        "iteration": version.iteration,
        "quality_score": version.quality_score,
        "agreement": version.agreement,
        "per_criterion_agreement": version.per_criterion_agreement,
        "accepted": version.accepted,
        "rejection_reason": version.rejection_reason,
        "issues": [{"criterion": issue.criterion_name, "feedback": issue.feedback} for issue in version.issues],
        "completion_cost": version.completion_cost,
        "rubric": version.rubric.to_dict(),
    }

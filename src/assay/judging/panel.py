"""Run a panel of judges: every judge is asked about every criterion, and the votes become a report."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from assay.judging.aggregation import (
    agreement_with,
    all_errors,
    cast_index,
    decide,
    failure_of,
    order_sensitive,
    pairwise_agreement,
)
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.escalation import confidence_of, deciding, escalation_notes, first_votes
from assay.judging.judge import Judge
from assay.judging.judge_failures import count_votes, failure_notes
from assay.judging.length import ToGradeInput
from assay.judging.panel_config import PanelConfig
from assay.judging.question import Submission
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport, mean_of, scored
from assay.judging.rubric import Rubric
from assay.judging.total import LOW_COVERAGE, total
from assay.judging.verdicts import MultiChoiceJudgeVote, Vote, is_abstention
from assay.judging.voting import JudgeCall, error_vote, judge_calls, request_votes
from assay.models.client import ModelRejected
from assay.types import Ask, Reply, Request, Usage


class Tally:
    """Wraps a model call and adds up billed usage: unreadable replies count, cached ones do not."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.by_model: dict[str | None, Usage] = {}

    async def __call__(self, request: Request, model: str | None = None) -> Reply:
        reply = await self._ask(request, model)
        if not reply.cached:
            self.by_model[model] = self.by_model.get(model, Usage()) + reply.usage
        return reply

    @property
    def usage(self) -> Usage:
        """All tokens that were billed."""
        return sum(self.by_model.values(), Usage())


async def grade(
    ask: Ask, rubric: Rubric, submission: Submission, judges: Sequence[Judge], config: PanelConfig
) -> EnsembleEvaluationReport:
    """Ask every judge about every criterion concurrently, and report the verdict of the panel.

    With an escalation the judges whose verdict is doubtful are followed by the stronger ones: only about the criteria
    in doubt, and once each. A judge that refuses all calls leaves the panel to the others; ModelRejected when nobody is
    left.
    """
    votes = await _votes_on(ask, rubric, range(len(rubric)), judges, submission, config)
    escalation = config.escalation
    if escalation is not None:
        doubtful = [
            number
            for number, (name, criterion) in enumerate(zip(rubric.names, rubric.criteria, strict=True))
            if escalation.wants(name, confidence_of(config.seen(criterion), votes[number], config.strategy(criterion)))
        ]
        # repeats tell how sure a first judge is; the panel that decides is not in question
        once = replace(config, repeats=1)
        decisive = await _votes_on(ask, rubric, doubtful, escalation.judges, submission, once)
        for number in doubtful:
            superseded = [vote.model_copy(update={"superseded": True}) for vote in votes[number]]
            votes[number] = [*superseded, *decisive[number]]
    by_criterion = [votes[number] for number in range(len(rubric))]
    return report_of(rubric, by_criterion, judges, config, words=config.scoring.length(_with_thinking(submission)))


async def _votes_on(
    ask: Ask,
    rubric: Rubric,
    numbers: Sequence[int],
    judges: Sequence[Judge],
    submission: Submission,
    config: PanelConfig,
) -> dict[int, list[Vote]]:
    """Return the votes of all judges on some criteria of a rubric, by criterion index."""
    numbered = [
        (number, call)
        for number in numbers
        for call in judge_calls(rubric.criteria[number], judges, submission, config)
    ]
    together = config.llm_calls == "per_item"
    requests = _by_request(numbered, together=together)
    replies = await asyncio.gather(
        *(_votes_or_rejected(ask, [call for _, call in request], submission, together=together) for request in requests)
    )
    # by judge and not by request: one judge may have several requests, and all of them meet the same refusal
    rejected = {
        request[0][1].judge.id: reply
        for request, reply in zip(requests, replies, strict=True)
        if isinstance(reply, ModelRejected)
    }
    if rejected and len(rejected) == len(judges):
        raise next(iter(rejected.values()))
    by_criterion: dict[int, list[Vote]] = {number: [] for number in numbers}
    for request, reply in zip(requests, replies, strict=True):
        for position, (number, call) in enumerate(request):
            if isinstance(reply, ModelRejected):
                # retryable: once the key or the name is corrected, a resumed run asks this judge again
                by_criterion[number].append(error_vote(call, "infrastructure", str(reply), retryable=True))
            else:
                by_criterion[number].append(reply[position])
    return by_criterion


def _with_thinking(submission: Submission) -> ToGradeInput:
    """The submission with what its author thought aloud."""
    if not submission.thinking:
        return submission.text
    return {"thinking": submission.thinking, "output": submission.text}


async def _votes_or_rejected(
    ask: Ask, calls: Sequence[JudgeCall], submission: Submission, *, together: bool
) -> list[Vote] | ModelRejected:
    """The votes of a judge, or the refusal that all its votes will meet."""
    try:
        return await request_votes(ask, calls, submission, together=together)
    except ModelRejected as error:
        return error


def _by_request(calls: Sequence[tuple[int, JudgeCall]], *, together: bool) -> list[list[tuple[int, JudgeCall]]]:
    """Group the calls, each with its criterion index, by the request that asks them."""
    if not together:
        return [[call] for call in calls]
    groups: dict[tuple[bool, int, str], list[tuple[int, JudgeCall]]] = {}
    for number, call in calls:
        groups.setdefault((call.reversed_order, call.repeat, call.judge.id), []).append((number, call))
    return list(groups.values())


def report_of(
    rubric: Rubric,
    votes: Sequence[Sequence[Vote]],
    judges: Sequence[Judge],
    config: PanelConfig,
    *,
    words: int | None = None,
) -> EnsembleEvaluationReport:
    """Build the panel's report from the votes on each criterion, in order, without asking anyone."""
    reports = [
        criterion_report(config.seen(criterion), cast_votes, config)
        for criterion, cast_votes in zip(rubric.criteria, votes, strict=True)
    ]
    seen = [report.criterion for report in reports]
    score = total(seen, [report.verdict for report in reports], config.scoring, rubric.sections, words=words)
    fields = scored(score)
    failed = [name for name, report in zip(rubric.names, reports, strict=True) if report.error is not None]
    error = None
    # a criterion on which every call failed is an outage: without it the score would be that of another rubric
    if failed and not (config.skip_failed and len(failed) < len(reports)):
        first_error = next(report.error for report in reports if report.error is not None)
        error = f"no judge could be asked about {', '.join(failed)}: {first_error}"
        fields |= {"score": None, "raw_score": None, "llm_raw_score": None, "reason": error}
    elif any(_snapped(report) for report in reports):
        unsnapped = replace(config.scoring, score_value="continuous")
        fields["continuous_score"] = total(seen, [report.verdict for report in reports], unsnapped, words=words).score
    return EnsembleEvaluationReport(
        report=reports,
        judge_scores=_judge_scores(seen, votes, judges, config),
        mean_agreement=mean_of([report.agreement for report in reports]),
        error=error,
        warnings=tuple(_notes(reports, votes, score.coverage)),
        seed=config.seed,
        **fields,
    )


def criterion_report(criterion: Criterion, votes: Sequence[Vote], config: PanelConfig) -> EnsembleCriterionReport:
    """Build the report on one criterion; superseded votes are kept but do not count."""
    every, votes = votes, deciding(votes)
    strategy = config.strategy(criterion)
    decision = decide(criterion, votes, strategy, min_votes=config.min_votes)
    verdict = decision.verdict
    n_errors = sum(vote.is_error for vote in votes)
    watched = config.escalation is not None
    chosen = [vote for vote in votes if isinstance(vote, MultiChoiceJudgeVote)]
    orders = [vote.shuffle_order for vote in chosen]
    shuffled = config.seed is not None and len(orders) > 0 and all(order == orders[0] for order in orders)
    return EnsembleCriterionReport(
        criterion=criterion,
        final_verdict=verdict if isinstance(verdict, CriterionVerdict) else None,
        final_multi_choice_verdict=None if isinstance(verdict, CriterionVerdict) else verdict,
        final_reason="\n".join(
            f"{vote.judge_id}: {vote.reason}" for vote in votes if vote.reason and not vote.is_error
        ),
        error=failure_of(votes) if all_errors(votes) else None,
        votes=list(every),
        multi_choice_votes=chosen,
        shuffle_order=orders[0] if shuffled else None,
        pairwise_agreement=pairwise_agreement(criterion, votes),
        agreement=agreement_with(criterion, votes, verdict),
        n_abstained=sum(cast_index(criterion, vote) is None for vote in votes) - n_errors,
        n_errors=n_errors,
        by_tie=decision.by_tie,
        order_sensitive=order_sensitive(criterion, votes),
        note=decision.note,
        escalated=len(votes) < len(every),
        confidence=confidence_of(criterion, first_votes(every), strategy) if watched else None,
    )


def _snapped(report: EnsembleCriterionReport) -> bool:
    """Return whether the panel's value lies between the options."""
    verdict = report.final_multi_choice_verdict
    return verdict is not None and not is_abstention(verdict) and verdict.aggregated_value != verdict.value


def _judge_scores(
    criteria: Sequence[Criterion], votes: Sequence[Sequence[Vote]], judges: Sequence[Judge], config: PanelConfig
) -> dict[str, float | None]:
    """Return the score that each judge alone would have given."""
    scores: dict[str, float | None] = {}
    for judge in judges:
        judge_votes = [[vote for vote in criterion_votes if vote.judge_id == judge.id] for criterion_votes in votes]
        verdicts = [
            decide(criterion, criterion_votes, config.strategy(criterion)).verdict
            for criterion, criterion_votes in zip(criteria, judge_votes, strict=True)
        ]
        scores[judge.id] = total(criteria, verdicts, config.scoring).score
    return scores


def _notes(reports: Sequence[EnsembleCriterionReport], votes: Sequence[Sequence[Vote]], coverage: float) -> list[str]:
    """Return the warnings that belong to this report."""
    notes: list[str] = []
    if coverage < LOW_COVERAGE:
        notes.append(f"only {coverage:.0%} of the rubric's weights could be assessed")
    notes += failure_notes(count_votes(vote for on_criterion in votes for vote in on_criterion))
    notes += escalation_notes((report.criterion, report.votes) for report in reports)
    return [*notes, *(report.note for report in reports if report.note is not None)]

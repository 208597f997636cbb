"""A panel of judges at work: every judge is asked about every criterion, and the votes become a report."""

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
from assay.judging.criteria import Criterion
from assay.judging.judge_failures import absent, attendance
from assay.judging.length import words_in
from assay.judging.panel_config import Judge, Rules
from assay.judging.question import Submission
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport, TokenUsage, mean_of, scored
from assay.judging.rubric import Sheet
from assay.judging.total import LOW_COVERAGE, total
from assay.judging.verdicts import Vote, is_abstention
from assay.judging.voting import Look, cast, error_vote, looks_at
from assay.models.client import ModelRejected
from assay.types import Ask, Reply, Request


class Tally:
    """A way to ask that adds up what is billed: a reply that could not be read counts, one from memory does not."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.by_model: dict[str | None, TokenUsage] = {}

    async def __call__(self, request: Request, model: str | None = None) -> Reply:
        reply = await self._ask(request, model)
        if not reply.cached:
            billed = TokenUsage(
                prompt_tokens=reply.usage.prompt_tokens, completion_tokens=reply.usage.completion_tokens
            )
            self.by_model[model] = self.by_model.get(model, TokenUsage()) + billed
        return reply

    @property
    def usage(self) -> TokenUsage:
        """All tokens that were billed."""
        return sum(self.by_model.values(), TokenUsage())


async def grade(
    ask: Ask, sheet: Sheet, submission: Submission, judges: Sequence[Judge], rules: Rules
) -> EnsembleEvaluationReport:
    """Ask every judge about every criterion, all at the same time, and report what the panel says.

    A judge that refuses all calls leaves the panel to the others; ModelRejected when nobody is left.
    """
    looks = [looks_at(criterion, judges, submission, rules) for criterion in sheet.criteria]
    together = rules.llm_calls == "per_item"
    calls = _calls([(place, look) for place, each in enumerate(looks) for look in each], together=together)
    cast_votes = await asyncio.gather(
        *(_cast_or_rejected(ask, [look for _, look in call], submission, together=together) for call in calls)
    )
    dead = {
        call[0][1].judge.id: votes
        for call, votes in zip(calls, cast_votes, strict=True)
        if isinstance(votes, ModelRejected)
    }
    if len(dead) == len(judges):
        raise next(iter(dead.values()))
    by_criterion: list[list[Vote]] = [[] for _ in looks]
    for call, votes in zip(calls, cast_votes, strict=True):
        for number, (place, look) in enumerate(call):
            if isinstance(votes, ModelRejected):
                by_criterion[place].append(error_vote(look, "infrastructure", str(votes), retryable=True))
            else:
                by_criterion[place].append(votes[number])
    return report_of(sheet, by_criterion, judges, rules, words=words_in(submission.text))


async def _cast_or_rejected(
    ask: Ask, looks: Sequence[Look], submission: Submission, *, together: bool
) -> list[Vote] | ModelRejected:
    """The votes of a judge, or the refusal that all its votes will meet."""
    try:
        return await cast(ask, looks, submission, together=together)
    except ModelRejected as error:
        return error


def _calls(looks: Sequence[tuple[int, Look]], *, together: bool) -> list[list[tuple[int, Look]]]:
    """The looks, with the criterion each is at, by the call that they are part of."""
    if not together:
        return [[each] for each in looks]
    calls: dict[tuple[bool, int, str], list[tuple[int, Look]]] = {}
    for place, look in looks:
        calls.setdefault((look.backwards, look.repeat, look.judge.id), []).append((place, look))
    return list(calls.values())


def report_of(
    sheet: Sheet,
    votes: Sequence[Sequence[Vote]],
    judges: Sequence[Judge],
    rules: Rules,
    *,
    words: int | None = None,
) -> EnsembleEvaluationReport:
    """What the panel says, from the votes on each criterion in order; nobody is asked."""
    reports = [
        criterion_report(rules.seen(criterion), cast_votes, rules)
        for criterion, cast_votes in zip(sheet.criteria, votes, strict=True)
    ]
    seen = [report.criterion for report in reports]
    score = total(seen, [report.verdict for report in reports], rules.scoring, sheet.sections, words=words)
    fields = scored(score)
    failed = [name for name, report in zip(sheet.names, reports, strict=True) if report.error is not None]
    error = None
    if failed and not (rules.skip_failed and len(failed) < len(reports)):
        error = f"no judge could be asked about {', '.join(failed)}: {_first_error(reports)}"
        fields |= {"score": None, "raw_score": None, "reason": error}
    elif any(_snapped(report) for report in reports):
        unsnapped = replace(rules.scoring, score_value="continuous")
        fields["continuous_score"] = total(seen, [report.verdict for report in reports], unsnapped, words=words).score
    return EnsembleEvaluationReport(
        report=tuple(reports),
        judge_scores=_judge_scores(seen, votes, judges, rules),
        mean_agreement=mean_of([report.agreement for report in reports]),
        error=error,
        warnings=tuple(_notes(reports, votes, score.coverage)),
        seed=rules.seed,
        **fields,
    )


def criterion_report(criterion: Criterion, votes: Sequence[Vote], rules: Rules) -> EnsembleCriterionReport:
    """What the panel says of one criterion."""
    decision = decide(criterion, votes, rules.strategy(criterion), min_votes=rules.min_votes)
    verdict = decision.verdict
    n_errors = sum(vote.is_error for vote in votes)
    return EnsembleCriterionReport(
        criterion=criterion,
        verdict=verdict,
        reason="\n".join(f"{vote.judge_id}: {vote.reason}" for vote in votes if vote.reason and not vote.is_error),
        error=failure_of(votes) if all_errors(votes) else None,
        votes=tuple(votes),
        pairwise_agreement=pairwise_agreement(criterion, votes),
        agreement=agreement_with(criterion, votes, verdict),
        n_abstained=sum(cast_index(criterion, vote) is None for vote in votes) - n_errors,
        n_errors=n_errors,
        by_tie=decision.by_tie,
        order_sensitive=order_sensitive(criterion, votes),
        note=decision.note,
    )


def _snapped(report: EnsembleCriterionReport) -> bool:
    """Does the panel's number lie between the options?"""
    verdict = report.final_multi_choice_verdict
    return verdict is not None and not is_abstention(verdict) and verdict.aggregated_value != verdict.value


def _first_error(reports: Sequence[EnsembleCriterionReport]) -> str:
    return next(report.error for report in reports if report.error is not None)


def _judge_scores(
    criteria: Sequence[Criterion], votes: Sequence[Sequence[Vote]], judges: Sequence[Judge], rules: Rules
) -> dict[str, float | None]:
    """What the score would be with each judge alone."""
    scores: dict[str, float | None] = {}
    for judge in judges:
        own = [[vote for vote in each if vote.judge_id == judge.id] for each in votes]
        verdicts = [
            decide(criterion, each, rules.strategy(criterion)).verdict
            for criterion, each in zip(criteria, own, strict=True)
        ]
        scores[judge.id] = total(criteria, verdicts, rules.scoring).score
    return scores


def _notes(reports: Sequence[EnsembleCriterionReport], votes: Sequence[Sequence[Vote]], coverage: float) -> list[str]:
    """What a careful reader should know about this report."""
    notes: list[str] = []
    if coverage < LOW_COVERAGE:
        notes.append(f"only {coverage:.0%} of the rubric's weights could be assessed")
    notes += absent(attendance(vote for each in votes for vote in each))
    return [*notes, *(report.note for report in reports if report.note is not None)]

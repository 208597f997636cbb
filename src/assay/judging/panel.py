"""A panel of judges at work: every judge is asked about every criterion, and the votes become a report."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.judging.ask import ask_judge
from assay.judging.criteria import Criterion, CriterionKind, CriterionVerdict, check_strategy
from assay.judging.length import words_in
from assay.judging.question import Question, Submission
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport, TokenUsage, mean_of, scored
from assay.judging.sheet import Sheet
from assay.judging.shuffle import option_order
from assay.judging.total import LOW_COVERAGE, Scoring, total
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote, MultiChoiceJudgment, Vote, VoteError, chosen
from assay.judging.vote import (
    LENIENT_ON_FAULTS,
    agreement_with,
    all_errors,
    cast_index,
    decide,
    failure_of,
    pairwise_agreement,
)
from assay.model.client import REJECTED, CallError, ModelRejected
from assay.types import Ask, Failure, Reply, Request, Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One judge of a panel: who it is, which model answers for it, and how much its vote weighs.

    `twin` counts the judges before it that are the same model asked in the same way: where a model answers at random,
    each of them is asked, and none repeats the other.
    """

    id: str
    model: str
    weight: float = 1.0
    sampling: Sampling = field(default_factory=Sampling)
    twin: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a panel works. `seed` None shows the options in the order of the rubric."""

    aggregation: str = "majority"
    ordinal_aggregation: str = "mean"
    nominal_aggregation: str = "mode"
    seed: int | None = 0
    auto_na_option: bool = True
    min_votes: int = 0
    skip_failed: bool = False
    scoring: Scoring = field(default_factory=Scoring)

    def __post_init__(self) -> None:
        check_strategy(self.aggregation, "binary")
        check_strategy(self.ordinal_aggregation, "ordinal")
        check_strategy(self.nominal_aggregation, "nominal")

    def strategy(self, criterion: Criterion) -> str:
        """How votes on a criterion are aggregated: its own way, else the panel's for its kind."""
        usual: dict[CriterionKind, str] = {
            "binary": self.aggregation,
            "ordinal": self.ordinal_aggregation,
            "nominal": self.nominal_aggregation,
        }
        return criterion.aggregation or usual[criterion.kind]

    def seen(self, criterion: Criterion) -> Criterion:
        """The criterion as judges see it: with an option to abstain, unless they must choose."""
        return criterion.with_abstention() if self.auto_na_option else criterion


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


def with_twins(judges: Sequence[Judge]) -> tuple[Judge, ...]:
    """The judges with those told apart that are one model asked in one way."""
    ways = [(judge.model, judge.sampling) for judge in judges]
    return tuple(replace(judge, twin=ways[:place].count(ways[place])) for place, judge in enumerate(judges))


def check_panel(judges: Sequence[Judge]) -> None:
    """Raise a ValueError unless there is a judge, every judge has a name of its own, and all weights count."""
    if not judges:
        raise ValueError("a panel needs at least one judge")
    ids = [judge.id for judge in judges]
    again = next((name for place, name in enumerate(ids) if name in ids[:place]), None)
    if again is not None:
        raise ValueError(f'there are two judges with the id "{again}"; give each an id of its own')
    for judge in judges:
        if not 0 < judge.weight < float("inf"):
            raise ValueError(f'the weight of judge "{judge.id}" must be a positive number, not {judge.weight}')


def lenient_notes(sheet: Sheet, rules: Rules) -> list[str]:
    """Criteria whose aggregation sounds strict and is not, because they describe a fault."""
    return [
        f'"{rules.strategy(criterion)}" is lenient on "{name}", which describes a fault: one judge can let it pass; '
        'use "worst" to be strict whatever the sign'
        for name, criterion in zip(sheet.names, sheet.criteria, strict=True)
        if criterion.weight < 0 and rules.strategy(criterion) in LENIENT_ON_FAULTS
        if not (rules.strategy(criterion) == "unanimous" and criterion.kind == "nominal")
    ]


async def grade(
    ask: Ask, sheet: Sheet, submission: Submission, judges: Sequence[Judge], rules: Rules
) -> EnsembleEvaluationReport:
    """Ask every judge about every criterion, all at once, and report what the panel says."""
    seen = [rules.seen(criterion) for criterion in sheet.criteria]
    asked = [(criterion, judge) for criterion in seen for judge in judges]
    votes = await asyncio.gather(*(cast(ask, criterion, judge, submission, rules) for criterion, judge in asked))
    n = len(judges)
    by_criterion = [votes[start : start + n] for start in range(0, len(votes), n)]
    return report_of(sheet, by_criterion, judges, rules, words=words_in(submission.text))


async def cast(ask: Ask, criterion: Criterion, judge: Judge, submission: Submission, rules: Rules) -> Vote:
    """The vote of one judge on one criterion; a judge that cannot be asked or read gives an error vote."""
    order: tuple[int, ...] | None = None
    if criterion.is_multi_choice:
        order = tuple(range(len(criterion.choices)))
        if rules.seed is not None:
            order = option_order(criterion, seed=rules.seed, item=submission.text, judge=judge.id)
    question = Question(criterion=criterion, order=order)
    request = question.request(submission, judge.sampling)
    if judge.twin:
        request = replace(request, occurrence=judge.twin)
    try:
        # asked again, a judge may leave out why: some go on explaining until they run out of tokens
        short = question.schema(explained=False)
        said = await ask_judge(ask, request, model=judge.model, read=question.read, short=short)
    except CallError as error:
        return _error_vote(judge, order, "infrastructure", error.failure.detail)
    except ModelRejected as error:
        if _refuses_everything(error):
            raise
        return _error_vote(judge, order, "infrastructure", str(error))
    if isinstance(said, Failure):
        return _error_vote(judge, order, "refusal" if said.kind == "refusal" else "parse", said.detail)
    common: dict[str, Any] = {
        "judge_id": judge.id,
        "weight": judge.weight,
        "reason": said.reasoning or "",
        "reasoning": said.thought,
    }
    if order is None:
        return JudgeVote(verdict=said.value, **common)
    picked = chosen(criterion, said.value)
    return MultiChoiceJudgeVote(
        selected_index=said.value,
        selected_label=picked.selected_label,
        value=picked.value,
        na=picked.na,
        shuffle_order=order,
        judgment=MultiChoiceJudgment(
            selected_option=order.index(said.value) + 1, explanation=said.reasoning or "", reasoning=said.thought
        ),
        **common,
    )


def _refuses_everything(error: ModelRejected) -> bool:
    """A key or a name that is wrong is the user's to mend; an outage is the judge's own trouble."""
    return isinstance(error.__cause__, CallError) and error.__cause__.status in REJECTED


def _error_vote(judge: Judge, order: tuple[int, ...] | None, category: VoteError, detail: str) -> Vote:
    common: dict[str, Any] = {"judge_id": judge.id, "weight": judge.weight, "reason": detail, "error": category}
    if order is None:
        return JudgeVote(verdict=CriterionVerdict.CANNOT_ASSESS, **common)
    return MultiChoiceJudgeVote(na=True, shuffle_order=order, **common)


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
        note=decision.note,
    )


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
    for judge_id, (failed, asked) in _failures(votes).items():
        if failed * 2 > asked:
            notes.append(f'judge "{judge_id}" failed in {failed} of {asked} calls; its votes are missing')
    return [*notes, *(report.note for report in reports if report.note is not None)]


def _failures(votes: Sequence[Sequence[Vote]]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for vote in (vote for each in votes for vote in each):
        failed, asked = counts.get(vote.judge_id, (0, 0))
        counts[vote.judge_id] = (failed + vote.is_error, asked + 1)
    return counts

"""Turn one question to one judge into a vote; an error becomes an error vote, never a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.judging.all_criteria import Whole, answer_name
from assay.judging.ask import Verdict, ask_judge
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.examples import Judged
from assay.judging.judge import Judge
from assay.judging.panel_config import PanelConfig
from assay.judging.parse import ParsedReply
from assay.judging.question import Question, Submission, Wishes
from assay.judging.shuffle import OrderKey, shown_orders
from assay.judging.token_probability import answer_probability
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote, MultiChoiceJudgment, Vote, VoteError, chosen
from assay.models.client import REJECTED, CallError, ModelRejected
from assay.types import Ask, Failure, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCall:
    """One question to one judge: a criterion, with its options in one order.

    `reversed_order` marks the second question where a judge is asked in both orders; `repeat` counts how often the
    judge was asked before.
    """

    judge: Judge
    criterion: Criterion
    order: tuple[int, ...] | None
    reversed_order: bool = False
    repeat: int = 0
    examples: tuple[Judged, ...] = ()
    wishes: Wishes = field(default_factory=Wishes)

    @property
    def question(self) -> Question:
        """Build the question for a judge."""
        return Question(criterion=self.criterion, order=self.order, examples=self.examples, wishes=self.wishes)


@dataclass(frozen=True, slots=True)
class _Trouble:
    """The cause of a missing vote, and whether a retry may succeed."""

    category: VoteError
    detail: str
    retryable: bool = False


def judge_calls(
    criterion: Criterion, judges: Sequence[Judge], submission: Submission, config: PanelConfig
) -> list[JudgeCall]:
    """Every call of a panel about one criterion: `repeats` per judge, twice as many where both orders are asked."""
    seen = config.seen(criterion)
    examples = () if config.few_shot is None else config.few_shot.shown_with(seen, submission.text, submission.prompt)
    shuffle = config.shuffle if config.seed is not None else None
    calls: list[JudgeCall] = []
    for rank, judge in enumerate(judges):
        for repeat in range(config.repeats):
            orders: tuple[tuple[int, ...] | None, ...] = (None,)
            if not criterion.is_binary:
                key = OrderKey(item=submission.text, row=submission.row, judge=judge.id, rank=rank, repeat=repeat)
                orders = shown_orders(criterion, seen, shuffle, config.seed or 0, key)
            calls += [
                JudgeCall(
                    judge=judge,
                    criterion=seen,
                    order=order,
                    reversed_order=place > 0,
                    repeat=repeat,
                    examples=examples,
                    wishes=config.binary_wishes if criterion.is_binary else config.choice_wishes,
                )
                for place, order in enumerate(orders)
            ]
    return calls


async def request_votes(
    ask: Ask, calls: Sequence[JudgeCall], submission: Submission, *, together: bool = False
) -> list[Vote]:
    """Ask one judge about several criteria, one by one or in one request, and return its votes.

    Raises ModelRejected when the judge's key or name is wrong: it will answer nobody.
    """
    if together:
        return await _votes_on_all(ask, calls, submission)
    return [await _vote_on_one(ask, call, submission) for call in calls]


async def _vote_on_one(ask: Ask, call: JudgeCall, submission: Submission) -> Vote:
    """Get the vote of one judge on one criterion; a failure becomes an error vote."""
    question = call.question
    request = question.request(submission, call.judge.sampling)
    # asked again, a judge may leave out why: some go on explaining until they run out of tokens
    verdict = await _verdict(ask, request, call, question.read, question.schema(explained=False))
    if isinstance(verdict, _Trouble):
        return error_vote(call, verdict.category, verdict.detail, retryable=verdict.retryable)
    probability = answer_probability(verdict.logprobs, verdict.written, field=question.field)
    return vote_of(call, verdict.value, verdict.reasoning or "", verdict.thought, confidence=probability)


async def _votes_on_all(ask: Ask, calls: Sequence[JudgeCall], submission: Submission) -> list[Vote]:
    """The votes of one judge on all criteria of a submission; what its replies lack are error votes."""
    whole = Whole([call.question for call in calls])
    request = whole.request(submission, calls[0].judge.sampling)
    verdict = await _verdict(ask, request, calls[0], whole.read, whole.schema(explained=False))
    votes: list[Vote] = []
    for position, call in enumerate(calls):
        # an answer that could be read is a vote, even where the reply as a whole was given up
        answer = whole.read_so_far.get(position)
        if answer is not None:
            thought = probability = None
            if not isinstance(verdict, _Trouble):
                thought = verdict.thought
                probability = answer_probability(
                    verdict.logprobs, answer.written, field=call.question.field, within=answer_name(position)
                )
            votes.append(vote_of(call, answer.value, answer.reasoning or "", thought, confidence=probability))
        else:
            assert isinstance(verdict, _Trouble)
            votes.append(error_vote(call, verdict.category, verdict.detail, retryable=verdict.retryable))
    return votes


async def _verdict(
    ask: Ask,
    request: Request,
    call: JudgeCall,
    read: Callable[[str], ParsedReply[Any]],
    short: Mapping[str, Any],
) -> Verdict[Any] | _Trouble:
    """Ask a judge for its verdict; a wrong key or model name raises ModelRejected."""
    judge = call.judge
    if judge.replica or call.repeat:
        request = replace(request, occurrence=judge.replica, repeat=call.repeat)
    try:
        verdict = await ask_judge(ask, request, model=judge.model, read=read, short=short)
    except CallError as error:
        # a Python function that raised may well do better next time
        retryable = error.failure.retryable or error.failure.kind == "code"
        return _Trouble("infrastructure", error.failure.detail, retryable=retryable)
    except ModelRejected as error:
        # a wrong key or name is the user's to correct; an outage is this judge's own trouble
        if isinstance(error.__cause__, CallError) and error.__cause__.status in REJECTED:
            raise
        return _Trouble("infrastructure", str(error), retryable=True)
    if isinstance(verdict, Failure):
        return _Trouble("refusal" if verdict.kind == "refusal" else "parse", verdict.detail)
    return verdict


def vote_of(call: JudgeCall, value: Any, reason: str, thought: str | None, *, confidence: float | None = None) -> Vote:
    """The vote that a judge's answer is: a verdict, or the index of an option."""
    common: dict[str, Any] = {
        "judge_id": call.judge.id,
        "weight": call.judge.weight,
        "reason": reason,
        "reasoning": thought,
        "repeat": call.repeat,
        "confidence": confidence,
    }
    if call.order is None:
        return JudgeVote(verdict=value, **common)
    picked = chosen(call.criterion, value)
    return MultiChoiceJudgeVote(
        selected_index=value,
        selected_label=picked.selected_label,
        value=picked.value,
        na=picked.na,
        shuffle_order=list(call.order),
        reversed_order=call.reversed_order,
        judgment=MultiChoiceJudgment(
            selected_option=call.order.index(value) + 1, explanation=reason, reasoning=thought
        ),
        **common,
    )


def error_vote(call: JudgeCall, category: VoteError, detail: str, *, retryable: bool = False) -> Vote:
    """The vote of a judge that could not be asked or read."""
    common: dict[str, Any] = {
        "judge_id": call.judge.id,
        "weight": call.judge.weight,
        "reason": detail,
        "error": f"{category}: {detail}",
        "repeat": call.repeat,
        "retryable": retryable,
    }
    if call.order is None:
        return JudgeVote(verdict=CriterionVerdict.CANNOT_ASSESS, **common)
    return MultiChoiceJudgeVote(na=True, shuffle_order=list(call.order), reversed_order=call.reversed_order, **common)

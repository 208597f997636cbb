"""One question to one judge becomes a vote; what goes wrong becomes an error vote, never a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.judging.all_criteria import Whole
from assay.judging.ask import Verdict, ask_judge
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.examples import Judged
from assay.judging.panel_config import Judge, Rules
from assay.judging.parse import Reading
from assay.judging.question import Question, Submission
from assay.judging.shuffle import Seat, shown_orders
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote, MultiChoiceJudgment, Vote, VoteError, chosen
from assay.models.client import REJECTED, CallError, ModelRejected
from assay.types import Ask, Failure, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One judge looks at one criterion, with the options in one order; `backwards` is the second of both orders.

    `repeat` counts the looks that the judge took before.
    """

    judge: Judge
    criterion: Criterion
    order: tuple[int, ...] | None
    backwards: bool = False
    repeat: int = 0
    examples: tuple[Judged, ...] = ()

    @property
    def question(self) -> Question:
        """What the judge is asked."""
        return Question(criterion=self.criterion, order=self.order, examples=self.examples)


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why there is no vote, and whether another try may give one."""

    category: VoteError
    detail: str
    retryable: bool = False


def looks_at(criterion: Criterion, judges: Sequence[Judge], submission: Submission, rules: Rules) -> list[Look]:
    """Every look that a panel takes at a criterion: `repeats` a judge, or twice as many where both orders are asked."""
    seen = rules.seen(criterion)
    examples = () if rules.few_shot is None else rules.few_shot.shown_with(seen, submission.text, submission.prompt)
    shuffle = rules.shuffle if rules.seed is not None else None
    looks: list[Look] = []
    for rank, judge in enumerate(judges):
        for repeat in range(rules.repeats):
            orders: tuple[tuple[int, ...] | None, ...] = (None,)
            if not criterion.is_binary:
                seat = Seat(item=submission.text, row=submission.row, judge=judge.id, rank=rank, repeat=repeat)
                orders = shown_orders(criterion, seen, shuffle, rules.seed or 0, seat)
            looks += [
                Look(
                    judge=judge,
                    criterion=seen,
                    order=order,
                    backwards=place > 0,
                    repeat=repeat,
                    examples=examples,
                )
                for place, order in enumerate(orders)
            ]
    return looks


async def cast(ask: Ask, looks: Sequence[Look], submission: Submission, *, together: bool = False) -> list[Vote]:
    """The votes of one judge on some criteria, each asked about by itself, or all in one call.

    Raises ModelRejected when the judge's key or name is wrong: it will answer nobody.
    """
    if together:
        return await _cast_whole(ask, looks, submission)
    return [await _cast_one(ask, look, submission) for look in looks]


async def _cast_one(ask: Ask, look: Look, submission: Submission) -> Vote:
    """The vote of one judge on one criterion; a judge that cannot be asked or read gives an error vote."""
    question = look.question
    request = question.request(submission, look.judge.sampling)
    # asked again, a judge may leave out why: some go on explaining until they run out of tokens
    said = await _said(ask, request, look, question.read, question.schema(explained=False))
    if isinstance(said, _Trouble):
        return error_vote(look, said.category, said.detail, retryable=said.retryable)
    return vote_of(look, said.value, said.reasoning or "", said.thought)


async def _cast_whole(ask: Ask, looks: Sequence[Look], submission: Submission) -> list[Vote]:
    """The votes of one judge on all criteria of a submission; what its replies lack are error votes."""
    whole = Whole([look.question for look in looks])
    request = whole.request(submission, looks[0].judge.sampling)
    said = await _said(ask, request, looks[0], whole.read, whole.schema(explained=False))
    votes: list[Vote] = []
    for place, look in enumerate(looks):
        answer = whole.read_so_far.get(place)
        if answer is not None:
            thought = None if isinstance(said, _Trouble) else said.thought
            votes.append(vote_of(look, answer.value, answer.reasoning or "", thought))
        else:
            assert isinstance(said, _Trouble)
            votes.append(error_vote(look, said.category, said.detail, retryable=said.retryable))
    return votes


async def _said(
    ask: Ask,
    request: Request,
    look: Look,
    read: Callable[[str], Reading[Any]],
    short: Mapping[str, Any],
) -> Verdict[Any] | _Trouble:
    """What a judge answers; a key or a name that is wrong comes as ModelRejected."""
    judge = look.judge
    if judge.twin or look.repeat:
        request = replace(request, occurrence=judge.twin, repeat=look.repeat)
    try:
        said = await ask_judge(ask, request, model=judge.model, read=read, short=short)
    except CallError as error:
        # a Python function that raised may well do better next time
        again = error.failure.retryable or error.failure.kind == "code"
        return _Trouble("infrastructure", error.failure.detail, retryable=again)
    except ModelRejected as error:
        if _refuses_everything(error):
            raise
        return _Trouble("infrastructure", str(error), retryable=True)
    if isinstance(said, Failure):
        return _Trouble("refusal" if said.kind == "refusal" else "parse", said.detail)
    return said


def vote_of(look: Look, value: Any, reason: str, thought: str | None) -> Vote:
    """The vote that a judge's answer is: a verdict, or the index of an option."""
    common: dict[str, Any] = {
        "judge_id": look.judge.id,
        "weight": look.judge.weight,
        "reason": reason,
        "reasoning": thought,
        "repeat": look.repeat,
    }
    if look.order is None:
        return JudgeVote(verdict=value, **common)
    picked = chosen(look.criterion, value)
    return MultiChoiceJudgeVote(
        selected_index=value,
        selected_label=picked.selected_label,
        value=picked.value,
        na=picked.na,
        shuffle_order=look.order,
        backwards=look.backwards,
        judgment=MultiChoiceJudgment(
            selected_option=look.order.index(value) + 1, explanation=reason, reasoning=thought
        ),
        **common,
    )


def _refuses_everything(error: ModelRejected) -> bool:
    """A key or a name that is wrong is the user's to mend; an outage is the judge's own trouble."""
    return isinstance(error.__cause__, CallError) and error.__cause__.status in REJECTED


def error_vote(look: Look, category: VoteError, detail: str, *, retryable: bool = False) -> Vote:
    """The vote of a judge that could not be asked or read."""
    common: dict[str, Any] = {
        "judge_id": look.judge.id,
        "weight": look.judge.weight,
        "reason": detail,
        "error": category,
        "repeat": look.repeat,
        "retryable": retryable,
    }
    if look.order is None:
        return JudgeVote(verdict=CriterionVerdict.CANNOT_ASSESS, **common)
    return MultiChoiceJudgeVote(na=True, shuffle_order=look.order, backwards=look.backwards, **common)

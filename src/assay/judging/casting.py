"""One question to one judge becomes a vote; what goes wrong becomes an error vote, never a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.judging.ask import ask_judge
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.question import Question, Submission
from assay.judging.rules import Judge, Rules
from assay.judging.shuffle import Seat, shown_orders
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote, MultiChoiceJudgment, Vote, VoteError, chosen
from assay.model.client import REJECTED, CallError, ModelRejected
from assay.types import Ask, Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One judge looks at one criterion, with the options in one order; `backwards` is the second of both orders."""

    judge: Judge
    criterion: Criterion
    order: tuple[int, ...] | None
    backwards: bool = False

    @property
    def question(self) -> Question:
        """What the judge is asked."""
        return Question(criterion=self.criterion, order=self.order)


def looks_at(criterion: Criterion, judges: Sequence[Judge], submission: Submission, rules: Rules) -> list[Look]:
    """Every look that a panel takes at a criterion: one a judge, or two where both orders are asked."""
    seen = rules.seen(criterion)
    looks: list[Look] = []
    for rank, judge in enumerate(judges):
        if criterion.is_binary:
            looks.append(Look(judge=judge, criterion=seen, order=None))
            continue
        seat = Seat(item=submission.text, row=submission.row, judge=judge.id, rank=rank)
        orders = shown_orders(criterion, seen, rules.shuffle if rules.seed is not None else None, rules.seed or 0, seat)
        looks += [
            Look(judge=judge, criterion=seen, order=order, backwards=place > 0) for place, order in enumerate(orders)
        ]
    return looks


async def cast(ask: Ask, look: Look, submission: Submission) -> Vote:
    """The vote of one judge on one criterion; a judge that cannot be asked or read gives an error vote."""
    judge, question = look.judge, look.question
    request = question.request(submission, judge.sampling)
    if judge.twin:
        request = replace(request, occurrence=judge.twin)
    try:
        # asked again, a judge may leave out why: some go on explaining until they run out of tokens
        short = question.schema(explained=False)
        said = await ask_judge(ask, request, model=judge.model, read=question.read, short=short)
    except CallError as error:
        return error_vote(look, "infrastructure", error.failure.detail)
    except ModelRejected as error:
        if refuses_everything(error):
            raise
        return error_vote(look, "infrastructure", str(error))
    if isinstance(said, Failure):
        return error_vote(look, "refusal" if said.kind == "refusal" else "parse", said.detail)
    return vote_of(look, said.value, said.reasoning or "", said.thought)


def vote_of(look: Look, value: Any, reason: str, thought: str | None) -> Vote:
    """The vote that a judge's answer is: a verdict, or the index of an option."""
    common: dict[str, Any] = {
        "judge_id": look.judge.id,
        "weight": look.judge.weight,
        "reason": reason,
        "reasoning": thought,
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


def refuses_everything(error: ModelRejected) -> bool:
    """A key or a name that is wrong is the user's to mend; an outage is the judge's own trouble."""
    return isinstance(error.__cause__, CallError) and error.__cause__.status in REJECTED


def error_vote(look: Look, category: VoteError, detail: str) -> Vote:
    """The vote of a judge that could not be asked or read."""
    judge = look.judge
    common: dict[str, Any] = {"judge_id": judge.id, "weight": judge.weight, "reason": detail, "error": category}
    if look.order is None:
        return JudgeVote(verdict=CriterionVerdict.CANNOT_ASSESS, **common)
    return MultiChoiceJudgeVote(na=True, shuffle_order=look.order, backwards=look.backwards, **common)

"""A panel at work, with judges that are functions."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter

import pytest

from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.judge import Judge
from assay.judging.panel import Tally, grade, report_of
from assay.judging.panel_config import PanelConfig
from assay.judging.question import Submission
from assay.judging.rubric import Rubric
from assay.judging.total import Scoring
from assay.judging.verdicts import JudgeVote
from assay.models.client import CallError, ModelRejected
from assay.types import Failure, Reply, Usage

BINARY = Rubric((Criterion(requirement="Names the capital.", name="capital"),))
THREE = [Judge(id=name, model=name) for name in ("a", "b", "c")]


class Judges:
    """A way to ask that answers by model; a function gets the question's text, a list is said in turn."""

    def __init__(self, **answers):
        self.answers = answers
        self.requests = []

    async def __call__(self, request, model=None):
        self.requests.append((model, request))
        await asyncio.sleep(0)
        said = self.answers[model]
        if isinstance(said, list):
            said = said.pop(0)
        if callable(said):
            said = said(request.messages[-1]["content"])
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Reply):
            return said
        return Reply(text=said, usage=Usage(prompt_tokens=10, completion_tokens=2))


def _status(word):
    return json.dumps({"explanation": f"because {word}", "criterion_status": word})


def _choosing(label):
    """A judge that answers the letter of one label."""

    def answer(text):
        found = re.search(rf"^([A-Z]+)\) {re.escape(label)}$", text, re.MULTILINE)
        return json.dumps({"explanation": "e", "selected_option": found[1]})

    return answer


def _dead(status=503):
    return CallError(Failure(stage="solve", kind="http", detail="the server is down", retryable=True), status=status)


def _grade(ask, rubric, judges, config=None, submission="It is Paris."):
    return asyncio.run(grade(ask, rubric, Submission(text=submission), judges, config or PanelConfig()))


def test_a_panel_votes_and_its_report_says_who_said_what():
    report = _grade(Judges(a=_status("MET"), b=_status("MET"), c=_status("UNMET")), BINARY, THREE)
    assert report.score == 1.0
    assert report.judge_scores == {"a": 1.0, "b": 1.0, "c": 0.0}
    (criterion,) = report.report
    assert criterion.final_verdict is CriterionVerdict.MET
    assert [vote.verdict.value for vote in criterion.votes] == ["MET", "MET", "UNMET"]
    assert criterion.reason.splitlines()[2] == "c: because UNMET"
    assert criterion.pairwise_agreement == pytest.approx(1 / 3)
    assert criterion.agreement == report.mean_agreement == pytest.approx(2 / 3)
    assert (report.error, report.warnings, report.coverage) == (None, (), 1.0)
    assert criterion.label == "MET"


def test_a_judge_that_names_one_label_gets_it_whatever_the_order(scale):
    rubric = Rubric((scale([0.0, 0.25, 0.5, 0.75, 1.0], labels=["v", "w", "x", "y", "z"]),))
    judge = [Judge(id="a", model="a")]
    orders = Counter()
    for item in range(200):
        report = _grade(Judges(a=_choosing("y")), rubric, judge, submission=f"text {item}")
        (vote,) = report.report[0].votes
        assert (vote.selected_label, vote.selected_index, vote.value) == ("y", 3, 0.75)
        assert vote.shuffle_order[vote.judgment.selected_option - 1] == 3
        orders[tuple(vote.shuffle_order)] += 1
        assert report.report[0].shuffle_order == vote.shuffle_order
    assert len(orders) > 20


def test_a_judge_that_always_says_a_shows_its_bias_in_the_votes(scale):
    rubric = Rubric((scale([0.0, 0.25, 0.5, 0.75, 1.0]),))
    votes = Counter()
    for item in range(60):
        ask = Judges(a='{"selected_option": "A"}')
        votes[
            _grade(ask, rubric, [Judge(id="a", model="a")], submission=str(item)).report[0].verdict.selected_index
        ] += 1
    # the sixth place is that of the option to abstain
    assert set(votes) == set(range(6))


def test_without_shuffling_the_options_stand_as_written_and_may_force_a_choice(scale):
    rubric = Rubric((scale([0.0, 0.5, 1.0]),))
    ask = Judges(a='{"selected_option": "C"}')
    report = _grade(ask, rubric, [Judge(id="a", model="a")], PanelConfig(seed=None, auto_na_option=False))
    (vote,) = report.report[0].votes
    assert (vote.shuffle_order, vote.selected_index) == ([0, 1, 2], 2)
    assert "Cannot assess" not in ask.requests[0][1].messages[-1]["content"]
    with_na = Judges(a='{"selected_option": "D"}')
    report = _grade(with_na, rubric, [Judge(id="a", model="a")], PanelConfig(seed=None))
    assert (report.report[0].verdict.selected_index, report.report[0].verdict.na) == (3, True)
    assert (report.score, report.coverage) == (None, 0.0)
    assert report.report[0].label == "Cannot assess"
    assert "only 0% of the rubric's weights" in report.warnings[0]


def test_the_same_seed_gives_the_same_orders_whoever_answers_first(scale):
    rubric = Rubric((scale([0.0, 0.25, 0.5, 0.75, 1.0]), scale([0.0, 1.0], labels=["no", "yes"])))

    def orders(judges, seed):
        report = _grade(Judges(a=_lettered, b=_lettered, c=_lettered), rubric, judges, PanelConfig(seed=seed))
        return {(n, vote.judge_id): vote.shuffle_order for n, r in enumerate(report.report) for vote in r.votes}

    assert orders(THREE, 7) == orders(THREE[::-1], 7)
    assert orders(THREE, 7) != orders(THREE, 8)


def _lettered(text):
    return '{"selected_option": "A"}'


@pytest.mark.parametrize(
    "reply",
    [
        "```json\n" + _status("MET") + "\n```",
        "Let me see. " + _status("MET") + " Done.",
        '{"criterion_status": "met"}',
        "MET",
    ],
)
def test_replies_are_read_tolerantly(reply):
    report = _grade(Judges(a=reply), BINARY, [Judge(id="a", model="a")])
    assert report.score == 1.0


@pytest.mark.parametrize(
    ("replies", "error"),
    [
        ([Reply(text=None), Reply(text=None)], "parse"),
        (["no idea", "still none"], "parse"),
        (["", ""], "parse"),
        ([Reply(text=None, refusal="no"), Reply(text=None, refusal="no")], "refusal"),
        ([_dead()], "infrastructure"),
    ],
)
def test_a_judge_that_cannot_be_read_is_an_error_and_never_a_verdict(scale, replies, error):
    for rubric in (BINARY, Rubric((scale([0.0, 1.0]),))):
        ask = Judges(a=list(replies))
        report = _grade(ask, rubric, [Judge(id="a", model="a")])
        (vote,) = report.report[0].votes
        assert (vote.error_category, vote.error) == (error, f"{error}: {vote.reason}")
        assert len(ask.requests) == len(replies)
        assert (report.score, report.raw_score) == (None, None)
        assert "no judge could be asked" in report.error
        assert report.report[0].n_errors == 1


def test_a_reply_that_cannot_be_read_is_asked_for_once_more_with_the_problem_named():
    ask = Judges(a=["perhaps", _status("MET")])
    assert _grade(ask, BINARY, [Judge(id="a", model="a")]).score == 1.0
    first, second = (request for _, request in ask.requests)
    assert '"perhaps" is none of the labels' in second.messages[-1]["content"]
    assert list(first.schema["properties"]) == ["explanation", "criterion_status"]
    assert list(second.schema["properties"]) == ["criterion_status"]


def test_a_panel_with_one_dead_judge_gives_the_result_of_the_others_and_says_so():
    report = _grade(Judges(a=_status("UNMET"), b=_dead(), c=_status("UNMET")), BINARY, THREE)
    assert (report.score, report.error) == (0.0, None)
    assert report.judge_scores == {"a": 0.0, "b": None, "c": 0.0}
    assert report.report[0].n_errors == 1
    assert report.warnings == ('the only call to judge "b" failed (the server is down)',)


def test_a_panel_of_dead_judges_fails_the_item_unless_what_failed_is_left_out(scale):
    rubric = Rubric.from_dict(
        [{"requirement": "One.", "name": "one"}, {"requirement": "Two.", "name": "two", "weight": 30.0}]
    )

    def half(text):
        return _status("MET") if "One." in text else _dead()

    judges = [Judge(id="a", model="a")]
    failed = _grade(Judges(a=half), rubric, judges)
    assert failed.score is None
    assert failed.error == "no judge could be asked about two: a: infrastructure (the server is down)"
    assert failed.report[1].label is None
    skipped = _grade(Judges(a=half), rubric, judges, PanelConfig(skip_failed=True))
    assert (skipped.score, skipped.error, skipped.coverage) == (1.0, None, 0.25)


def test_a_key_that_is_refused_stops_everything_but_an_outage_does_not():
    with pytest.raises(ModelRejected):
        _grade(Judges(a=_rejected(401)), BINARY, [Judge(id="a", model="a")])
    report = _grade(Judges(a=_rejected(503)), BINARY, [Judge(id="a", model="a")])
    assert report.report[0].votes[0].error_category == "infrastructure"


def _rejected(status=401):
    error = ModelRejected("x refuses all calls: HTTP 401")
    error.__cause__ = _dead(status)
    return error


def test_a_judge_that_refuses_all_calls_leaves_the_panel_to_the_others():
    report = _grade(Judges(a=_status("UNMET"), b=_rejected(), c=_status("UNMET")), BINARY, THREE)
    assert report.score == 0.0
    refused = report.report[0].votes[1]
    assert (refused.error_category, refused.retryable) == ("infrastructure", True)
    assert report.warnings == ('the only call to judge "b" failed (x refuses all calls: HTTP 401)',)


def test_a_panel_whose_judges_all_refuse_stops_with_what_they_say():
    with pytest.raises(ModelRejected, match="HTTP 401"):
        _grade(Judges(a=_rejected(), b=_rejected(404)), BINARY, THREE[:2])


def test_a_panel_with_an_outage_and_a_refusal_fails_the_item_alone():
    report = _grade(Judges(a=_rejected(), b=_dead()), BINARY, THREE[:2])
    assert (report.score, report.error is None) == (None, False)


def test_repeats_ask_each_judge_again_with_other_orders_and_other_keys(scale):
    rubric = Rubric((scale([0.0, 0.25, 0.5, 0.75, 1.0], labels=["v", "w", "x", "y", "z"]),))
    ask = Judges(a=_choosing("y"), b=_choosing("x"))
    report = _grade(ask, rubric, THREE[:2], PanelConfig(repeats=3))
    votes = report.report[0].votes
    assert [(vote.judge_id, vote.repeat) for vote in votes] == [(j, n) for j in "ab" for n in range(3)]
    assert [request.repeat for model, request in ask.requests if model == "a"] == [0, 1, 2]
    assert len({tuple(vote.shuffle_order) for vote in votes if vote.judge_id == "a"}) == 3
    assert report.report[0].verdict.aggregated_value == pytest.approx(0.625)
    assert report.report[0].pairwise_agreement == 0.0


def test_repeats_of_whole_items_are_calls_of_their_own(scale):
    rubric = Rubric.from_dict([{"requirement": "One."}, {"requirement": "Two."}])
    said = json.dumps(
        {name: {"explanation": "e", "criterion_status": "MET"} for name in ("criterion_1", "criterion_2")}
    )
    ask = Judges(a=said)
    report = _grade(ask, rubric, THREE[:1], PanelConfig(repeats=2, llm_calls="per_item"))
    assert len(ask.requests) == 2
    assert [len(each.votes) for each in report.report] == [2, 2]


def test_every_billed_reply_counts_also_one_that_could_not_be_read():
    tally = Tally(Judges(a=["perhaps", _status("MET")], b=[Reply(text=_status("MET"), cached=True)]))
    _grade(tally, BINARY, [Judge(id="a", model="a"), Judge(id="b", model="b")])
    assert (tally.usage.prompt_tokens, tally.usage.total_tokens) == (20, 24)


def test_votes_are_counted_again_under_other_rules_without_asking(scale):
    rubric = Rubric((Criterion(requirement="r", weight=-10.0, name="fault"),))
    votes = [[JudgeVote(judge_id=j, verdict=v) for j, v in (("a", "MET"), ("b", "UNMET"))]]
    judges = THREE[:2]
    tied = report_of(rubric, votes, judges, PanelConfig())
    assert (tied.report[0].by_tie, tied.score) == (True, 0.0)
    assert report_of(rubric, votes, judges, PanelConfig(aggregation="unanimous")).score == 1.0
    abstain = report_of(rubric, votes, judges, PanelConfig(min_votes=3, scoring=Scoring(cannot_assess="fail")))
    assert (abstain.report[0].verdict, abstain.raw_score) == (CriterionVerdict.CANNOT_ASSESS, -10.0)


def test_a_panel_that_disagrees_without_an_na_option_says_so(scale):
    rubric = Rubric((scale([0.2, 0.9], scale_type="nominal"),))
    config = PanelConfig(seed=None, auto_na_option=False, nominal_aggregation="unanimous")
    report = _grade(Judges(a='{"selected_option": "A"}', b='{"selected_option": "B"}'), rubric, THREE[:2], config)
    assert "the mode was taken" in report.warnings[0]
    unsure = _grade(
        Judges(a='{"selected_option": "A"}', b='{"selected_option": "B"}'),
        rubric,
        THREE[:2],
        PanelConfig(seed=None, nominal_aggregation="unanimous"),
    )
    assert (unsure.report[0].verdict.selected_index, unsure.report[0].verdict.na) == (2, True)


def test_in_both_orders_a_judge_is_asked_twice_and_one_that_follows_the_place_is_found_out(scale):
    rubric = Rubric((scale([0.0, 0.5, 1.0]), Criterion(requirement="Polite.", name="polite")))

    def first(text):
        return _status("MET") if "Polite." in text else '{"selected_option": "A"}'

    ask = Judges(a=first, b=lambda text: _status("MET") if "Polite." in text else _choosing("3")(text))
    config = PanelConfig(shuffle="both_orders", auto_na_option=False)
    report = _grade(ask, rubric, THREE[:2], config)
    votes = report.report[0].votes
    assert [(vote.judge_id, vote.reversed_order) for vote in votes] == [
        ("a", False),
        ("a", True),
        ("b", False),
        ("b", True),
    ]
    assert votes[0].shuffle_order == votes[1].shuffle_order[::-1]
    assert votes[0].selected_index != votes[1].selected_index
    assert [vote.selected_label for vote in votes[2:]] == ["3", "3"]
    assert [each.order_sensitive for each in report.report] == [True, False]
    assert len(ask.requests) == 6
    steady = _grade(Judges(a=_choosing("2")), Rubric((rubric.criteria[0],)), THREE[:1], config)
    assert (steady.report[0].order_sensitive, steady.score) == (False, 0.5)


def test_counterbalanced_and_directed_orders_follow_the_row(scale):
    rubric = Rubric((scale([0.0, 0.5, 1.0]),))

    def orders(shuffle, row):
        submission = Submission(text="It is Paris.", row=row)
        config = PanelConfig(shuffle=shuffle)
        ask = Judges(a=_choosing("2"), b=_choosing("2"))
        report = asyncio.run(grade(ask, rubric, submission, THREE[:2], config))
        return [tuple(vote.shuffle_order) for vote in report.report[0].votes]

    assert orders("counterbalanced", 1) == [(1, 2, 0, 3), (2, 0, 1, 3)]
    assert orders("counterbalanced", 2)[0] == orders("counterbalanced", 1)[1]
    assert {orders("direction", row)[0] for row in (0, 1)} == {(0, 1, 2, 3), (2, 1, 0, 3)}
    with pytest.raises(ValueError, match='unknown shuffle "sideways"'):
        PanelConfig(shuffle="sideways")


TWO = Rubric.from_dict([{"requirement": "One.", "name": "one"}, {"requirement": "Two.", "name": "two"}])


def _said(**answers):
    return json.dumps(
        {name: {"explanation": f"why {name}", "criterion_status": word} for name, word in answers.items()}
    )


def test_per_item_a_judge_is_asked_once_about_all_criteria():
    ask = Judges(a=_said(criterion_1="MET", criterion_2="UNMET"), b=_said(criterion_1="MET", criterion_2="MET"))
    report = _grade(ask, TWO, THREE[:2], PanelConfig(llm_calls="per_item"))
    assert len(ask.requests) == 2
    assert [each.label for each in report.report] == ["MET", "UNMET"]
    assert [vote.judge_id for vote in report.report[1].votes] == ["a", "b"]
    assert report.report[1].votes[0].reason == "why criterion_2"
    assert report.judge_scores == {"a": 0.5, "b": 1.0}


@pytest.mark.parametrize(
    ("second", "error"),
    [("hm", "parse"), (_dead(), "infrastructure"), (Reply(text=None, refusal="no"), "refusal")],
)
def test_per_item_only_a_criterion_that_both_replies_lack_gets_an_error_vote(second, error):
    ask = Judges(a=[_said(criterion_1="MET"), second])
    report = _grade(ask, TWO, THREE[:1], PanelConfig(llm_calls="per_item", skip_failed=True))
    one, two = (each.votes[0] for each in report.report)
    assert (one.verdict, one.error, two.error_category) == (CriterionVerdict.MET, None, error)
    assert report.score == 1.0
    assert "criterion_2: there is no answer" in ask.requests[1][1].messages[-1]["content"]


def test_per_item_a_second_turn_may_bring_what_the_first_lacked():
    ask = Judges(a=[_said(criterion_1="MET"), _said(criterion_2="MET")])
    assert _grade(ask, TWO, THREE[:1], PanelConfig(llm_calls="per_item")).score == 1.0
    assert len(ask.requests) == 2


def test_per_item_in_both_orders_asks_again_about_the_options_only(scale):
    rubric = Rubric((TWO.criteria[0], scale([0.0, 0.5, 1.0])))
    first = json.dumps({"criterion_1": "MET", "criterion_2": "A"})
    ask = Judges(a=[first, json.dumps({"criterion_1": "A"})])
    config = PanelConfig(llm_calls="per_item", shuffle="both_orders", auto_na_option=False)
    report = _grade(ask, rubric, THREE[:1], config)
    assert [len(each.votes) for each in report.report] == [1, 2]
    assert report.report[1].order_sensitive
    with pytest.raises(ValueError, match='"per_item", not "per_text"'):
        PanelConfig(llm_calls="per_text")

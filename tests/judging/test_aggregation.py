"""A panel's verdict: worked cases, and the laws that every strategy obeys."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judging.aggregation import (
    RubricWarning,
    aggregate,
    agreement_with,
    decide,
    opinions,
    order_sensitive,
    pairwise_agreement,
)
from assay.judging.criteria import STRATEGIES, Criterion, CriterionOption, CriterionVerdict
from assay.judging.total import Scoring, total
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote

FOUR = [0.0, 0.33, 0.67, 1.0]
FIVE = [0.0, 0.25, 0.5, 0.75, 1.0]
ABC = [0.2, 0.9, 0.5]


def _picks(indices, weights=None):
    weights = weights or [1.0] * len(indices)
    return [
        MultiChoiceJudgeVote(judge_id=f"j{n}", selected_index=index, weight=weight, na=index is None)
        for n, (index, weight) in enumerate(zip(indices, weights, strict=True))
    ]


def _says(verdicts, weights=None):
    weights = weights or [1.0] * len(verdicts)
    words = {"M": "MET", "U": "UNMET", "?": "CANNOT_ASSESS"}
    return [
        JudgeVote(judge_id=f"j{n}", verdict=words[v], weight=w)
        for n, (v, w) in enumerate(zip(verdicts, weights, strict=True))
    ]


@pytest.mark.parametrize(
    ("strategy", "values", "weight", "picks", "weights", "index", "number"),
    [
        ("mean", FOUR, 10, [0, 1, 2], None, 1, 1 / 3),
        ("mean", FIVE, 10, [2, 3], None, 2, 0.625),
        ("mean", FIVE, -10, [2, 3], None, 3, 0.625),
        ("mean", FIVE, 0, [2, 3], None, 2, 0.625),
        ("mean", FOUR, 5, [0, 3], None, 1, 0.5),
        ("mean", FOUR, -5, [0, 3], None, 2, 0.5),
        ("mean", FIVE, 10, [0, 4], [1, 9], 2, 0.5),
        ("weighted_mean", FIVE, 10, [0, 4], [1, 9], 4, 0.9),
        ("weighted_mean", [0.0, 0.5, 1.0], -10, [0, 2], [3, 1], 1, 0.25),
        ("median", FIVE, 10, [0, 4, 4], [5, 1, 1], 4, 1.0),
        ("median", FIVE, -10, [0, 2, 3, 4], None, 3, 0.625),
        ("mode", FIVE, 10, [1, 4], None, 1, 0.25),
        ("mode", FIVE, -10, [1, 4], None, 4, 1.0),
        ("mode", [0.0, 0.0, 1.0, 1.0], -10, [3, 2], None, 2, 1.0),
        ("min", FOUR, 10, [2, 2, 3], None, 2, 0.67),
        ("max", FOUR, 10, [2, 2, 3], None, 3, 1.0),
        ("min", [1.0, 0.0, 0.5], 10, [0, 2], None, 2, 0.5),
        ("min", FOUR, -10, [1, 3], None, 1, 0.33),
        ("max", FOUR, -10, [1, 3], None, 3, 1.0),
        ("worst", FOUR, 10, [1, 3], None, 1, 0.33),
        ("worst", FOUR, -10, [1, 3], None, 3, 1.0),
        ("best", FOUR, -10, [1, 3], None, 1, 0.33),
    ],
)
def test_ordinal_votes(scale, strategy, values, weight, picks, weights, index, number):
    verdict = aggregate(scale(values, weight=float(weight)), _picks(picks, weights), strategy)
    assert (verdict.selected_index, verdict.na) == (index, False)
    assert verdict.aggregated_value == pytest.approx(number, abs=1e-12)
    assert verdict.value == values[index]


@pytest.mark.parametrize(
    ("strategy", "weight", "picks", "weights", "index"),
    [
        ("mode", 5, [1, 0, 0], [9, 1, 1], 0),
        ("weighted_mode", 5, [1, 0, 0], [9, 1, 1], 1),
        ("weighted_mode", 5, [1, 0, 0], [2, 1, 1], 0),
        ("weighted_mode", -5, [1, 0, 0], [2, 1, 1], 1),
        ("weighted_mode", 5, [1, 1, 0], [0.1, 0.2, 0.3], 0),
        ("weighted_mode", -5, [1, 1, 0], [0.1, 0.2, 0.3], 1),
        ("mode", 5, [1, 2, 0], None, 0),
        ("unanimous", 5, [1, 1, None], None, 1),
    ],
)
def test_nominal_votes(scale, strategy, weight, picks, weights, index):
    criterion = scale(ABC, weight=float(weight), scale_type="nominal")
    assert aggregate(criterion, _picks(picks, weights), strategy).selected_index == index


def test_a_nominal_panel_that_is_not_unanimous_abstains_or_warns(scale):
    votes = _picks([1, 1, 0])
    with_na = aggregate(scale([*ABC, None], scale_type="nominal"), votes, "unanimous")
    assert (with_na.selected_index, with_na.na, with_na.value, with_na.aggregated_value) == (3, True, 0.0, 0.0)
    with pytest.warns(RubricWarning, match="has no NA option: the mode was taken"):
        assert aggregate(scale(ABC, scale_type="nominal"), votes, "unanimous").selected_index == 1


@pytest.mark.parametrize(
    ("strategy", "weight", "votes", "weights", "verdict"),
    [
        ("majority", 10, "MMU", [1, 1, 9], "MET"),
        ("weighted", 10, "MMU", [1, 1, 9], "UNMET"),
        ("majority", 10, "MU", None, "UNMET"),
        ("majority", -10, "MU", None, "MET"),
        ("majority", 0, "MU", None, "UNMET"),
        ("weighted", 10, "MMU", [0.1, 0.2, 0.3], "UNMET"),
        ("weighted", -10, "UUM", [0.1, 0.2, 0.3], "MET"),
        ("majority", 10, "??M", None, "MET"),
        ("majority", 10, "?UM", None, "UNMET"),
        ("majority", 10, "??", None, "CANNOT_ASSESS"),
        ("unanimous", 10, "MM?", None, "MET"),
        ("unanimous", -10, "MMU", None, "UNMET"),
        ("any", 10, "UUM", [1, 1, 0.01], "MET"),
        ("any", -10, "UU", None, "UNMET"),
        ("worst", 10, "MMU", None, "UNMET"),
        ("worst", -10, "UUM", None, "MET"),
        ("best", 10, "UUM", None, "MET"),
        ("best", -10, "MMU", None, "UNMET"),
    ],
)
def test_binary_votes(strategy, weight, votes, weights, verdict):
    criterion = Criterion(requirement="r", weight=float(weight))
    assert aggregate(criterion, _says(votes, weights), strategy) is CriterionVerdict[verdict]


def test_a_criterions_own_aggregation_wins_and_unknown_names_are_errors(scale):
    assert aggregate(scale(FIVE, aggregation="min"), _picks([0, 4, 4]), "mean").selected_index == 0
    with pytest.raises(ValueError, match='"bogus"'):
        aggregate(scale(FIVE), _picks([0]), "bogus")
    with pytest.raises(ValueError, match='"mode"'):
        aggregate(Criterion(requirement="r"), _says("M"), "mode")


def test_a_panel_where_all_abstain_abstains(scale):
    verdict = aggregate(scale([0.0, 1.0, None]), _picks([2, None]))
    assert (verdict.selected_index, verdict.selected_label, verdict.na) == (2, "NA", True)
    nobody = aggregate(scale([0.0, 1.0]), _picks([None]))
    assert (nobody.selected_index, nobody.na, nobody.value, nobody.error) == (None, True, 0.0, None)
    assert aggregate(scale([0.0, 1.0]), []).na


def test_errors_are_set_aside_and_an_outage_is_not_an_abstention(scale):
    criterion = scale([0.0, 1.0, None])
    dead = MultiChoiceJudgeVote(judge_id="dead", na=True, error="infrastructure", reason="503")
    assert aggregate(criterion, [dead, *_picks([1, 1])]).selected_index == 1
    outage = aggregate(criterion, [dead])
    assert (outage.selected_index, outage.na) == (None, True)
    assert outage.error == "dead: infrastructure (503)"
    # one judge who really abstains is enough for an opinion
    assert aggregate(criterion, [dead, *_picks([None])]).selected_index == 2
    refused = JudgeVote(judge_id="a", verdict="MET", error="refusal")
    assert aggregate(Criterion(requirement="r"), [refused]) is CriterionVerdict.CANNOT_ASSESS


def test_too_few_votes_are_an_abstention(scale):
    assert aggregate(scale(FIVE), _picks([1, None, None]), min_votes=2).na
    assert aggregate(scale(FIVE), _picks([1, 1, None]), min_votes=2).selected_index == 1
    assert aggregate(Criterion(requirement="r"), _says("M?"), min_votes=2) is CriterionVerdict.CANNOT_ASSESS


def test_votes_that_do_not_fit_the_criterion_are_errors(scale):
    with pytest.raises(ValueError, match="picks option 9"):
        aggregate(scale(FIVE), _picks([9]))
    with pytest.raises(ValueError, match="on a criterion with options"):
        aggregate(scale(FIVE), _says("M"))
    with pytest.raises(ValueError, match="of a criterion that has none"):
        aggregate(Criterion(requirement="r"), _picks([0]))


def test_what_a_tie_decided_is_known(scale):
    assert decide(Criterion(requirement="r"), _says("MU")).by_tie
    assert decide(scale(FIVE), _picks([2, 3])).by_tie
    assert decide(scale(FIVE), _picks([1, 4]), "mode").by_tie
    assert not decide(scale(FIVE), _picks([2, 3, 3])).by_tie
    assert not decide(scale([0.0, 0.0, 1.0]), _picks([0, 1])).by_tie


def test_agreement_counts_only_votes_that_were_cast(scale):
    criterion = scale([*FIVE, None])
    votes = _picks([1, 1, 2, 5])
    assert pairwise_agreement(criterion, votes) == pytest.approx(1 / 3)
    assert agreement_with(criterion, votes, aggregate(criterion, votes, "mode")) == pytest.approx(2 / 3)
    assert pairwise_agreement(criterion, _picks([1, 5])) is None
    assert agreement_with(criterion, _picks([1]), aggregate(criterion, _picks([1]))) is None
    binary = Criterion(requirement="r")
    assert pairwise_agreement(binary, _says("MMM")) == 1.0
    assert agreement_with(binary, _says("MU"), CriterionVerdict.CANNOT_ASSESS) == 0.0


# laws


@st.composite
def _panels(draw):
    kind = draw(st.sampled_from(sorted(STRATEGIES)))
    weight = draw(st.sampled_from([10.0, -10.0, 0.0]))
    strategy = draw(st.sampled_from(STRATEGIES[kind]))
    judges = draw(st.lists(st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.0]), min_size=1, max_size=6))
    if kind == "binary":
        criterion = Criterion(requirement="r", weight=weight)
        return (
            criterion,
            strategy,
            [JudgeVote(judge_id=str(n), verdict=draw(_VERDICTS), weight=w) for n, w in enumerate(judges)],
        )
    values = draw(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.33, 0.5, 0.67, 0.9, 1.0]), min_size=2, max_size=5))
    na = [CriterionOption(label="NA", na=True, value=0.0)] if draw(st.booleans()) else []
    options = [CriterionOption(label=f"o{n}", value=value) for n, value in enumerate(values)]
    criterion = Criterion(requirement="r", weight=weight, options=[*options, *na], scale_type=kind)
    picks = st.integers(0, len(values) - 1)
    votes = [MultiChoiceJudgeVote(judge_id=str(n), selected_index=draw(picks), weight=w) for n, w in enumerate(judges)]
    return criterion, strategy, votes


_VERDICTS = st.sampled_from(["MET", "UNMET"])


def _quietly(criterion, votes, strategy):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RubricWarning)
        return aggregate(criterion, votes, strategy)


@given(_panels(), st.randoms())
def test_the_order_of_the_judges_does_not_matter(panel, random):
    criterion, strategy, votes = panel
    shuffled = list(votes)
    random.shuffle(shuffled)
    assert _quietly(criterion, votes, strategy) == _quietly(criterion, shuffled, strategy)


@given(_panels())
def test_adding_an_abstention_or_an_error_changes_nothing(panel):
    criterion, strategy, votes = panel
    if criterion.is_binary:
        more = [
            JudgeVote(judge_id="x", verdict="CANNOT_ASSESS"),
            JudgeVote(judge_id="y", verdict="MET", error="parse"),
        ]
    else:
        more = [
            MultiChoiceJudgeVote(judge_id="x", na=True),
            MultiChoiceJudgeVote(judge_id="y", na=True, error="refusal"),
        ]
    assert _quietly(criterion, votes, strategy) == _quietly(criterion, [*votes, *more], strategy)


@given(_panels())
def test_the_minimum_is_below_and_the_maximum_above_every_vote(panel):
    criterion, _, votes = panel
    if criterion.kind != "ordinal":
        return
    values = [criterion.choices[vote.selected_index].value for vote in votes]
    assert aggregate(criterion, votes, "min").value == min(values)
    assert aggregate(criterion, votes, "max").value == max(values)
    for strategy in ("mean", "median", "weighted_mean"):
        assert min(values) <= aggregate(criterion, votes, strategy).aggregated_value <= max(values)


@given(_panels())
def test_a_unanimous_panel_has_the_value_of_its_votes_under_every_strategy(panel):
    criterion, strategy, votes = panel
    if criterion.is_binary:
        alike = [vote.model_copy(update={"verdict": votes[0].verdict}) for vote in votes]
        assert _quietly(criterion, alike, strategy) is votes[0].verdict
        return
    index = votes[0].selected_index
    alike = [vote.model_copy(update={"selected_index": index}) for vote in votes]
    verdict = _quietly(criterion, alike, strategy)
    assert verdict.value == verdict.aggregated_value == criterion.choices[index].value
    if len(set(criterion.values)) == len(criterion.values):
        assert verdict.selected_index == index


def _case(case):
    """A worked case as a criterion and its votes."""
    if case["kind"] == "binary":
        criterion = Criterion(requirement="r", weight=float(case["weight"]))
        return criterion, [
            JudgeVote(judge_id=v["judge"], verdict=v["verdict"], weight=float(v["judge_weight"])) for v in case["votes"]
        ]
    criterion = Criterion.model_validate(
        {
            "requirement": "r",
            "weight": float(case["weight"]),
            "options": case["options"],
            "scale_type": case["scale_type"],
            "aggregation": case["criterion_aggregation"],
        }
    )
    return criterion, [
        MultiChoiceJudgeVote(
            judge_id=v["judge"], selected_index=v["selected_index"], weight=float(v["judge_weight"]), na=v["na"]
        )
        for v in case["votes"]
    ]


def test_the_worked_cases_of_the_contract(oracle_cases):
    checked = 0
    for case in oracle_cases:
        if case["quirk"]:
            continue
        criterion, votes = _case(case)
        verdict = _quietly(criterion, votes, case["strategy"])
        expected = case["expected"]
        if criterion.is_binary:
            assert verdict.value == expected["verdict"], case["note"]
        else:
            for name in ("selected_index", "selected_label", "na"):
                assert getattr(verdict, name) == expected[name], (case["note"], name)
            for name in ("value", "aggregated_value"):
                assert getattr(verdict, name) == pytest.approx(expected[name], abs=1e-12), (case["note"], name)
        score = total([criterion], [verdict], Scoring())
        assert score.score == pytest.approx(expected["score"], abs=1e-12), case["note"]
        assert score.raw_score == pytest.approx(expected["raw_score"], abs=1e-12), case["note"]
        assert score.cannot_assess_count == expected["cannot_assess_count"], case["note"]
        for vote in votes:
            own = total([criterion], [_quietly(criterion, [vote], case["strategy"])], Scoring()).score
            assert own == pytest.approx(expected["judge_scores"][vote.judge_id], abs=1e-12), case["note"]
        checked += 1
    assert checked == 82


def test_the_quirks_of_the_worked_cases_are_not_reproduced(oracle_cases):
    for case in oracle_cases:
        if not case["quirk"]:
            continue
        if "bogus" in (case["strategy"], case.get("criterion_aggregation")):
            with pytest.raises(ValueError, match="bogus"):
                aggregate(*_case(case), case["strategy"])
            continue
        criterion, votes = _case(case)
        assert decide(criterion, votes, case["strategy"]).by_tie, case["note"]


# both orders


def _both(scale_, *answers, weights=None):
    """Votes of judges that were asked in both orders; None is an abstention, "x" an error."""
    votes = []
    for place, pair in enumerate(answers):
        for reverse, index in enumerate(pair):
            said = {"na": True, "error": "parse"} if index == "x" else {"na": True} if index is None else {}
            if not said:
                said = {"selected_index": index, "value": scale_.choices[index].value}
            votes.append(
                MultiChoiceJudgeVote(
                    judge_id=str(place), reversed_order=bool(reverse), weight=(weights or [1.0] * 9)[place], **said
                )
            )
    return votes


@pytest.mark.parametrize(
    ("strategy", "answers", "expected"),
    [
        ("mean", [(0, 2), (4, 4)], 0.625),
        ("mean", [(0, None), (4, 4)], 0.5),
        ("mean", [("x", 0), (4, 4), (4, 2)], 7 / 12),
        ("median", [(0, 1), (3, 4)], 0.5),
        ("median", [(0, None), (2, 4), (4, 4)], 0.75),
        ("weighted_mean", [(0, 2), (4, 4)], 0.4375),
        ("mode", [(0, 1), (1, None)], 0.25),
        ("min", [(3, 0), (2, 4)], 0.5),
        ("max", [(1, 4), (2, 3)], 0.5),
        ("min", [(None, 1), (2, 0)], 0.25),
        ("worst", [(3, 0), (2, 4)], 0.5),
        ("best", [(1, 4), (2, 3)], 0.5),
    ],
)
def test_a_judge_asked_in_both_orders_counts_once(scale, strategy, answers, expected):
    criterion = scale([0.0, 0.25, 0.5, 0.75, 1.0])
    votes = _both(criterion, *answers, weights=[3.0, 1.0, 1.0] if strategy == "weighted_mean" else None)
    assert aggregate(criterion, votes, strategy).aggregated_value == pytest.approx(expected)
    assert aggregate(criterion, votes[::-1], strategy).aggregated_value == pytest.approx(expected)


def test_unanimous_looks_at_the_first_order_only(scale):
    criterion = scale([0.0, 0.5, 1.0, None], scale_type="nominal")
    agree = _both(criterion, (1, 0), (1, 2))
    assert aggregate(criterion, agree, "unanimous").selected_index == 1
    disagree = _both(criterion, (1, 0), (0, 0))
    assert aggregate(criterion, disagree, "unanimous").na


def test_weights_are_halved_between_both_orders(scale):
    criterion = scale([0.0, 0.5, 1.0], scale_type="nominal")
    votes = _both(criterion, (2, 0), (1, 1), weights=[3.0, 2.0])
    assert aggregate(criterion, votes, "weighted_mode").selected_index == 1


def test_different_answers_in_both_orders_mark_the_criterion_and_an_abstention_does_not(scale):
    criterion = scale([0.0, 0.5, 1.0])
    assert order_sensitive(criterion, _both(criterion, (1, 1), (0, 2)))
    assert not order_sensitive(criterion, _both(criterion, (1, 1), (0, None), ("x", 2)))


def test_votes_in_both_orders_are_one_opinion_for_agreement_and_for_the_least_number_of_votes(scale):
    criterion = scale([0.0, 0.5, 1.0, None])
    votes = _both(criterion, (1, 1), (0, 0))
    assert pairwise_agreement(criterion, votes) == 0.0
    assert agreement_with(criterion, votes, aggregate(criterion, votes, "min")) == 0.5
    assert aggregate(criterion, votes, min_votes=3).na
    assert not aggregate(criterion, votes, min_votes=2).na


def test_a_judge_has_one_opinion_the_first_that_it_cast(scale):
    criterion = scale([0.0, 0.5, 1.0])
    votes = _both(criterion, (1, 2), (None, 0), ("x", None))
    assert [(vote.selected_index, vote.reversed_order) for vote in opinions(criterion, votes)] == [
        (1, False),
        (0, True),
        (None, False),
    ]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_judges_whom_no_order_moves_give_the_verdict_of_judges_that_are_asked_once(picked):
    options = [CriterionOption(label=str(n), value=n / 3) for n in range(4)]
    criterion = Criterion(requirement="How good?", options=options)
    doubled = _both(criterion, *((index, index) for index in picked))
    once = [vote for vote in doubled if not vote.reversed_order]
    for strategy in ("mean", "median", "weighted_mean", "mode", "min", "max", "worst", "best"):
        twice, plain = aggregate(criterion, doubled, strategy), aggregate(criterion, once, strategy)
        assert twice.selected_index == plain.selected_index
        assert twice.aggregated_value == pytest.approx(plain.aggregated_value)


def _repeated(*judges, weights=None):
    """Votes of judges that were asked several times: a list of options a judge, None for a call that failed."""
    return [
        MultiChoiceJudgeVote(
            judge_id=f"j{place}",
            repeat=repeat,
            weight=(weights or [1.0] * len(judges))[place],
            **({"na": True, "error": "infrastructure"} if index is None else {"selected_index": index}),
        )
        for place, indices in enumerate(judges)
        for repeat, index in enumerate(indices)
    ]


@pytest.mark.parametrize(
    ("strategy", "judges", "weights", "index", "number"),
    [
        ("mean", [[0, 0, 4], [4, 4, 4]], None, 3, (1 / 3 + 1) / 2),
        # a call that failed leaves its share to the judge's others
        ("mean", [[0, 4, None], [4, 4, 4]], None, 3, 0.75),
        ("mean", [[None, None, None], [4, 4, 0]], None, 3, 2 / 3),
        ("weighted_mean", [[0, 4], [4, 4]], [1.0, 3.0], 3, 0.875),
        ("mode", [[0, 0, 0, 0], [4], [4]], None, 4, 1.0),
        # one judge wavers between two options: half a head each, so the second judge decides
        ("mode", [[1, 4], [4, 4]], None, 4, 1.0),
        # half of a judge below 0.5, the other half and one more judge above
        ("median", [[0, 4], [4, 4]], None, 4, 1.0),
        ("median", [[0, 0], [4, 4]], None, 2, 0.5),
        ("median", [[0, 0, 0], [2], [4, 4]], None, 2, 0.5),
        # one answer decides these: only the first look of each judge counts
        ("min", [[4, 0], [4, 4]], None, 4, 1.0),
        ("max", [[0, 4], [0, 0]], None, 0, 0.0),
    ],
)
def test_repeats_are_further_votes_of_one_judge_at_a_share_of_its_weight(
    scale, strategy, judges, weights, index, number
):
    verdict = aggregate(scale(FIVE), _repeated(*judges, weights=weights), strategy)
    assert verdict.selected_index == index
    assert verdict.aggregated_value == pytest.approx(number)


def test_a_judge_asked_three_times_does_not_outvote_two_others():
    votes = [JudgeVote(judge_id="a", verdict="MET", repeat=repeat) for repeat in range(3)]
    votes += [JudgeVote(judge_id=name, verdict="UNMET") for name in ("b", "c")]
    assert aggregate(Criterion(requirement="Polite"), votes).value == "UNMET"


def test_the_order_of_votes_does_not_matter_with_repeats_either(scale):
    votes = _repeated([0, 4, 4], [4, None, 0], [1, 1, 1])
    for strategy in ("mean", "median", "mode", "min", "worst"):
        assert aggregate(scale(FIVE), votes, strategy) == aggregate(scale(FIVE), votes[::-1], strategy)


def test_repeats_that_differ_do_not_hang_on_the_order_and_are_one_opinion(scale):
    criterion = scale(FIVE)
    votes = _repeated([0, 4], [0, 0])
    assert not order_sensitive(criterion, votes)
    assert pairwise_agreement(criterion, votes) == 1.0
    assert decide(criterion, votes, min_votes=3).verdict.na
    both = [vote.model_copy(update={"reversed_order": True, "selected_index": 3}) for vote in votes[:1]]
    assert order_sensitive(criterion, [*votes, *both])


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=5))
def test_the_mean_and_the_median_of_repeats_lie_between_the_votes(judges):
    options = [CriterionOption(label=str(n), value=value) for n, value in enumerate(FIVE)]
    criterion = Criterion(requirement="How good?", options=options)
    said = [FIVE[index] for each in judges for index in each]
    for strategy in ("mean", "median", "weighted_mean"):
        number = aggregate(criterion, _repeated(*judges), strategy).aggregated_value
        assert min(said) <= number <= max(said)

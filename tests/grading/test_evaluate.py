"""Datasets through a panel: durable, resumable, and asked again only where something changed."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from assay.analysis.means import sample_means
from assay.builtin import registry
from assay.errors import SpecError
from assay.grading.judge_models import here
from assay.judging.rubric import stored_rubrics
from assay.rubric import (
    Criterion,
    CriterionGrader,
    DataItem,
    EvalConfig,
    EvalRunner,
    FewShotConfig,
    JudgeSpec,
    LengthPenalty,
    LLMConfig,
    Rubric,
    RubricDataset,
    RubricWarning,
    evaluate,
    evaluate_sync,
)
from assay.store import runs
from assay.store.store import default_location, open_store

ASKED = []
WORDS = ["Polite.", "Short.", "Correct.", "Rude."]


def verdicts(messages, **parameters):
    """A judge whose verdict depends on the question alone; one model for all tests, so that keys can be compared."""
    text = messages[-1]["content"]
    ASKED.append(text)
    if "out of order" in text:
        raise RuntimeError("the judge is down")
    found = re.search(r"^([A-Z]+)\) fine$", text, re.MULTILINE)
    if found:
        return json.dumps({"explanation": "e", "selected_option": found[1]})
    word = "UNMET" if "Rude." in text else "MET"
    return json.dumps({"explanation": "e", "criterion_status": word})


# its list of questions grows while it is asked, and changes no verdict
verdicts.__assay_version__ = "1"


def broken(messages, **parameters):
    raise RuntimeError("never works")


@pytest.fixture(autouse=True)
def asked():
    ASKED.clear()
    return ASKED


def _rubric(words=WORDS, **changes):
    criteria = [Criterion(requirement=word, name=word.strip(".").lower(), **changes) for word in words]
    scale = Criterion.model_validate(
        {
            "requirement": "How good?",
            "name": "quality",
            "options": [{"label": "poor", "value": 0.0}, {"label": "fine", "value": 0.8}],
        }
    )
    return Rubric([*criteria, scale])


def _dataset(rubric, n=4):
    return RubricDataset("P", rubric, [DataItem(f"text {index}", f"item {index}") for index in range(n)], name="d")


def _grader(**judges):
    specs = [JudgeSpec(LLMConfig(judge, temperature=0.0), name) for name, judge in judges.items()]
    return CriterionGrader(judges=specs, seed=42)


def _panel():
    return _grader(a=verdicts, b=verdicts, c=verdicts)


def test_every_item_gets_a_report(asked):
    result = asyncio.run(evaluate(_dataset(_rubric()), _panel()))
    assert (result.total_items, result.successful_items, result.failed_items) == (4, 4, 0)
    # at temperature 0 a binary question is one question, whoever of the three asks it; options are shuffled for each
    orders = {(r.item_idx, tuple(v.shuffle_order)) for r in result.item_results for v in r.report.report[4].votes}
    assert len(asked) == 4 * 4 + len(orders)
    report = result.item_results[2].report
    assert report.score == pytest.approx((30 + 8) / 50)
    assert [each.label for each in report.report] == ["MET", "MET", "MET", "UNMET", "fine"]
    assert [vote.judge_id for vote in report.report[4].votes] == ["a", "b", "c"]
    assert report.report[4].votes[0].shuffle_order is not None
    assert result.item_results[2].item.description == "item 2"
    assert result.get_scores() == [report.score] * 4
    assert len(result.get_reports()) == len(result.filter_successful()) == 4
    assert (result.n_ties, result.n_verdicts, result.errors, result.filter_failed()) == (0, 20, [], [])


def test_what_was_graded_is_not_asked_again(asked):
    dataset = _dataset(_rubric())
    first = evaluate_sync(dataset, _panel())
    n = len(asked)
    again = evaluate_sync(dataset, _panel())
    assert len(asked) == n
    assert again.get_scores() == first.get_scores()
    assert [r.report for r in again.item_results] == [r.report for r in first.item_results]
    assert again.total_token_usage.total_tokens == 0
    evaluate_sync(dataset, _panel(), config=EvalConfig(fresh=True))
    assert len(asked) == 2 * n


@pytest.mark.parametrize(
    ("changed", "calls"),
    [
        (lambda: _rubric(weight=3.0), 0),
        (lambda: _rubric(aggregation="unanimous"), 0),
        (lambda: _rubric(["Polite.", "Short.", "Correct and true.", "Rude."]), 4),
        (lambda: _rubric(["New.", *WORDS]), 4),
        (lambda: _rubric(WORDS[::-1]), 0),
        (lambda: _rubric(WORDS[:2]), 0),
        (lambda: _rubric(weight=-3.0), 16),
    ],
)
def test_only_what_changed_is_asked_again(asked, changed, calls):
    evaluate_sync(_dataset(_rubric()), _panel())
    asked.clear()
    evaluate_sync(_dataset(changed()), _panel())
    assert len(asked) == calls


def test_an_appended_item_moves_no_other(asked):
    evaluate_sync(_dataset(_rubric(), n=3), _panel())
    asked.clear()
    evaluate_sync(_dataset(_rubric(), n=4), _panel())
    assert len(asked) > 4
    assert all("text 3" in question for question in asked)


def test_judges_of_one_model_that_answers_at_random_are_each_asked(asked):
    configs = [LLMConfig(verdicts, temperature=1.0) for _ in range(3)]
    grader = CriterionGrader(judges=[JudgeSpec(config, str(n)) for n, config in enumerate(configs)], seed=42)
    dataset = RubricDataset("P", Rubric([Criterion(requirement="Polite.")]), [DataItem("same"), DataItem("same")])
    evaluate_sync(dataset, grader)
    assert len(asked) == 6
    evaluate_sync(dataset, grader)
    assert len(asked) == 6


def test_a_dead_judge_is_named_and_the_others_decide():
    result = evaluate_sync(_dataset(_rubric()), _grader(a=verdicts, b=broken, c=verdicts))
    assert result.failed_items == 0
    assert result.judge_failures == {"a": (0, 20), "b": (20, 20), "c": (0, 20)}
    (warning,) = result.warnings
    assert warning.startswith('all 20 calls to judge "b" failed (')


def test_an_item_that_no_judge_could_grade_is_named(asked):
    dataset = RubricDataset("P", _rubric(), [DataItem("good"), DataItem("out of order")])
    result = evaluate_sync(dataset, _grader(a=verdicts))
    assert [(index, "the judge is down" in reason) for index, reason in result.errors] == [(1, True)]
    assert result.scores[1] is None
    assert len(result.get_scores()) == 1
    failed = result.filter_failed()[0]
    assert (failed.graded, failed.report.score, failed.report.error) == (None, None, failed.error)
    asked.clear()
    # what failed is tried again; what is there is not
    evaluate_sync(dataset, _grader(a=verdicts))
    assert len(asked) == 5


_DOWN = {"text 1"}


def unsteady(messages, **parameters):
    if any(text in messages[-1]["content"] for text in _DOWN):
        raise OSError("the line is down")
    return verdicts(messages, **parameters)


unsteady.__assay_version__ = "1"


def test_a_vote_that_failed_inside_a_scored_item_is_asked_for_again_and_nothing_else_is(asked):
    first = evaluate_sync(_dataset(_rubric()), _grader(a=verdicts, b=unsteady, c=verdicts))
    assert first.failed_items == 0
    assert first.judge_failures["b"] == (5, 20)
    asked.clear()
    _DOWN.clear()
    try:
        second = evaluate_sync(_dataset(_rubric()), _grader(a=verdicts, b=unsteady, c=verdicts))
    finally:
        _DOWN.add("text 1")
    assert len(asked) == 5
    assert all("text 1" in question for question in asked)
    assert second.judge_failures["b"] == (0, 20)
    asked.clear()
    evaluate_sync(_dataset(_rubric()), _grader(a=verdicts, b=unsteady, c=verdicts))
    assert asked == []


def test_an_unreadable_vote_is_not_asked_for_again(asked):
    def mumbling(messages, **parameters):
        asked.append("mumbled")
        return "perhaps"

    evaluate_sync(_dataset(_rubric()), _grader(a=verdicts, b=mumbling, c=verdicts))
    assert "mumbled" in asked
    asked.clear()
    evaluate_sync(_dataset(_rubric()), _grader(a=verdicts, b=mumbling, c=verdicts))
    assert asked == []


def test_every_judge_is_asked_as_often_as_repeats_say(asked):
    specs = [JudgeSpec(LLMConfig(verdicts), name) for name in "abc"]
    once = evaluate_sync(_dataset(_rubric(), n=2), CriterionGrader(judges=specs, seed=42))
    before = len(asked)
    result = evaluate_sync(_dataset(_rubric(), n=2), CriterionGrader(judges=specs, seed=42, repeats=3))
    assert result.judge_failures == dict.fromkeys("abc", (0, 30))
    # the first look was there already; judges of one model at temperature 0 share the others
    assert len(asked) > 2 * before
    assert len(once.item_results[0].report.report[0].votes) == 3
    assert len(result.item_results[0].report.report[0].votes) == 9


def test_an_even_number_of_repeats_warns():
    with pytest.warns(RubricWarning, match="even number of votes"):
        CriterionGrader(llm_config=LLMConfig(verdicts), repeats=2)


def test_a_panel_that_abstains_has_a_report_and_no_score():
    def unsure(messages, **parameters):
        return "CANNOT_ASSESS" if "text 0" in messages[-1]["content"] else "MET"

    result = evaluate_sync(_dataset(Rubric([Criterion(requirement="Polite.")]), n=2), _grader(a=unsure))
    assert (result.scores, result.get_scores()) == ([None, 1.0], [1.0])
    assert result.errors == [(0, "abstained: no criterion was assessed")]
    assert result.item_results[0].report.report[0].votes[0].verdict == "CANNOT_ASSESS"
    assert result.item_results[0].report.reason == "no criterion was assessed"
    assert (result.failed_items, result.mean_score.value, result.mean_score.n) == (1, 1.0, 1)
    assert result.warnings == ("1 of 2 items: less than half of the weights could be assessed",)


def test_an_unset_seed_is_drawn_once_for_a_store_and_used_again(asked):
    def grader():
        return CriterionGrader(llm_config=LLMConfig(verdicts))

    first = evaluate_sync(_dataset(_rubric()), grader())
    n = len(asked)
    second = evaluate_sync(_dataset(_rubric()), grader())
    assert len(asked) == n
    assert first.item_results[0].report.seed == second.item_results[0].report.seed


def test_items_with_rubrics_of_their_own(asked):
    own = Rubric([Criterion(requirement="Rude.", weight=-1.0, name="rude")])
    dataset = RubricDataset("P", _rubric(), [DataItem("one"), DataItem("two", rubric=own)])
    result = evaluate_sync(dataset, _grader(a=verdicts))
    assert [len(r.report.report) for r in result.item_results] == [5, 1]
    assert result.get_scores()[1] == 1.0


def test_ties_of_an_even_panel_are_counted():
    def nays(messages, **parameters):
        return '{"criterion_status": "UNMET"}'

    with pytest.warns(RubricWarning, match="even number"):
        grader = _grader(a=verdicts, b=nays)
    rubric = Rubric([Criterion(requirement="Polite.")])
    result = evaluate_sync(_dataset(rubric), grader)
    assert (result.n_ties, result.n_verdicts) == (4, 4)


def test_a_batch_shows_its_progress_and_its_store(folder, capsys):
    seen = []
    result = evaluate_sync(
        _dataset(_rubric()), _grader(a=verdicts), store=str(folder / "other.db"), listener=seen.append
    )
    assert (folder / "other.db").is_file()
    assert result.store == str(folder / "other.db")
    config = EvalConfig(show_progress=True, experiment_name="e")
    assert EvalRunner(_dataset(_rubric()), _grader(a=verdicts), config).run_sync().successful_items == 4
    from assay.grading.progress import EvalProgressDisplay
    from assay.runner.progress import Progress

    EvalProgressDisplay(4).listen(Progress(done=3, failed=1, total=4))
    assert "graded 3 of 4, 1 failed" in capsys.readouterr().err


def test_an_empty_dataset_is_refused():
    with pytest.raises(SpecError, match="no items"):
        EvalRunner(RubricDataset(rubric=_rubric()), _grader(a=verdicts))


def test_the_public_names_are_all_there():
    import assay.rubric

    assert sorted([*assay.rubric._HOMES, "debug"]) == sorted(assay.rubric.__all__) == sorted(dir(assay.rubric))
    for name in assay.rubric.__all__:
        assert getattr(assay.rubric, name) is not None
    assert not hasattr(assay.rubric, "no_such_name")


def test_a_length_penalty_holds_for_the_items_their_mean_and_the_mean_without_snapping():
    rubric = Rubric([Criterion(requirement="Polite.", name="polite")])
    dataset = RubricDataset("P", rubric, [DataItem("word " * n, f"item {n}") for n in (10, 15, 40)], name="d")
    penalty = LengthPenalty(free_budget=10, max_cap=20, penalty_at_cap=0.5, exponent=1.0)
    grader = CriterionGrader(llm_config=LLMConfig(verdicts), length_penalty=penalty, seed=1)
    result = evaluate_sync(dataset, grader)
    assert result.get_scores() == [1.0, 0.75, 0.5]
    assert result.mean_score.value == result.mean_continuous == pytest.approx(0.75)
    assert evaluate_sync(dataset, CriterionGrader(llm_config=LLMConfig(verdicts), seed=1)).get_scores() == [1.0] * 3
    assert len(ASKED) == 3


def _first_letter(messages, **parameters):
    ASKED.append(messages[-1]["content"])
    return '{"selected_option": "A"}'


_first_letter.__assay_version__ = "1"


def test_counterbalanced_items_keep_their_orders_when_others_are_appended():
    quality = Rubric([_rubric().criteria[-1]])
    grader = CriterionGrader(llm_config=LLMConfig(_first_letter), shuffle="counterbalanced", seed=1)
    few = evaluate_sync(_dataset(quality, 4), grader)
    assert few.get_scores() == [0.0, 0.8, 0.0, 0.8]
    more = evaluate_sync(_dataset(quality, 7), grader)
    assert more.get_scores()[:4] == few.get_scores()
    assert len(ASKED) == 7


def test_verdicts_that_hang_on_the_order_are_counted():
    quality = Rubric([_rubric().criteria[-1]])
    judge = LLMConfig(_first_letter)
    grader = CriterionGrader(llm_config=judge, shuffle="both_orders", seed=1, auto_na_option=False)
    result = evaluate_sync(_dataset(quality, 3), grader)
    assert (result.n_order_sensitive, result.n_verdicts, len(ASKED)) == (3, 3, 6)
    assert [report.report[0].order_sensitive for report in result.get_reports()] == [True] * 3
    assert evaluate_sync(_dataset(quality, 3), grader).n_cached == 3


def _all_met(messages, **parameters):
    text = messages[-1]["content"]
    ASKED.append(text)
    return json.dumps(dict.fromkeys(re.findall(r"^criterion_\d+$", text, re.MULTILINE), "MET"))


_all_met.__assay_version__ = "1"


def test_per_item_an_item_is_asked_about_again_when_a_criterion_changes_and_not_when_a_weight_does():
    grader = CriterionGrader(llm_config=LLMConfig(_all_met), llm_calls="per_item", seed=1)
    criteria = [Criterion(requirement=word) for word in WORDS]
    assert evaluate_sync(_dataset(Rubric(criteria)), grader).get_scores() == [1.0] * 4
    assert len(ASKED) == 4
    evaluate_sync(_dataset(Rubric([criteria[0].model_copy(update={"weight": 3.0}), *criteria[1:]])), grader)
    assert len(ASKED) == 4
    evaluate_sync(_dataset(Rubric([*criteria, Criterion(requirement="New.")])), grader)
    assert len(ASKED) == 8


def test_the_items_of_the_training_data_may_be_graded_and_never_see_themselves():
    rubric = Rubric([Criterion(requirement="Polite.", name="polite")])
    dataset = RubricDataset("P", rubric, name="d")
    for index in range(6):
        dataset.add_item(f"text {index}", f"item {index}", ground_truth=["MET" if index % 2 else "UNMET"])
    few = FewShotConfig(n_examples=5)
    grader = CriterionGrader(llm_config=LLMConfig(verdicts), few_shot_config=few, training_data=dataset, seed=1)
    assert evaluate_sync(dataset, grader).get_scores() == [1.0] * 6
    assert all(len(re.findall(r"^text \d$", text, re.MULTILINE)) == 6 for text in ASKED)
    assert all(sorted(re.findall(r"^text (\d)$", text, re.MULTILINE)) == list("012345") for text in ASKED)
    assert evaluate_sync(dataset, grader).n_cached == 6
    other = FewShotConfig(n_examples=2)
    evaluate_sync(dataset, CriterionGrader(LLMConfig(verdicts), few_shot_config=other, training_data=dataset, seed=1))
    assert len(ASKED) == 12


def test_a_spending_limit_is_kept_and_the_plan_says_before_what_is_left(loopback, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    dataset = _dataset(_rubric(), n=6)
    grader = CriterionGrader(llm_config=LLMConfig("openai/gpt-4.1-mini", max_tokens=50), seed=1)
    planned = EvalRunner(dataset, grader).plan_sync()
    assert [model.calls for model in planned.models] == [30]
    config = EvalConfig(max_cost=planned.cost_usd[1] / 3, max_concurrency=1)
    part = EvalRunner(dataset, grader, config).run_sync()
    assert part.status == "partial"
    assert 0 < part.total_completion_cost <= config.max_cost
    whole = EvalRunner(dataset, grader).run_sync()
    assert (whole.status, whole.total_items) == ("completed", 6)
    assert EvalRunner(dataset, grader).plan_sync().models == ()


def runs_store():
    return open_store(default_location(here()), create=False)


def test_a_graded_run_is_a_run_of_the_rubric_scorer():
    own = Rubric([Criterion(requirement="Rude.", weight=-1.0, name="rude")])
    dataset = RubricDataset("P", _rubric(), [DataItem("one"), DataItem("two", rubric=own)], name="d")
    result = evaluate_sync(dataset, _grader(a=verdicts))
    store = runs_store()
    try:
        record = runs.find(store, "latest")
    finally:
        store.close()
    assert record.id == result.run
    (scorer,) = record.spec.scorers
    assert (record.kind, scorer.key, scorer.type) == ("grade", "rubric", "rubric")
    assert [judge["id"] for judge in scorer.settings["judges"]] == ["a"]
    criteria = list(dict.fromkeys(["score", *(criterion.name for criterion in _rubric().criteria), "rude"]))
    assert [(metric.type, metric.settings["field"]) for metric in scorer.metrics] == [
        ("mean", name) for name in criteria
    ]
    assert len({metric.key for metric in scorer.metrics}) == len(criteria)
    assert [len(rubric) for content in scorer.rubrics for rubric in stored_rubrics(content)] == [5, 1]


def test_a_graded_run_is_compared_by_the_range_that_its_scorer_declares():
    run = evaluate_sync(_dataset(_rubric()), _grader(a=verdicts)).run
    store = runs_store()
    try:
        record = runs.find(store, run)
        means = sample_means(store, record, registry())
    finally:
        store.close()
    bounds = {mean.address: mean.bounds for mean in means.values()}
    assert bounds.pop("rubric/mean/score") == (0.0, 1.0)
    assert bounds == {
        f"rubric/mean_{criterion.name}/{criterion.name}": (min(criterion.values), max(criterion.values))
        for criterion in _rubric().criteria
    }


def test_the_result_knows_how_votes_became_scores(asked):
    grader = CriterionGrader(llm_config=LLMConfig(verdicts), min_coverage=0.25)
    result = evaluate_sync(_dataset(_rubric()), grader)
    assert result.config.scoring.min_coverage == 0.25
    # the seed is that of the store, which a later run of another grader uses, too
    assert result.config.seed == evaluate_sync(_dataset(_rubric()), CriterionGrader(LLMConfig(verdicts))).config.seed

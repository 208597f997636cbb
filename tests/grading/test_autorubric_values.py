"""What AutoRubric's names do here: orders that are recorded, stores, graders of one's own, and known numbers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel
from scipy import stats

from assay.errors import RunError, SpecError
from assay.grading.metrics import interpret_kappa
from assay.rubric import (
    Criterion,
    CriterionGrader,
    CriterionOption,
    CriterionVerdict,
    DataItem,
    EvalConfig,
    EvalResult,
    EvaluationReport,
    Grader,
    JudgeSpec,
    LengthPenalty,
    LLMClient,
    LLMConfig,
    MultiChoiceJudgeVote,
    Rubric,
    RubricDataset,
    RubricWarning,
    compute_metrics,
    earth_movers_distance,
    evaluate,
    evaluate_sync,
    extract_verdicts_from_report,
    fill_ground_truth,
    filter_cannot_assess,
    generate,
    ks_test,
    normalize_to_grade_input,
    score_distribution,
    systematic_bias,
    wasserstein_distance,
)
from assay.rubric.metrics import ConfusionMatrix, filter_na_multi_choice, resolve_ground_truth

SCALE = [CriterionOption(label=label, value=value) for label, value in (("1", 0.0), ("2", 0.5), ("3", 1.0))]
POLITE = Rubric([Criterion(requirement="Polite.")])
GOOD = Rubric([Criterion(requirement="How good?", options=SCALE)])


def _pick(label):
    def judge(messages, **parameters):
        line = next(line for line in messages[-1]["content"].splitlines() if line.endswith(f") {label}"))
        return json.dumps({"explanation": "e", "selected_option": line.partition(")")[0]})

    return judge


def _met(messages, **parameters):
    return json.dumps({"explanation": "e", "criterion_status": "MET"})


_met.__assay_version__ = "1"


class TestOrders:
    def test_the_order_that_one_judge_saw_is_in_the_report(self):
        report = GOOD.grade_sync("text", CriterionGrader(LLMConfig(_pick("2")), seed=3)).report[0]
        assert report.shuffle_order == report.multi_choice_votes[0].shuffle_order
        assert isinstance(report.shuffle_order, list)

    def test_without_shuffling_there_is_no_order(self):
        grader = CriterionGrader(LLMConfig(_pick("2")), shuffle_options=False)
        assert GOOD.grade_sync("text", grader).report[0].shuffle_order is None

    def test_judges_that_saw_different_orders_have_one_each(self):
        judges = [JudgeSpec(LLMConfig(_pick("2")), name) for name in "abc"]
        reports = [GOOD.grade_sync(f"text {n}", CriterionGrader(judges=judges, seed=3)).report[0] for n in range(20)]
        for report in reports:
            orders = [vote.shuffle_order for vote in report.votes]
            same = all(order == orders[0] for order in orders)
            assert report.shuffle_order == (orders[0] if same else None)
        assert any(report.shuffle_order is None for report in reports)

    def test_a_vote_takes_the_order_as_a_list(self):
        vote = MultiChoiceJudgeVote(
            judge_id="a", selected_index=0, selected_label="1", value=0.0, reason="r", shuffle_order=[1, 0]
        )
        assert vote.shuffle_order == [1, 0]


def test_the_error_of_a_vote_has_its_cause():
    def down(messages, **parameters):
        raise RuntimeError("out of service")

    judges = [JudgeSpec(LLMConfig(_met), "a"), JudgeSpec(LLMConfig(_met), "b"), JudgeSpec(LLMConfig(down), "c")]
    with pytest.warns(RubricWarning, match='the only call to judge "c" failed'):
        vote = POLITE.grade_sync("text", CriterionGrader(judges=judges)).report[0].votes[2]
    assert vote.error.startswith("infrastructure: ")
    assert "out of service" in vote.error
    assert vote.error_category == "infrastructure"


class TestStores:
    def test_experiments_dir_names_the_store(self, folder):
        dataset = RubricDataset("P", POLITE, [DataItem("text", "one")], name="d")
        grader = CriterionGrader(LLMConfig(_met))
        plain = asyncio.run(evaluate(dataset, grader, show_progress=False, experiment_name="e"))
        other = asyncio.run(
            evaluate(dataset, grader, show_progress=False, experiment_name="e", experiments_dir=folder / "mine")
        )
        assert (plain.store, other.store) == (str(folder / ".assay" / "assay.db"), str(folder / "mine" / "assay.db"))
        for result in (plain, other):
            again = EvalResult.from_experiment(result.experiment_dir)
            assert (again.run, again.scores) == (result.run, result.scores)
            assert [each.report for each in again.item_results] == [each.report for each in result.item_results]
        assert EvalResult.from_experiment("e").run == plain.run

    def test_an_experiment_that_is_not_there_is_a_missing_file(self, folder):
        for name in ("nothing", "elsewhere/nothing"):
            with pytest.raises(FileNotFoundError, match='no experiment "nothing"'):
                EvalResult.from_experiment(name)
        (folder / "theirs").mkdir()
        (folder / "theirs" / "manifest.json").write_text("{}")
        with pytest.raises(SpecError, match="assay import"):
            EvalResult.from_experiment("theirs")

    def test_a_bare_grade_uses_a_store_only_when_it_is_told_to(self, folder):
        POLITE.grade_sync("text", CriterionGrader(LLMConfig(_met)))
        assert not (folder / ".assay" / "assay.db").exists()
        for _ in range(2):
            config = LLMConfig(_met, temperature=0.0, cache_enabled=True, cache_dir=folder / "kept")
            report = POLITE.grade_sync("text", CriterionGrader(config, seed=1), query="Q")
            assert report.score == 1.0
        assert (folder / "kept" / "assay.db").is_file()
        assert report.token_usage.total_tokens == 0

    def test_resume_false_asks_anew(self):
        asked = []

        def judge(messages, **parameters):
            asked.append(1)
            return "MET"

        judge.__assay_version__ = "1"
        dataset = RubricDataset("P", POLITE, [DataItem("text")])
        for resume in (True, True, False):
            config = EvalConfig(show_progress=False, resume=resume)
            evaluate_sync(dataset, CriterionGrader(LLMConfig(judge, temperature=0.0), seed=1), config=config)
        assert len(asked) == 2


def test_fail_fast_is_an_error():
    def down(messages, **parameters):
        raise RuntimeError("out of service")

    dataset = RubricDataset("P", POLITE, [DataItem("text")])
    with pytest.raises(RunError, match="item 0 failed"):
        evaluate_sync(dataset, CriterionGrader(LLMConfig(down)), config=EvalConfig(show_progress=False, fail_fast=True))


def test_a_file_that_is_missing_is_both_errors():
    for read in (Rubric.from_file, RubricDataset.from_file, LLMConfig.from_yaml):
        with pytest.raises(FileNotFoundError) as missing:
            read("nowhere.json")
        assert isinstance(missing.value, SpecError)
        assert isinstance(missing.value, ValueError)


class Strict(BaseModel):
    explanation: str
    criterion_status: str
    evidence: str


def test_prompts_and_response_formats_reach_the_judge(loopback):
    loopback.configure(keep_requests=5)
    config = LLMConfig("openai/x", api_base=loopback.url, api_key="k")
    grader = CriterionGrader(llm_config=config, system_prompt="Be a pirate.", binary_response_format=Strict)
    assert POLITE.grade_sync("text", grader).score == 1.0
    (kept,) = loopback.requests()
    request = kept["body"]
    assert request["messages"][0]["content"] == "Be a pirate."
    assert "evidence" in json.dumps(request["response_format"])


def test_a_response_format_without_the_verdict_is_refused():
    class Empty(BaseModel):
        explanation: str

    with pytest.raises(SpecError, match="has no field criterion_status"):
        CriterionGrader(LLMConfig(_met), binary_response_format=Empty)


class Picky(Grader):
    async def judge(self, to_grade, rubric, query=None, reference_submission=None, *, guidelines=None):
        if to_grade == "bad":
            raise ValueError("not readable")
        return guidelines

    async def aggregate(self, judge_results, *, normalize=True):
        return EvaluationReport(score=1.0, error=None if judge_results == "Be kind." else "no guidelines")


def test_a_grader_of_ones_own():
    rubric = Rubric([Criterion(requirement="Polite.")], guidelines="Be kind.")
    grader = Picky(length_penalty=LengthPenalty(free_budget=1, max_cap=3, penalty_at_cap=0.5, exponent=1.0))
    assert rubric.grade_sync("two words", grader).score == 0.75
    assert rubric.grade_sync({"output": "word", "thinking": ""}, grader).score == 1.0
    dataset = RubricDataset("P", rubric, [DataItem("good"), DataItem("bad")])
    result = evaluate_sync(dataset, grader)
    assert result.scores == [1.0, None]
    assert result.errors == [(1, "parse: not readable")]
    with pytest.raises(ValueError, match="not readable"):
        evaluate_sync(dataset, grader, config=EvalConfig(show_progress=False, fail_fast=True))


def test_ground_truth_is_filled_where_there_is_none():
    def judge(messages, **parameters):
        text = messages[-1]["content"]
        if "broken" in text:
            raise RuntimeError("down")
        return "CANNOT_ASSESS" if "unsure" in text else "MET"

    items = [DataItem("known", "a", ["UNMET"]), DataItem("new", "b"), DataItem("unsure", "c"), DataItem("broken", "d")]
    dataset = RubricDataset("P", POLITE, items)
    grader = CriterionGrader(LLMConfig(judge))
    with pytest.warns(RubricWarning, match="1 items could not be graded"):
        filled = asyncio.run(fill_ground_truth(dataset, grader, show_progress=False))
    assert [(item.description, item.ground_truth) for item in filled] == [
        ("a", [CriterionVerdict.UNMET]),
        ("b", [CriterionVerdict.MET]),
        ("c", [CriterionVerdict.CANNOT_ASSESS]),
    ]
    assert dataset[1].ground_truth is None


class City(BaseModel):
    name: str


class TestPrompts:
    def test_replies_are_kept_until_they_expire(self, loopback, folder):
        config = LLMConfig("openai/x", api_base=loopback.url, api_key="k", cache_enabled=True, cache_ttl=3600)
        client = LLMClient(config, cache_namespace="cities")
        for _ in range(2):
            result = asyncio.run(client.generate("Answer.", "[[reply: Paris]]", return_result=True))
            assert result.content == "Paris"
        assert (result.cost, client.cache_stats()["hits"], client.cache_stats()["count"]) == (0.0, 1, 1)
        expired = LLMClient(LLMConfig(**{**_fields(config), "cache_ttl": -1}), cache_namespace="cities")
        asyncio.run(expired.generate("Answer.", "[[reply: Paris]]"))
        assert expired.cache_stats()["misses"] == 1
        assert client.clear_cache() == 1
        assert client.clear_cache() == 0
        assert loopback.stats()["arrived"] == 2

    def test_a_reply_that_does_not_fit_is_asked_for_again_and_then_an_error(self, loopback):
        with pytest.raises(RunError, match="does not fit City: there is no JSON object"):
            asyncio.run(generate("Answer.", "[[reply: Paris]]", "openai/x", City, api_base=loopback.url, api_key="k"))
        assert loopback.stats()["arrived"] == 2


def _fields(config):
    return {name: getattr(config, name) for name in config.__dataclass_fields__}


LOW, HIGH = [0.1, 0.2, 0.5, 0.9, 0.4], [0.2, 0.2, 0.6, 0.7, 0.1]


class TestScores:
    def test_distributions_agree_with_scipy(self):
        found = score_distribution(LOW)
        assert found.skewness == pytest.approx(stats.skew(LOW))
        assert found.kurtosis == pytest.approx(stats.kurtosis(LOW))
        assert (found.std, found.q25) == pytest.approx((np.std(LOW, ddof=1), np.percentile(LOW, 25)))
        assert score_distribution([]).mean is None
        assert (score_distribution([1.0]).std, score_distribution([1.0, 1.0]).skewness) == (None, None)
        with pytest.raises(SpecError, match="finite"):
            score_distribution([float("nan")])

    def test_biases_agree_with_scipy(self):
        paired, apart = systematic_bias(LOW, HIGH), systematic_bias(LOW, HIGH, paired=False)
        assert paired.p_value == pytest.approx(stats.ttest_rel(LOW, HIGH).pvalue)
        assert apart.p_value == pytest.approx(stats.ttest_ind(LOW, HIGH).pvalue)
        interval = stats.ttest_rel(LOW, HIGH).confidence_interval()
        assert (paired.ci.lower, paired.ci.upper) == pytest.approx((interval.low, interval.high))
        constant = systematic_bias([1.0, 1.0], [0.5, 0.5])
        assert (constant.mean_bias, constant.p_value, constant.is_significant) == (0.5, None, False)
        assert systematic_bias([], []).mean_bias is None
        with pytest.raises(ValueError, match="equal numbers"):
            systematic_bias([1.0], [])

    def test_distances_agree_with_scipy(self):
        assert wasserstein_distance(LOW, HIGH, normalize=False) == pytest.approx(stats.wasserstein_distance(LOW, HIGH))
        assert wasserstein_distance([], HIGH) is None
        assert wasserstein_distance([1, 1], [1]) == 0.0
        assert earth_movers_distance(HIGH, LOW).bias_direction == "lower"
        assert earth_movers_distance([], LOW).interpretation == "insufficient data"
        assert ks_test(LOW, [0.3, 0.95, 0.99, 0.97]).p_value == pytest.approx(
            stats.ks_2samp(LOW, [0.3, 0.95, 0.99, 0.97]).pvalue
        )
        assert ks_test(LOW, HIGH).p_value == 1.0
        assert ks_test([]).statistic is None
        assert ks_test([1.0, 1.0]).p_value is None


class TestVerdictLists:
    def test_abstentions_on_a_scale_have_no_place(self):
        scale = Criterion(requirement="r", options=[*SCALE, CriterionOption(label="NA", na=True)])
        with pytest.raises(ValueError, match="no place on a scale"):
            filter_na_multi_choice([3], [0], scale, "as_category")
        fault = scale.model_copy(update={"weight": -1.0})
        assert filter_na_multi_choice([3], [0], fault, "as_unmet")[0] == [2]
        with pytest.raises(ValueError, match="mode is"):
            filter_na_multi_choice([3], [0], scale, "sometimes")
        with pytest.raises(ValueError, match="mode is"):
            filter_cannot_assess([], [], "sometimes")

    def test_what_is_missing_is_no_verdict(self):
        assert extract_verdicts_from_report(EvaluationReport(score=None), 1) == [CriterionVerdict.CANNOT_ASSESS]
        with pytest.raises(ValueError, match="2 criteria"):
            resolve_ground_truth(["MET"], [*POLITE, *POLITE])
        with pytest.raises(ValueError, match="MET and UNMET"):
            _ = ConfusionMatrix(matrix=[[1]], labels=["a"]).tp
        with pytest.warns(UserWarning, match="not text"):
            assert normalize_to_grade_input({"output": "a", "text": "b"})["output"] == "a"


TRUTH = [
    ["MET", "UNMET", "1", "x"],
    ["MET", "MET", "2", "y"],
    ["UNMET", "MET", "3", "y"],
    ["UNMET", "UNMET", "2", "x"],
    ["MET", "CANNOT_ASSESS", "1", "NA"],
    ["MET", "UNMET", "3", "y"],
]
SAID = [
    ["MET", "UNMET", "1", "x"],
    ["MET", "UNMET", "3", "y"],
    ["MET", "MET", "3", "x"],
    ["UNMET", "CANNOT_ASSESS", "1", "x"],
    ["UNMET", "UNMET", "1", "y"],
    ["MET", "UNMET", "3", "NA"],
]


@pytest.fixture
def compared():
    """A panel of one judge that says `SAID` of items whose ground truth is `TRUTH`."""
    names = [CriterionOption(label=label, value=value) for label, value in (("x", 0.0), ("y", 1.0))]
    rubric = Rubric(
        [
            Criterion(requirement="First?", name="A"),
            Criterion(requirement="Second?", name="B", weight=5.0),
            Criterion(requirement="Third?", name="O", options=SCALE),
            Criterion(
                requirement="Fourth?",
                name="N",
                options=[*names, CriterionOption(label="NA", na=True)],
                scale_type="nominal",
            ),
        ]
    )

    def judge(messages, **parameters):
        text = messages[-1]["content"]
        row = SAID[next(n for n in range(6) if f"text {n}" in text)]
        word = row[next(n for n, asked in enumerate(("First?", "Second?", "Third?", "Fourth?")) if asked in text)]
        if word in ("MET", "UNMET", "CANNOT_ASSESS"):
            return json.dumps({"criterion_status": word})
        return _pick(word)(messages)

    dataset = RubricDataset("P", rubric, [DataItem(f"text {n}", str(n), truth) for n, truth in enumerate(TRUTH)])
    return evaluate_sync(dataset, CriterionGrader(LLMConfig(judge), seed=1)), dataset


class TestMetrics:
    """The numbers are those of AutoRubric 1.6.1 on the same verdicts, where both define them alike."""

    def test_abstentions_are_left_out(self, compared):
        found = compute_metrics(*compared, per_judge=True, bootstrap=True)
        micro = (found.criterion_accuracy, found.criterion_precision, found.criterion_recall, found.criterion_f1)
        assert micro == pytest.approx((0.7, 0.8, 2 / 3, 8 / 11))
        assert (found.mean_kappa, found.micro_kappa) == pytest.approx((0.5125, 0.4))
        assert (found.criterion_phi, found.macro_accuracy) == pytest.approx((0.408248290463863, 0.7083333333333333))
        assert found.n_samples == 20
        assert found.coverage_stats.model_dump() == pytest.approx(
            {
                "n_total": 24,
                "n_covered": 20,
                "coverage": 5 / 6,
                "judge_abstain_rate": 1 / 12,
                "gt_abstain_rate": 1 / 12,
                "union_exclusion_rate": 1 / 6,
                "n_errored": 0,
                "error_rate": 0.0,
            }
        )
        assert (found.na_stats.na_kappa, found.cannot_assess_stats.ca_kappa) == pytest.approx((-0.2, -1 / 11))
        polite, _, scale, names = found.per_criterion
        assert polite.confusion_matrix.matrix == [[3, 1], [1, 1]]
        assert (polite.phi, polite.fpr, polite.fnr, polite.kappa_interpretation) == (0.25, 0.5, 0.25, "fair")
        assert (scale.weighted_kappa, scale.rmse, scale.mae) == pytest.approx((0.8, 0.28867513459481287, 1 / 6))
        assert scale.spearman.p_value == pytest.approx(0.047420655584319515)
        assert scale.kendall.coefficient == pytest.approx(0.769800358919501)
        assert names.kappa == 0.5
        assert [option.label for option in names.per_option] == ["x", "y"]
        assert found.per_judge["default"].criterion_accuracy == found.criterion_accuracy
        assert found.bootstrap.rmse_ci[0] <= found.score_rmse <= found.bootstrap.rmse_ci[1]

    def test_abstentions_count_as_unmet(self, compared):
        found = compute_metrics(*compared, cannot_assess="as_unmet", na_mode="as_unmet")
        assert (found.criterion_accuracy, found.micro_kappa, found.criterion_phi) == pytest.approx(
            (0.75, 0.5, 0.50709255283711)
        )
        assert (found.mean_kappa, found.n_samples) == (pytest.approx(0.40535714285714286), 24)
        assert found.per_criterion[3].confusion_matrix.matrix == [[2, 1], [2, 1]]
        assert found.coverage_stats is None

    def test_abstentions_are_a_class_of_their_own(self, compared):
        found = compute_metrics(*compared, cannot_assess="as_category", na_mode="exclude")
        assert found.criterion_accuracy == pytest.approx(7 / 12)
        assert found.per_criterion[1].confusion_matrix.labels == ["MET", "UNMET", "CANNOT_ASSESS"]
        with pytest.raises(ValueError, match="cannot_assess is one of"):
            compute_metrics(*compared, cannot_assess="sometimes")

    def test_numbers_pooled_by_kind(self, compared):
        result, dataset = compared
        pooled = {
            each.scale_type: each for each in result.compute_metrics(dataset, per_item_metrics="pooled").pooled_by_scale
        }
        assert (pooled["binary"].n_points, pooled["binary"].exact_accuracy) == (10, 0.7)
        assert pooled["ordinal"].value_rmse == pytest.approx(0.28867513459481287)
        assert (pooled["nominal"].n_points, pooled["nominal"].n_abstain) == (4, 2)
        assert result.compute_metrics(dataset).pooled_by_scale is None

    def test_the_result_is_shown_and_written(self, compared, folder):
        found = compute_metrics(*compared)
        assert "binary criteria: accuracy 0.700" in found.summary()
        assert len(found.summary(verbose=True)) > len(found.summary())
        found.to_file(folder / "metrics.json")
        written = json.loads(Path("metrics.json").read_text())
        assert written["criterion_accuracy"] == 0.7
        assert "agreement" in written
        assert found["A"].judges["panel"].values["accuracy"].interval is not None

    def test_kappas_in_words(self):
        words = [interpret_kappa(value) for value in (-0.1, 0.1, 0.3, 0.5, 0.7, 0.9)]
        assert words == ["poor (worse than chance)", "slight", "fair", "moderate", "substantial", "almost perfect"]
